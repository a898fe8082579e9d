import type {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  HookMap,
  SyncHook,
  SyncWaterfallHook
} from 'tapable'
import type { Disk } from '../io/disk.ts'
import type { TokenMap } from '../types/currency.ts'
import type { CurrencyEngine, CurrencyTools, EngineRequest } from '../types/engine.ts'
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
import type { QuoteContext } from '../types/swap.ts'
import type { Scoped } from './dispatch.ts'

/** What a disk is for. */
export interface DiskRequest {
  readonly purpose: 'everything'
}

/** Every hook of the kernel. Only the kernel calls them; kernel modules never talk through them (ADR 3). */
export interface KernelHooks {
  readonly openDisk: AsyncSeriesBailHook<[DiskRequest], Disk | undefined>
  readonly makeTools: HookMap<AsyncSeriesBailHook<[], CurrencyTools | undefined>>
  readonly makeEngine: HookMap<AsyncSeriesBailHook<[EngineRequest], CurrencyEngine | undefined>>
  readonly builtinTokens: HookMap<AsyncSeriesBailHook<[], TokenMap | undefined>>
  readonly fetchRates: AsyncParallelHook<[Scoped<RateContext>]>
  readonly fetchHistoricRates: AsyncParallelHook<[Scoped<HistoricRateContext>]>
  readonly fetchQuotes: AsyncParallelHook<[Scoped<QuoteContext>]>
  readonly beforeSign: AsyncSeriesHook<[SpendSnapshot]>
  readonly rankQuotes: SyncWaterfallHook<[readonly QuoteSnapshot[], SwapRequestSnapshot]>
  readonly ready: AsyncParallelHook<[]>
  readonly closing: AsyncParallelHook<[]>
  readonly pluginChanged: SyncHook<[PluginSnapshot]>
  readonly usersChanged: SyncHook<[readonly UserSnapshot[]]>
  readonly loginChanged: SyncHook<[LoginSnapshot]>
  readonly accountChanged: SyncHook<[AccountSnapshot]>
  readonly lobbyChanged: SyncHook<[LobbySnapshot]>
  readonly repoChanged: SyncHook<[RepoSnapshot]>
  readonly filesExchanged: SyncHook<[ExchangeSnapshot]>
  readonly walletChanged: SyncHook<[WalletSnapshot]>
  readonly engineChanged: SyncHook<[EngineSnapshot]>
  readonly transactionsChanged: SyncHook<[TransactionsSnapshot]>
  readonly addressChanged: SyncHook<[AddressSnapshot]>
  readonly tokensDetected: SyncHook<[DetectedTokensSnapshot]>
  readonly spendChanged: SyncHook<[SpendProgressSnapshot]>
  readonly ratesChanged: SyncHook<[RatesSnapshot]>
  readonly routeFound: SyncHook<[RouteSnapshot]>
  readonly quoteChanged: SyncHook<[QuoteSnapshot]>
  readonly pluginFault: SyncHook<[FaultSnapshot]>
  readonly logged: SyncHook<[LogLine]>
  readonly tapRan: SyncHook<[TapSnapshot]>
}

/** The hooks that tell; observer plugins may tap these and no others. */
export type TellingHooks = Pick<
  KernelHooks,
  | 'pluginChanged'
  | 'usersChanged'
  | 'loginChanged'
  | 'accountChanged'
  | 'lobbyChanged'
  | 'repoChanged'
  | 'filesExchanged'
  | 'walletChanged'
  | 'engineChanged'
  | 'transactionsChanged'
  | 'addressChanged'
  | 'tokensDetected'
  | 'spendChanged'
  | 'ratesChanged'
  | 'routeFound'
  | 'quoteChanged'
  | 'pluginFault'
  | 'logged'
  | 'tapRan'
>
