import {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  HookMap,
  SyncHook,
  SyncWaterfallHook
} from 'tapable'
import { checkedDisk } from '../base/disk-path.ts'
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
import { asked, type DispatchPort, gated, gathered, observed, piped, type Scoped } from './dispatch.ts'
import { hookTable } from './hook-table.ts'
import type { DiskRequest, KernelHooks } from './kernel-hooks.ts'
import { PluginCalls } from './plugin-calls.ts'

/** A disk that opens too late for its kernel would stay locked for the next one. */
const closeDisk = (late: unknown): void => {
  const close = async (): Promise<void> => checkedDisk(late as Disk).close?.()
  close().catch(() => {})
}

/**
 * Makes the hook map, each hook with its dispatcher and deadline from the hook table.
 *
 * A failing tap of `pluginFault`, `logged` or `tapRan` is not reported again, so that no report can loop.
 */
export const makeKernelHooks = ({
  calls,
  ...port
}: Omit<DispatchPort, 'watcher' | 'calls'> & { readonly calls?: PluginCalls }): KernelHooks => {
  const tapRan = new SyncHook<[TapSnapshot]>(['ran'], 'tapRan')
  const watch = (ran: TapSnapshot): void => tapRan.call(Object.freeze(ran))
  const watcher = (): typeof watch | undefined => (tapRan.taps.length === 0 ? undefined : watch)
  const full: DispatchPort = { ...port, calls: calls ?? new PluginCalls(port), watcher }
  const quiet: DispatchPort = { ...full, onFault: () => {}, watcher: () => undefined }
  const rule = (name: keyof KernelHooks) => ({ port: full, deadlineMs: hookTable[name].deadlineMs ?? 0 })
  const tell = <T extends object>(name: keyof KernelHooks): SyncHook<[T]> =>
    observed(new SyncHook<[T]>(['snapshot'], name), rule(name))
  const ask = <Q, A>(name: keyof KernelHooks): AsyncSeriesBailHook<[Q], A | undefined> =>
    asked(new AsyncSeriesBailHook<[Q], A | undefined>(['request'], name), rule(name))
  const gather = <Desk>(name: keyof KernelHooks): AsyncParallelHook<[Scoped<Desk>]> =>
    gathered(new AsyncParallelHook<[Scoped<Desk>]>(['desks'], name), rule(name))
  const silent = { port: quiet, deadlineMs: 0 }

  return Object.freeze({
    openDisk: asked(new AsyncSeriesBailHook<[DiskRequest], Disk | undefined>(['request'], 'openDisk'), {
      ...rule('openDisk'),
      discard: closeDisk
    }),
    makeTools: new HookMap<AsyncSeriesBailHook<[], CurrencyTools | undefined>>(() =>
      asked(new AsyncSeriesBailHook<[], CurrencyTools | undefined>([], 'makeTools'), rule('makeTools'))
    ),
    makeEngine: new HookMap<AsyncSeriesBailHook<[EngineRequest], CurrencyEngine | undefined>>(() =>
      ask<EngineRequest, CurrencyEngine>('makeEngine')
    ),
    builtinTokens: new HookMap<AsyncSeriesBailHook<[], TokenMap | undefined>>(() =>
      asked(new AsyncSeriesBailHook<[], TokenMap | undefined>([], 'builtinTokens'), rule('builtinTokens'))
    ),
    fetchRates: gather<RateContext>('fetchRates'),
    fetchHistoricRates: gather<HistoricRateContext>('fetchHistoricRates'),
    fetchQuotes: gather<QuoteContext>('fetchQuotes'),
    beforeSign: gated(new AsyncSeriesHook<[SpendSnapshot]>(['spend'], 'beforeSign'), rule('beforeSign')),
    rankQuotes: piped(
      new SyncWaterfallHook<[readonly QuoteSnapshot[], SwapRequestSnapshot]>(
        ['quotes', 'request'],
        'rankQuotes'
      ),
      rule('rankQuotes')
    ),
    ready: gathered(new AsyncParallelHook<[]>([], 'ready'), rule('ready')),
    closing: gathered(new AsyncParallelHook<[]>([], 'closing'), rule('closing')),
    pluginChanged: tell<PluginSnapshot>('pluginChanged'),
    usersChanged: tell<readonly UserSnapshot[]>('usersChanged'),
    loginChanged: tell<LoginSnapshot>('loginChanged'),
    accountChanged: tell<AccountSnapshot>('accountChanged'),
    lobbyChanged: tell<LobbySnapshot>('lobbyChanged'),
    repoChanged: tell<RepoSnapshot>('repoChanged'),
    filesExchanged: tell<ExchangeSnapshot>('filesExchanged'),
    walletChanged: tell<WalletSnapshot>('walletChanged'),
    engineChanged: tell<EngineSnapshot>('engineChanged'),
    transactionsChanged: tell<TransactionsSnapshot>('transactionsChanged'),
    addressChanged: tell<AddressSnapshot>('addressChanged'),
    tokensDetected: tell<DetectedTokensSnapshot>('tokensDetected'),
    spendChanged: tell<SpendProgressSnapshot>('spendChanged'),
    ratesChanged: tell<RatesSnapshot>('ratesChanged'),
    routeFound: tell<RouteSnapshot>('routeFound'),
    quoteChanged: tell<QuoteSnapshot>('quoteChanged'),
    pluginFault: observed(new SyncHook<[FaultSnapshot]>(['fault'], 'pluginFault'), silent),
    logged: observed(new SyncHook<[LogLine]>(['line'], 'logged'), silent),
    tapRan: observed(tapRan, silent)
  })
}
