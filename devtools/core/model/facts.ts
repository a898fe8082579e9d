import type { WorldSnapshot } from '../../../app/actions/world-control.ts'
import {
  type AccountSnapshot,
  compact,
  type ExchangeSnapshot,
  type JsonObject,
  type ObserverHooks,
  type PluginId,
  type RateProviderSnapshot,
  type TransactionsSnapshot,
  type UserSnapshot
} from '../../../kernel/index.ts'

/** The name of an observer hook. */
export type HookName = keyof ObserverHooks

/** The snapshot that an observer hook passes. */
export type HookSnapshot<H extends HookName> = Parameters<ObserverHooks[H]['call']>[0]

/** The outcome of a panel's action, without its input. */
export interface ActionFact {
  readonly action: string
  readonly outcome: 'done' | 'failed'
  readonly durationMs: number
  /** The id of its subject. */
  readonly subject?: string
  readonly errorCode?: string
}

/** The data that the journal keeps for each hook: usually the snapshot itself, without a copy. */
export type Facts = {
  readonly [H in Exclude<
    HookName,
    'accountChanged' | 'usersChanged' | 'ratesChanged' | 'transactionsChanged' | 'filesExchanged'
  >]: HookSnapshot<H>
} & {
  /** The ids of its wallets are in its table; each new wallet would keep all those before it once more. */
  readonly accountChanged: Omit<AccountSnapshot, `${string}Ids`> & {
    readonly walletCount: number
    readonly activeCount: number
    readonly archivedCount: number
    readonly hiddenCount: number
  }
  readonly usersChanged: { readonly users: readonly UserSnapshot[] }
  /** The pairs are in their table; ten thousand in each event would be too many to keep. */
  readonly ratesChanged: { readonly pairCount: number; readonly providers: readonly RateProviderSnapshot[] }
  /** The first of the txids, and how many there were. */
  readonly transactionsChanged: TransactionsSnapshot & {
    readonly createdCount: number
    readonly changedCount: number
  }
  /** The first of the paths, and how many there were. */
  readonly filesExchanged: ExchangeSnapshot & { readonly sentCount: number; readonly receivedCount: number }
  readonly action: ActionFact
  /** The state of the fake world, which no hook reports. */
  readonly worldChanged: WorldSnapshot
  /** A call into a plugin in a cell, which no hook reports. */
  readonly pluginCalled: PluginCall
}

/** A call into a plugin that has ended, as its cell reports it. */
export interface PluginCall {
  readonly pluginId: PluginId
  /** The hook or the method. */
  readonly call: string
  /** JSON text; left out where a key could be in it. */
  readonly args?: string
  readonly result?: string
  readonly outcome: 'done' | 'failed'
  readonly durationMs: number
  /** Of a call that failed. */
  readonly message?: string
}

/** The name of an event of the journal. */
export type FactName = keyof Facts

const MAX_TXIDS = 20
const MAX_PATHS = 20

/** Reduces a snapshot to the data that the journal keeps (pure). */
export const factOf = <H extends HookName>(hook: H, snapshot: HookSnapshot<H>): Facts[H] => {
  const make = makers[hook] as ((snapshot: HookSnapshot<H>) => Facts[H]) | undefined
  return make === undefined ? (snapshot as Facts[H]) : make(snapshot)
}

const makers: { readonly [H in HookName]?: (snapshot: HookSnapshot<H>) => Facts[H] } = {
  accountChanged: ({ walletIds, activeWalletIds, archivedWalletIds, hiddenWalletIds, ...account }) => ({
    ...account,
    walletCount: walletIds.length,
    activeCount: activeWalletIds.length,
    archivedCount: archivedWalletIds.length,
    hiddenCount: hiddenWalletIds.length
  }),
  usersChanged: users => ({ users }),
  ratesChanged: ({ pairs, providers }) => ({ pairCount: pairs.length, providers }),
  transactionsChanged: ({ walletId, created, changed, tokenIds }) => ({
    walletId,
    ...compact({ tokenIds: tokenIds?.slice(0, MAX_TXIDS) }),
    created: created.slice(0, MAX_TXIDS),
    changed: changed.slice(0, MAX_TXIDS),
    createdCount: created.length,
    changedCount: changed.length
  }),
  filesExchanged: ({ repoId, sent, received }) => ({
    repoId,
    sent: sent.slice(0, MAX_PATHS),
    received: received.slice(0, MAX_PATHS),
    sentCount: sent.length,
    receivedCount: received.length
  })
}

/** Returns the id of an event's subject; undefined if it has no single subject (pure). */
export const subjectOf = <F extends FactName>(name: F, fact: Facts[F]): string | undefined =>
  subjects[name](fact)

const subjects: { readonly [F in FactName]: (fact: Facts[F]) => string | undefined } = {
  pluginChanged: ({ pluginId }) => pluginId,
  usersChanged: () => undefined,
  loginChanged: ({ attemptId }) => attemptId,
  accountChanged: ({ accountId }) => accountId,
  lobbyChanged: ({ lobbyId }) => lobbyId,
  repoChanged: ({ repoId }) => repoId,
  filesExchanged: ({ repoId }) => repoId,
  walletChanged: ({ walletId }) => walletId,
  engineChanged: ({ walletId }) => walletId,
  transactionsChanged: ({ walletId }) => walletId,
  addressChanged: ({ walletId }) => walletId,
  tokensDetected: ({ walletId }) => walletId,
  spendChanged: ({ walletId }) => walletId,
  ratesChanged: () => undefined,
  routeFound: ({ fromCurrency, toCurrency }) => `${fromCurrency} ${toCurrency}`,
  quoteChanged: ({ roundId }) => roundId,
  // Its txid may be hidden.
  orderChanged: ({ walletId }) => walletId,
  pluginFault: ({ pluginId }) => pluginId,
  logged: ({ source }) => source,
  tapRan: ({ pluginId }) => pluginId,
  action: ({ subject }) => subject,
  worldChanged: () => undefined,
  pluginCalled: ({ pluginId }) => pluginId
}

/** The names of all observer hooks. */
export const hookNames: readonly HookName[] = Object.keys(subjects).filter(
  (name): name is HookName => name !== 'action' && name !== 'worldChanged' && name !== 'pluginCalled'
)

/** An event as it is kept: with the frozen snapshot of the kernel, neither copied nor redacted. */
export interface JournalEntry<F extends FactName = FactName> {
  readonly seq: number
  /** Unix milliseconds. */
  readonly at: number
  readonly hook: F
  readonly fact: Facts[F]
  /** The action that it belongs to. */
  readonly correlationId?: string
}

/** One thing that happened, as the journal keeps it: a call of an observer hook, or an action of the panel. */
export interface JournalEvent {
  /** Ascending, without gaps within one kernel. */
  readonly seq: number
  /** Unix milliseconds. */
  readonly at: number
  /** The observer hook, such as `engineChanged`, `tapRan` or `logged`; `action` for what the panel did. */
  readonly hook: string
  /** The id of its subject: a wallet, repo, account, round or plugin. */
  readonly subject?: string
  /** Threads one action through hooks and events (architecture decision 6). */
  readonly correlationId?: string
  /** The redacted snapshot. */
  readonly data: JsonObject
}
