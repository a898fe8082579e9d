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
import { PluginCalls } from './plugin-calls.ts'

/** How a hook runs and what a failing tap does; see `dispatch.ts`. */
export type DispatchKind = 'asked' | 'gathered' | 'gated' | 'piped' | 'observed'

/** One row of the hook table, from which `docs/hooks.md` is made. */
export interface HookRow {
  readonly dispatch: DispatchKind
  /** What keys a hook map, if it is one. */
  readonly key?: 'pluginId'
  /** When the kernel calls it. */
  readonly fires: string
  readonly carries: string
  readonly tappedBy: 'currency' | 'rates' | 'swap' | 'storage' | 'policy' | 'observer' | 'all'
  /** How long one tap may take; none for hooks that do not wait. */
  readonly deadlineMs?: number
}

const CALL_MS = 30_000
/** A slow disk may have much to look through, and one of a page much to take over. */
const OPEN_MS = 300_000

/** Every hook, in the order of its life: asked, objected to, life cycle, told. */
export const hookTable: { readonly [Name in keyof KernelHooks]: HookRow } = {
  openDisk: {
    dispatch: 'asked',
    fires: 'once, before any other plugin is applied',
    carries: 'the purpose; the answer is a Disk',
    tappedBy: 'storage',
    deadlineMs: OPEN_MS
  },
  makeTools: {
    dispatch: 'asked',
    key: 'pluginId',
    fires: "the first time the plugin's keys or URIs are needed",
    carries: 'nothing; the answer is CurrencyTools',
    tappedBy: 'currency',
    deadlineMs: CALL_MS
  },
  makeEngine: {
    dispatch: 'asked',
    key: 'pluginId',
    fires: 'when a wallet opens and its files are read',
    carries:
      'the wallet id, public keys, a store, tokens, settings and callbacks; the answer is a CurrencyEngine',
    tappedBy: 'currency',
    deadlineMs: CALL_MS
  },
  builtinTokens: {
    dispatch: 'asked',
    key: 'pluginId',
    fires: 'when an account opens',
    carries: 'nothing; the answer is the tokens by token id',
    tappedBy: 'currency',
    deadlineMs: CALL_MS
  },
  fetchRates: {
    dispatch: 'gathered',
    fires: 'every 30 s while someone wants rates',
    carries: 'a desk with the pairs that are wanted',
    tappedBy: 'rates',
    deadlineMs: CALL_MS
  },
  fetchHistoricRates: {
    dispatch: 'gathered',
    fires: 'when an application asks for a rate of the past',
    carries: 'a desk with the pairs and their dates',
    tappedBy: 'rates',
    deadlineMs: CALL_MS
  },
  fetchQuotes: {
    dispatch: 'gathered',
    fires: 'when an account asks for swap quotes',
    carries: 'a desk with the request, the settings and the promotion code',
    tappedBy: 'swap',
    deadlineMs: 60_000
  },
  beforeSign: {
    dispatch: 'gated',
    fires: 'before private keys sign, are shown, exported or handed out',
    carries: 'the use, and what will be signed, as data; a throw stops it',
    tappedBy: 'policy',
    deadlineMs: CALL_MS
  },
  rankQuotes: {
    dispatch: 'piped',
    fires: "after the kernel's own ordering of quotes",
    carries: 'the quotes, best first, and the request',
    tappedBy: 'policy'
  },
  ready: {
    dispatch: 'gathered',
    fires: 'once, after all plugins are applied',
    carries: 'nothing',
    tappedBy: 'all',
    deadlineMs: CALL_MS
  },
  closing: {
    dispatch: 'gathered',
    fires: 'once, before the disk closes',
    carries: 'nothing',
    tappedBy: 'all',
    deadlineMs: 5_000
  },
  pluginChanged: {
    dispatch: 'observed',
    fires: 'when a plugin is applied, fails or is missing',
    carries:
      'its id, kind, state, the calls in which it gets private keys, and how the amounts of a currency are written',
    tappedBy: 'observer'
  },
  usersChanged: {
    dispatch: 'observed',
    fires: 'when the users of this device have been read, and when the list changes',
    carries: 'names and flags, no keys',
    tappedBy: 'observer'
  },
  loginChanged: {
    dispatch: 'observed',
    fires: 'when a login attempt moves on',
    carries: 'the attempt id, method, stage and error code',
    tappedBy: 'observer'
  },
  accountChanged: {
    dispatch: 'observed',
    fires: 'when an account opens, closes, pauses or its wallet list changes',
    carries: 'ids and flags',
    tappedBy: 'observer'
  },
  lobbyChanged: {
    dispatch: 'observed',
    fires: 'when a login request between devices moves on',
    carries: 'the lobby id, state and username',
    tappedBy: 'observer'
  },
  repoChanged: {
    dispatch: 'observed',
    fires: 'when a repo opens, is written or synced, when a sync fails, and when it closes',
    carries: 'the repo id, whose it is, pending writes, last hash and last sync',
    tappedBy: 'observer'
  },
  filesExchanged: {
    dispatch: 'observed',
    fires: 'when a sync of a repo has sent or received files',
    carries: 'the repo id and the paths; an event, not a snapshot',
    tappedBy: 'observer'
  },
  walletChanged: {
    dispatch: 'observed',
    fires:
      'when a wallet opens, and when its name, fiat code, tokens, staking, balances or pause change; ' +
      'many changes of a moment are one',
    carries: 'its public facts, and how the amounts of its tokens are written',
    tappedBy: 'observer'
  },
  engineChanged: {
    dispatch: 'observed',
    fires:
      'when an engine is created, started, stopped, paused or fails, when a look at the network fails, and when ' +
      'its progress, height or own words change',
    carries: 'those facts',
    tappedBy: 'observer'
  },
  transactionsChanged: {
    dispatch: 'observed',
    fires: 'on new and changed transactions, at most once in 5 s per wallet',
    carries: 'the wallet id and the txids; an event, not a snapshot',
    tappedBy: 'observer'
  },
  addressChanged: {
    dispatch: 'observed',
    fires: "when a wallet's fresh receive address is another one",
    carries: 'the wallet id; an event, not a snapshot',
    tappedBy: 'observer'
  },
  tokensDetected: {
    dispatch: 'observed',
    fires: 'when an engine finds tokens that were neither on nor found before, and that are on from now on',
    carries: 'the wallet id and the token ids; an event, not a snapshot',
    tappedBy: 'observer'
  },
  spendChanged: {
    dispatch: 'observed',
    fires: 'when a spend is intended, signed, broadcast, saved or refused',
    carries: 'the correlation id of the spend, the wallet id, the stage and the txid',
    tappedBy: 'observer'
  },
  ratesChanged: {
    dispatch: 'observed',
    fires: 'when a round of rates ends, and when a late answer comes',
    carries: 'the pairs that came, and how each provider answered',
    tappedBy: 'observer'
  },
  routeFound: {
    dispatch: 'observed',
    fires: 'when a conversion is computed',
    carries: 'the hops with their rates and costs',
    tappedBy: 'observer'
  },
  quoteChanged: {
    dispatch: 'observed',
    fires:
      'when a swap provider becomes pending, resolved, failed or timed out, makes a better offer, and when its ' +
      'quote is approved, closed or has expired; many changes of a moment are one',
    carries: 'the round id, the plugin id, and the amounts or the error with its limit',
    tappedBy: 'observer'
  },
  pluginFault: {
    dispatch: 'observed',
    fires: 'on any isolated failure of a plugin',
    carries: 'the plugin id, hook, error name, code and message; an event, not a snapshot',
    tappedBy: 'observer'
  },
  logged: {
    dispatch: 'observed',
    fires: 'on each log line at or above the log level',
    carries: 'source, level and text; an event, not a snapshot',
    tappedBy: 'observer'
  },
  tapRan: {
    dispatch: 'observed',
    fires: 'after each single tap, while somebody listens',
    carries:
      'hook, plugin id, correlation id of a spend or a round of quotes, duration and outcome; an event, not a snapshot',
    tappedBy: 'observer'
  }
}

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
