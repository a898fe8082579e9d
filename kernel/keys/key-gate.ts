import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import type { Services } from '../plugins/services.ts'
import type { KeptCoins } from '../types/engine.ts'
import type { PluginId, WalletId } from '../types/ids.ts'
import type { OtherKeyUse, PaymentApproval } from '../types/policy.ts'
import type { KeyUse, SpendSnapshot } from '../types/snapshots.ts'
import type { Transaction } from '../types/transaction.ts'

declare const passed: unique symbol

/** Proves that private keys may be opened: every policy has agreed, or the use needs no question. */
export interface KeyPass {
  readonly [passed]: true
}

/** The facts of a use that policies receive; fields that do not apply are left out. */
export type KeyRequest = { readonly use: KeyUse } & Partial<Omit<SpendSnapshot, 'use'>>

/** A payment that is reserved before the rules of its account judge it. */
export interface PaymentReservation {
  readonly walletId: WalletId
  readonly correlationId: string
  /** The frozen draft that will be signed. */
  readonly tx: Transaction
  /** The name of the program that asks for it; left out: a person does. */
  readonly requestedBy?: string | undefined
  /** The approval of a second device, if the payment has one. */
  readonly approval?: PaymentApproval | undefined
}

/** The facts that a reservation keeps for later judgements. */
export interface ReservationFacts {
  /** The time of the account, in milliseconds since 1970. */
  readonly countedAt?: number
  /** Its worth by fiat code, as decimal text. */
  readonly values?: Readonly<Record<string, string>>
}

/** The rules of one account, which judge each use of its keys before the policies of the application are asked. */
export interface AccountRules {
  /**
   * Makes a reservation durable with `write`, then judges it; one payment of the account after another. The caller releases a
   * reservation that is refused.
   *
   * @throws SIGN_REFUSED naming the rule, or what `write` throws
   */
  reserve(payment: PaymentReservation, write: (facts: ReservationFacts) => Promise<void>): Promise<void>
  /** Judges any other use; a payment passes only with its reservation. @throws SIGN_REFUSED */
  check(question: KeyRequest): Promise<void>
  /**
   * Keeps what the password has allowed once for an operation that asks servers before it needs its keys: no other has it, and it
   * lasts until {@link check} passes with its correlation id, or the returned function is called.
   */
  holdGrant(use: OtherKeyUse, correlationId: string): () => void
  /** Finds which of some coins a wallet of this currency in the account keeps back. @throws what keeps a wallet from being read */
  keptCoins(pluginId: PluginId, outpoints: readonly string[]): Promise<KeptCoins>
  /** The time of the account, in milliseconds since 1970: a calendar that is wrong does not move it. */
  now(): number
  /** Takes a block time as a witness of the present time, in milliseconds since 1970. */
  sawBlockTime(at: number): void
  /** Notifies who shows the rules: a rule was changed, or a payment reserved, released, sent, or changed on the chain. */
  changed(): void
}

/** The uses that no policy is asked about: they sign, show and hand out nothing. */
export type ExemptUse = 'derive public keys' | 'split'

/**
 * Asks the rules of the account, then every policy (`beforeSign`) before private keys sign something, are shown, are exported, or are handed to a
 * plugin or to another device. This is the only gate: `openKeys` takes nothing but its pass.
 *
 * While a policy is not there because it failed, only uses pass that sign and show nothing: what it would refuse is not known.
 *
 * @throws SIGN_REFUSED naming the policy that is not there, or what a policy objects
 */
export const requestKeys = async (
  { hooks, io, plugins }: Pick<Services, 'hooks' | 'io' | 'plugins'>,
  rules: Pick<AccountRules, 'check'>,
  question: KeyRequest
): Promise<KeyPass> => {
  const { policyFailure } = plugins
  if (policyFailure !== undefined && !HARMLESS.has(question.use)) {
    const { pluginId, reason } = policyFailure
    throw new WalletError('SIGN_REFUSED', {
      pluginId,
      reason: `it is not loaded: ${reason}`
    })
  }
  await rules.check(question)
  await hooks.beforeSign.promise(
    Object.freeze({
      correlationId: question.correlationId ?? io.crypto.toHex(io.random(8)),
      ...NOTHING,
      ...question,
      targets: frozenItems(question.targets ?? []),
      ...compact({ networkFees: question.networkFees && frozenItems(question.networkFees) })
    })
  )
  return PASS
}

const frozenItems = <T extends object>(items: readonly T[]): readonly T[] =>
  Object.freeze(items.map(item => Object.freeze({ ...item })))

/** The pass of a use that no policy is asked about. `npm run check -- keys` knows every place that may call this. */
export const exemptPass = (_use: ExemptUse): KeyPass => PASS

/** Uses that sign and show nothing. */
const HARMLESS: ReadonlySet<KeyUse> = new Set<KeyUse>(['sync', 'draft', 'broadcast'])

const NOTHING = {
  walletId: '',
  pluginId: '',
  currencyCode: '',
  tokenId: null,
  nativeAmount: '0',
  networkFee: '0'
} as const

const PASS = Object.freeze({}) as KeyPass
