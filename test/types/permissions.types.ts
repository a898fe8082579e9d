import { isWalletError, WalletError } from '../../kernel/base/errors.ts'
import type { Secret } from '../../kernel/base/secret.ts'
import type {
  CurrencyHost,
  ObserverHost,
  PolicyHost,
  RateHost,
  StorageHost,
  SwapHost
} from '../../kernel/plugin-api.ts'
import type { KernelHooks, ObserverHooks } from '../../kernel/plugins/hook-types.ts'
import type { JsonSafe } from '../../kernel/types/snapshots.ts'

/** Compiled by the type check, never run: what must not type-check is marked, and an unused mark is an error. */
export const permissions = (
  rates: RateHost,
  swap: SwapHost,
  currency: CurrencyHost,
  storage: StorageHost,
  policy: PolicyHost,
  observer: ObserverHost
): void => {
  rates.hooks.fetchRates.tapPromise('x', async () => {})
  // @ts-expect-error A rate plugin cannot ask for engines.
  rates.hooks.makeEngine
  // @ts-expect-error A rate plugin cannot watch logins.
  rates.hooks.loginChanged
  // @ts-expect-error A swap plugin cannot make, sign or refuse a spend.
  swap.hooks.beforeSign
  // @ts-expect-error A swap plugin cannot see the files of others.
  swap.hooks.openDisk
  // @ts-expect-error A tap is not a hook: it cannot be called.
  currency.hooks.makeEngine.promise
  // @ts-expect-error Nor can its taps be listed.
  currency.hooks.makeEngine.taps
  // @ts-expect-error Nor can it be intercepted.
  currency.hooks.makeEngine.intercept
  // @ts-expect-error A storage plugin has no network.
  storage.io
  // @ts-expect-error A policy plugin has no network.
  policy.io
  // @ts-expect-error An observer has no io,
  observer.io
  // @ts-expect-error and no disk,
  observer.disk
  // @ts-expect-error and cannot object to a spend.
  observer.hooks.beforeSign
}

/** The details of an error follow from its code. */
export const errors = (error: unknown): string => {
  if (isWalletError(error, 'NETWORK')) return error.details.path
  // @ts-expect-error A network error names no currency.
  if (isWalletError(error, 'NETWORK')) return error.details.currencyCode
  // @ts-expect-error Insufficient funds of what?
  throw new WalletError('INSUFFICIENT_FUNDS', {})
}

type SnapshotsOf<Hooks> = {
  [Name in keyof Hooks]: Hooks[Name] extends { call(snapshot: infer S): unknown } ? S : never
}

/** Everything that a telling hook carries survives JSON. */
export const reportedAsJson = (reported: SnapshotsOf<ObserverHooks>): JsonSafe<SnapshotsOf<ObserverHooks>> =>
  reported

/** A secret gives its value to a reader only. */
export const secrets = (secret: Secret<string>, hooks: KernelHooks): void => {
  // @ts-expect-error There is no value to read.
  secret.value
  // @ts-expect-error The hook map is fixed.
  hooks.ready = hooks.closing
}
