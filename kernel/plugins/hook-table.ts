import { copyList } from '../base/copy-data.ts'
import { checkedDisk } from '../base/disk-path.ts'
import type { Disk } from '../io/disk.ts'
import type { Store } from '../io/store.ts'
import { checkedStore } from '../store/store-disk.ts'
import type { PluginKind, QuoteSnapshot } from '../types/snapshots.ts'
import type { Audience, HookTypes, KernelHooks, ObserverHooks } from './hook-types.ts'

/** The documented behaviour of a hook, beside its types. */
interface HookFacts {
  /** When the kernel calls it. */
  readonly fires: string
  readonly carries: string
  /** The time that one tap may take; none for hooks that do not wait. */
  readonly deadlineMs?: number
  /** Takes an answer that comes after the deadline. */
  readonly discard?: (answer: unknown) => void
  /** Says what is wrong with the answer of a tap to a value that passes through; the value passes unchanged then. */
  readonly refuse?: (value: never, answer: unknown) => string | undefined
  /** A failing tap is not reported, so that no report can loop. */
  readonly isQuiet?: true
}

/** The facts of a hook, with the dispatch and key that its types ask for. */
type FactsOf<Hook> = HookFacts &
  (Hook extends { readonly dispatch: infer Dispatch } ? { readonly dispatch: Dispatch } : never) &
  (Hook extends { readonly key: infer Key } ? { readonly key: Key } : { readonly key?: undefined })

const CALL_MS = 30_000
/** A slow disk may have much to look through, and one of a page much to take over. */
const OPEN_MS = 300_000

/** A disk that opens too late for its kernel would stay locked for the next one. */
function closeDisk(late: unknown): void {
  const close = async (): Promise<void> => checkedDisk(late as Disk).close?.()
  close().catch(() => {})
}

function closeStore(late: unknown): void {
  const close = async (): Promise<void> => checkedStore(late as Store).close()
  close().catch(() => {})
}

/** An order of quotes has each of them once. */
function orderFault(quotes: readonly QuoteSnapshot[], answer: unknown): string | undefined {
  const ordered = copyList(answer, quotes.length)
  if (ordered?.length !== quotes.length) return `no list of all ${quotes.length} quotes`
  const left = new Set<unknown>(quotes.map(({ quoteId }) => quoteId))
  try {
    const isOrder = ordered.every(quote => left.delete((quote as QuoteSnapshot).quoteId))
    return isOrder ? undefined : 'a quote that is not among those, or is there twice'
  } catch {
    return 'a quote that cannot be read'
  }
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
    },
    openStore: {
      dispatch: 'asked',
      fires: 'once, if no plugin opens a disk',
      carries: 'the purpose; the answer is a Store',
      deadlineMs: OPEN_MS,
      discard: closeStore
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
    },
    watchOrder: {
      dispatch: 'asked',
      key: 'pluginId',
      fires:
        'while an order of the plugin that was paid for is open: at first every 15 s, then ever more rarely; also ' +
        'after a restart',
      carries: 'the order with the transaction that pays for it; the answer is its state',
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
      carries: 'the quotes, best first, and the request',
      refuse: orderFault
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
      carries:
        'the wallet id, the txids, and their assets if the engine reported them; an event, not a snapshot'
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
    orderChanged: {
      dispatch: 'observed',
      fires:
        'when an account opens, for each order of a swap that is known on this device; when one that was paid for is ' +
        'followed from now on, and when its state, its payout or the failure to ask for it changes',
      carries: 'the order by the txid of its payment, the plugin id, the state and the txid of the payout'
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

/** The hooks that a plugin of a kind may tap, with how: those of every kind first. */
export const hooksOf = (kind: PluginKind): ReadonlyMap<keyof KernelHooks, 'tap' | 'tapPromise'> => {
  const rows = Object.entries(hookTable) as [keyof KernelHooks, HookRow][]
  const own = ['all', kind].flatMap(audience => rows.filter(([, { tappedBy }]) => tappedBy === audience))
  return new Map(
    own.map(([name, { dispatch }]) => [
      name,
      dispatch === 'piped' || dispatch === 'observed' ? 'tap' : 'tapPromise'
    ])
  )
}

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
