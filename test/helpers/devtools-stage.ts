import { type Devtools, type DevtoolsOptions, makeDevtools } from '../../devtools/core/devtools.ts'
import { type HookName, type HookSnapshot, hookNames } from '../../devtools/core/model/facts.ts'
import type {
  AccountSnapshot,
  EngineSnapshot,
  ObserverHost,
  QuoteSnapshot,
  RateSnapshot,
  WalletSnapshot
} from '../../kernel/index.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'

/** The devtools without a kernel: a test tells them what a kernel would. */
export interface Stage {
  readonly devtools: Devtools
  readonly clock: FakeClock
  emit<H extends HookName>(hook: H, reported: HookSnapshot<H>): void
  /** Lets messages arrive; no time passes. */
  settle(): Promise<void>
}

/** Makes devtools on a clock that stands still. */
export const makeStage = (options: Partial<DevtoolsOptions> = {}): Stage => {
  const clock = makeFakeClock()
  const devtools = makeDevtools({ clock, ...options })
  const taps = new Map<string, (reported: never) => void>()
  const hooks = Object.fromEntries(
    hookNames.map(name => [name, { tap: (_: string, fn: (reported: never) => void) => taps.set(name, fn) }])
  )
  devtools.plugin.apply({ hooks } as unknown as ObserverHost)
  return {
    devtools,
    clock,
    emit: (hook, reported) => taps.get(hook)?.(reported as never),
    settle: () => clock.advance(0)
  }
}

/** An engine that has synced. */
export const engine = (walletId: string, changes: Partial<EngineSnapshot> = {}): EngineSnapshot => ({
  walletId,
  pluginId: 'bitcoin',
  state: 'started',
  isPaused: false,
  syncRatio: 1,
  blockHeight: 100,
  since: 1_700_000_000,
  ...changes
})

/** A wallet without money. */
export const wallet = (walletId: string, changes: Partial<WalletSnapshot> = {}): WalletSnapshot => ({
  walletId,
  pluginId: 'bitcoin',
  type: 'wallet:bitcoin',
  name: null,
  fiatCurrencyCode: 'iso:USD',
  enabledTokenIds: [],
  detectedTokenIds: [],
  unactivatedTokenIds: [],
  tokens: [],
  stakingStatus: { stakedAmounts: [] },
  openPayments: [],
  balances: { '': '0' },
  isPaused: false,
  ...changes
})

/** An open account. */
export const account = (accountId: string, changes: Partial<AccountSnapshot> = {}): AccountSnapshot => ({
  accountId,
  appId: '',
  isLoggedIn: true,
  walletIds: [],
  activeWalletIds: [],
  archivedWalletIds: [],
  hiddenWalletIds: [],
  isPaused: false,
  ...changes
})

/** A price. */
export const pair = (
  fromCurrency: string,
  toCurrency: string,
  rate: number,
  changes: Partial<RateSnapshot> = {}
): RateSnapshot => ({ fromCurrency, toCurrency, rate, source: 'shop', at: 1_700_000_000, ...changes })

/** A provider that is being asked. */
export const quote = (
  roundId: string,
  pluginId: string,
  changes: Partial<QuoteSnapshot> = {}
): QuoteSnapshot => ({
  roundId,
  request: {
    ...{ fromWalletId: 'w1', fromPluginId: 'bitcoin', fromTokenId: null, fromCurrencyCode: 'BTC' },
    ...{ toWalletId: 'w2', toPluginId: 'litecoin', toTokenId: null, toCurrencyCode: 'LTC' },
    nativeAmount: '1000000',
    quoteFor: 'from'
  },
  pluginId,
  displayName: pluginId,
  isDex: false,
  state: 'pending',
  ...changes
})
