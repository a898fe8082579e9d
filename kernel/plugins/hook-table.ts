import type {
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
import type { QuoteContext } from '../types/swap.ts'
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
  }
  readonly currency: {
    readonly makeTools: QueriedByPlugin<[], CurrencyTools>
    readonly makeEngine: QueriedByPlugin<[EngineRequest], CurrencyEngine>
    readonly builtinTokens: QueriedByPlugin<[], TokenMap>
  }
  readonly rates: {
    readonly fetchRates: Gathered<RateContext>
    readonly fetchHistoricRates: Gathered<HistoricRateContext>
  }
  readonly swap: {
    readonly fetchQuotes: Gathered<QuoteContext>
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

/** The documented behaviour of a hook, beside its types. */
interface HookFacts {
  /** When the kernel calls it. */
  readonly fires: string
  readonly carries: string
  /** The time that one tap may take; none for hooks that do not wait. */
  readonly deadlineMs?: number
  /** Takes an answer that comes after the deadline. */
  readonly discard?: (answer: unknown) => void
  /** A failing tap is not reported, so that no report can loop. */
  readonly isQuiet?: true
}

/** The facts of a hook, with the dispatch and key that its types ask for. */
type FactsOf<Hook> = HookFacts &
  (Hook extends { readonly dispatch: infer Dispatch } ? { readonly dispatch: Dispatch } : never) &
  (Hook extends { readonly key: infer Key } ? { readonly key: Key } : { readonly key?: undefined })

/** The purpose of a disk. */
export interface DiskRequest {
  readonly purpose: 'everything'
}

const CALL_MS = 30_000
/** A slow disk may have much to look through, and one of a page much to take over. */
const OPEN_MS = 300_000

/** A disk that opens too late for its kernel would stay locked for the next one. */
function closeDisk(late: unknown): void {
  const close = async (): Promise<void> => checkedDisk(late as Disk).close?.()
  close().catch(() => {})
}

/** The facts of every hook, in the order of docs/hooks.md: asked, objected to, life cycle, notified. */
const facts: {
  readonly [A in Audience]: { readonly [Name in keyof HookTypes[A]]: FactsOf<HookTypes[A][Name]> }
} = {
  storage: {
    openDisk: {
      dispatch: 'asked',
      fires: 'once, before any other plugin is applied',
      carries: 'the purpose; the answer is a Disk',
      deadlineMs: OPEN_MS,
      discard: closeDisk
    }
  },
  currency: {
    makeTools: {
      dispatch: 'asked',
      key: 'pluginId',
      fires: "the first time the plugin's keys or URIs are needed",
      carries: 'nothing; the answer is CurrencyTools',
      deadlineMs: CALL_MS
    },
    makeEngine: {
      dispatch: 'asked',
      key: 'pluginId',
      fires: 'when a wallet opens and its files are read',
      carries:
        'the wallet id, public keys, a store, tokens, settings and callbacks; the answer is a CurrencyEngine',
      deadlineMs: CALL_MS
    },
    builtinTokens: {
      dispatch: 'asked',
      key: 'pluginId',
      fires: 'when an account opens',
      carries: 'nothing; the answer is the tokens by token id',
      deadlineMs: CALL_MS
    }
  },
  rates: {
    fetchRates: {
      dispatch: 'gathered',
      fires: 'every 30 s while someone wants rates',
      carries: 'a context with the pairs that are wanted',
      deadlineMs: CALL_MS
    },
    fetchHistoricRates: {
      dispatch: 'gathered',
      fires: 'when an application asks for a rate of the past',
      carries: 'a context with the pairs and their dates',
      deadlineMs: CALL_MS
    }
  },
  swap: {
    fetchQuotes: {
      dispatch: 'gathered',
      fires: 'when an account asks for swap quotes',
      carries: 'a context with the request, the settings and the promotion code',
      deadlineMs: 60_000
    }
  },
  policy: {
    judgeRules: {
      dispatch: 'gathered',
      fires: 'before a payment of an account with rules is signed, and when its rules are explained',
      carries: 'a context with the rules, the payment and what was paid; a rule without a verdict refuses',
      deadlineMs: CALL_MS
    },
    beforeSign: {
      dispatch: 'gated',
      fires: 'before private keys sign, are shown, exported or handed out',
      carries: 'the use, and what will be signed, as data; a throw stops it',
      deadlineMs: CALL_MS
    },
    rankQuotes: {
      dispatch: 'piped',
      fires: "after the kernel's own ordering of quotes",
      carries: 'the quotes, best first, and the request'
    }
  },
  all: {
    ready: {
      dispatch: 'gathered',
      fires: 'once, after all plugins are applied',
      carries: 'nothing',
      deadlineMs: CALL_MS
    },
    closing: {
      dispatch: 'gathered',
      fires: 'once, before the disk closes',
      carries: 'nothing',
      deadlineMs: 5_000
    }
  },
  observer: {
    pluginChanged: {
      dispatch: 'observed',
      fires: 'when a plugin is applied, fails or is missing',
      carries:
        'its id, kind, state, the calls in which it gets private keys, and how the amounts of a currency are written'
    },
    usersChanged: {
      dispatch: 'observed',
      fires: 'when the users of this device have been read, and when the list changes',
      carries: 'names and flags, no keys'
    },
    loginChanged: {
      dispatch: 'observed',
      fires: 'when a login attempt moves on',
      carries: 'the attempt id, method, stage and error code'
    },
    accountChanged: {
      dispatch: 'observed',
      fires: 'when an account opens, closes, pauses or its wallet list changes',
      carries: 'ids and flags'
    },
    lobbyChanged: {
      dispatch: 'observed',
      fires: 'when a login request between devices moves on',
      carries: 'the lobby id, state and username'
    },
    repoChanged: {
      dispatch: 'observed',
      fires: 'when a repo opens, is written or synced, when a sync fails, and when it closes',
      carries: 'the repo id, whose it is, pending writes, last hash and last sync'
    },
    filesExchanged: {
      dispatch: 'observed',
      fires: 'when a sync of a repo has sent or received files',
      carries: 'the repo id and the paths; an event, not a snapshot'
    },
    walletChanged: {
      dispatch: 'observed',
      fires:
        'when a wallet opens, and when its name, fiat code, tokens, staking, balances or pause change; ' +
        'many changes of a moment are one',
      carries: 'its public facts, and how the amounts of its tokens are written'
    },
    engineChanged: {
      dispatch: 'observed',
      fires:
        'when an engine is created, started, stopped, paused or fails, when a look at the network fails, and when ' +
        'its progress, height or own words change',
      carries: 'those facts'
    },
    transactionsChanged: {
      dispatch: 'observed',
      fires: 'on new and changed transactions, at most once in 5 s per wallet',
      carries: 'the wallet id and the txids; an event, not a snapshot'
    },
    addressChanged: {
      dispatch: 'observed',
      fires: "when a wallet's fresh receive address is another one",
      carries: 'the wallet id; an event, not a snapshot'
    },
    tokensDetected: {
      dispatch: 'observed',
      fires: 'when an engine finds tokens that were neither on nor found before, and that are on from now on',
      carries: 'the wallet id and the token ids; an event, not a snapshot'
    },
    spendChanged: {
      dispatch: 'observed',
      fires: 'when a spend is intended, signed, broadcast, saved or refused',
      carries: 'the correlation id of the spend, the wallet id, the stage and the txid'
    },
    ratesChanged: {
      dispatch: 'observed',
      fires: 'when a round of rates ends, and when a late answer comes',
      carries: 'the pairs that came, and how each provider answered'
    },
    routeFound: {
      dispatch: 'observed',
      fires: 'when a conversion is computed',
      carries: 'the hops with their rates and costs'
    },
    quoteChanged: {
      dispatch: 'observed',
      fires:
        'when a swap provider becomes pending, resolved, failed or timed out, makes a better offer, and when its ' +
        'quote is approved, closed or has expired; many changes of a moment are one',
      carries: 'the round id, the plugin id, and the amounts or the error with its limit'
    },
    pluginFault: {
      dispatch: 'observed',
      fires: 'on any isolated failure of a plugin',
      carries: 'the plugin id, hook, error name, code and message; an event, not a snapshot',
      isQuiet: true
    },
    logged: {
      dispatch: 'observed',
      fires: 'on each log line at or above the log level',
      carries: 'source, level and text; an event, not a snapshot',
      isQuiet: true
    },
    tapRan: {
      dispatch: 'observed',
      fires: 'after each single tap, while somebody listens',
      carries:
        'hook, plugin id, correlation id of a spend or a round of quotes, duration and outcome; an event, not a snapshot',
      isQuiet: true
    }
  }
}

/** The way a hook runs and treats a failing tap; see `dispatch.ts`. */
export type DispatchKind = 'asked' | 'gathered' | 'gated' | 'piped' | 'observed'

/** One row of the hook table, from which `docs/hooks.md` is made. */
export interface HookRow extends HookFacts {
  readonly dispatch: DispatchKind
  /** The key of a hook map, if it is one. */
  readonly key?: 'pluginId' | undefined
  readonly tappedBy: Audience
}

/** Every hook by its name, in the order of the page. */
export const hookTable: Readonly<Record<keyof KernelHooks, HookRow>> = Object.fromEntries(
  Object.entries(facts).flatMap(([tappedBy, rows]) =>
    Object.entries(rows).map(([name, row]) => [name, { ...(row as FactsOf<AnyHookType>), tappedBy }])
  )
) as Record<keyof KernelHooks, HookRow>

/**
 * The hooks that an observer may tap, in the order of `docs/hooks.md`.
 *
 * @example
 * ```ts
 * import { type ObserverPlugin, observerHookNames } from 'holdfast/observer'
 *
 * export const counter: ObserverPlugin = {
 *   kind: 'observer',
 *   id: 'counter',
 *   apply({ hooks }) {
 *     for (const name of observerHookNames) hooks[name].tap('counter', () => console.log(name))
 *   }
 * }
 * ```
 */
export const observerHookNames: readonly (keyof ObserverHooks)[] = Object.keys(
  facts.observer
) as (keyof ObserverHooks)[]

type AnyHookType = { readonly dispatch: DispatchKind }
