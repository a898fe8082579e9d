import type {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  HookMap,
  SyncHook,
  SyncWaterfallHook
} from 'tapable'
import type { Disk } from '../io/disk.ts'
import type { Store } from '../io/store.ts'
import type { TokenMap } from '../types/currency.ts'
import type {
  CurrencyEngine,
  CurrencyTools,
  EngineRequest,
  KeylessEngine,
  KeylessTools
} from '../types/engine.ts'
import type { RuleContext } from '../types/policy.ts'
import type { HistoricRateContext, RateContext } from '../types/rates.ts'
import type {
  AccountSnapshot,
  AddressSnapshot,
  DetectedTokensSnapshot,
  EngineSnapshot,
  ExchangeSnapshot,
  FaultSnapshot,
  LobbySnapshot,
  LoginSnapshot,
  LogLine,
  OrderSnapshot,
  PluginKind,
  PluginSnapshot,
  QuoteSnapshot,
  RatesSnapshot,
  RepoSnapshot,
  RouteSnapshot,
  SpendProgressSnapshot,
  SpendSnapshot,
  SwapRequestSnapshot,
  TapSnapshot,
  TransactionsSnapshot,
  UserSnapshot,
  WalletSnapshot
} from '../types/snapshots.ts'
import type { OrderReport, QuoteContext, WatchedOrder } from '../types/swap.ts'
import type { Scoped } from './dispatch.ts'

/** A hook that is asked in order; the first defined answer wins. */
interface Queried<Args extends readonly unknown[], Answer> {
  readonly dispatch: 'asked'
  readonly hook: AsyncSeriesBailHook<Args, Answer | undefined>
  readonly tap: PromiseTap<Args, Answer>
}

/** One that each plugin answers for itself: a hook map with the plugin's id as key. */
interface QueriedByPlugin<Args extends readonly unknown[], Answer> {
  readonly dispatch: 'asked'
  readonly key: 'pluginId'
  readonly hook: HookMap<AsyncSeriesBailHook<Args, Answer | undefined>>
  readonly tap: PromiseTap<Args, Answer>
}

/** A hook whose taps run at once, each with a context of its own. */
interface Gathered<Context> {
  readonly dispatch: 'gathered'
  readonly hook: AsyncParallelHook<[Scoped<Context>]>
  readonly tap: PromiseTap<[Context], void>
}

/** A hook whose taps run at once and get nothing. */
interface Lifecycle {
  readonly dispatch: 'gathered'
  readonly hook: AsyncParallelHook<[]>
  readonly tap: PromiseTap<[], void>
}

/** A hook whose taps may object by a throw. */
interface Gated<Subject> {
  readonly dispatch: 'gated'
  readonly hook: AsyncSeriesHook<[Subject]>
  readonly tap: PromiseTap<[Subject], void>
}

/** A hook that passes a value through its taps; undefined leaves it as it is. */
interface Piped<Value, With> {
  readonly dispatch: 'piped'
  readonly hook: SyncWaterfallHook<[Value, With]>
  readonly tap: SyncTap<[Value, With], Value | undefined>
}

/** A hook that notifies. */
interface Observed<Snapshot> {
  readonly dispatch: 'observed'
  readonly hook: SyncHook<[Snapshot]>
  readonly tap: SyncTap<[Snapshot], void>
}

/** The arguments and answers of each hook, by the kind of plugin that taps it. Only the kernel calls hooks (ADR 3). */
export interface HookTypes {
  readonly storage: {
    readonly openDisk: Queried<[DiskRequest], Disk>
    readonly openStore: Queried<[DiskRequest], Store>
  }
  readonly currency: {
    readonly makeTools: QueriedByPlugin<[], CurrencyTools | KeylessTools>
    readonly makeEngine: QueriedByPlugin<[EngineRequest], CurrencyEngine | KeylessEngine>
    readonly builtinTokens: QueriedByPlugin<[], TokenMap>
  }
  readonly rates: {
    readonly fetchRates: Gathered<RateContext>
    readonly fetchHistoricRates: Gathered<HistoricRateContext>
  }
  readonly swap: {
    readonly fetchQuotes: Gathered<QuoteContext>
    readonly watchOrder: QueriedByPlugin<[WatchedOrder], OrderReport>
  }
  readonly policy: {
    readonly judgeRules: Gathered<RuleContext>
    readonly beforeSign: Gated<SpendSnapshot>
    readonly rankQuotes: Piped<readonly QuoteSnapshot[], SwapRequestSnapshot>
  }
  readonly all: {
    readonly ready: Lifecycle
    readonly closing: Lifecycle
  }
  readonly observer: {
    readonly pluginChanged: Observed<PluginSnapshot>
    readonly usersChanged: Observed<readonly UserSnapshot[]>
    readonly loginChanged: Observed<LoginSnapshot>
    readonly accountChanged: Observed<AccountSnapshot>
    readonly lobbyChanged: Observed<LobbySnapshot>
    readonly repoChanged: Observed<RepoSnapshot>
    readonly filesExchanged: Observed<ExchangeSnapshot>
    readonly walletChanged: Observed<WalletSnapshot>
    readonly engineChanged: Observed<EngineSnapshot>
    readonly transactionsChanged: Observed<TransactionsSnapshot>
    readonly addressChanged: Observed<AddressSnapshot>
    readonly tokensDetected: Observed<DetectedTokensSnapshot>
    readonly spendChanged: Observed<SpendProgressSnapshot>
    readonly ratesChanged: Observed<RatesSnapshot>
    readonly routeFound: Observed<RouteSnapshot>
    readonly quoteChanged: Observed<QuoteSnapshot>
    readonly orderChanged: Observed<OrderSnapshot>
    readonly pluginFault: Observed<FaultSnapshot>
    readonly logged: Observed<LogLine>
    readonly tapRan: Observed<TapSnapshot>
  }
}

/** The plugins that may tap a hook: those of one kind, or all. */
export type Audience = keyof HookTypes

/** Hooks as the kernel calls them. */
type HooksOf<Types extends { readonly [Name in keyof Types]: { readonly hook: unknown } }> = {
  readonly [Name in keyof Types]: Types[Name]['hook']
}

/** Hooks as a plugin sees them. */
type TapsOf<Types> = {
  readonly [Name in keyof Types]: Types[Name] extends { readonly tap: infer Tap } ? Tap : never
}

/** Hooks that every plugin may tap. */
export type LifecycleHooks = TapsOf<HookTypes['all']>

/** The hooks that a plugin of a kind may tap. */
export type HostHooks<Kind extends PluginKind> = LifecycleHooks & TapsOf<HookTypes[Kind]>

/** The hooks that notify; observers may tap these and no others. */
export type ObserverHooks = HooksOf<HookTypes['observer']>

/** Every hook of the kernel. */
export type KernelHooks = HooksOf<
  HookTypes['storage'] &
    HookTypes['currency'] &
    HookTypes['rates'] &
    HookTypes['swap'] &
    HookTypes['policy'] &
    HookTypes['all'] &
    HookTypes['observer']
>

/** The place of a tap among others; the name is always the plugin's id. */
export interface TapOrder {
  readonly stage?: number
  readonly before?: string
}

/**
 * A hook that waits for its taps, as a plugin sees it: it can be tapped, and nothing else.
 *
 * @example
 * ```ts
 * import type { CurrencyHost } from 'holdfast/plugin'
 *
 * const apply = ({ hooks, log }: CurrencyHost) => {
 *   hooks.ready.tapPromise('tollar', async () => log.info('ready'))
 * }
 * ```
 */
export interface PromiseTap<Args extends readonly unknown[], Answer> {
  tapPromise(name: string, fn: (...args: Args) => Promise<Answer>, order?: TapOrder): void
}

/**
 * A hook that does not wait, as a plugin sees it: it can be tapped, and nothing else.
 *
 * @example
 * ```ts
 * import type { ObserverHost } from 'holdfast/observer'
 *
 * const apply = ({ hooks }: ObserverHost) => {
 *   hooks.walletChanged.tap('watch', ({ name, balances }) => console.log(name, balances['']))
 * }
 * ```
 */
export interface SyncTap<Args extends readonly unknown[], Answer> {
  tap(name: string, fn: (...args: Args) => Answer, order?: TapOrder): void
}

/** The purpose of a disk or a store. */
export interface DiskRequest {
  readonly purpose: 'everything'
}
