import type { AccountSnapshot, WalletId } from '../../../kernel/index.ts'
import type { HookName, HookSnapshot } from '../model/facts.ts'
import type { SliceName, Slices } from '../model/slices.ts'
import { sliceNames } from '../model/snapshot-fields.ts'

/** The number of rows that each table keeps. */
export type TableLimits = { readonly [K in SliceName]: number }

/** Generous for a person with thousands of wallets, and still bounded. Of quotes: rounds and not rows. */
export const tableLimits: TableLimits = {
  plugins: 1000,
  users: 1000,
  logins: 50,
  accounts: 50,
  lobbies: 50,
  repos: 20_000,
  wallets: 20_000,
  engines: 20_000,
  spends: 200,
  rateProviders: 500,
  pairs: 100_000,
  routes: 200,
  quotes: 50,
  orders: 1000,
  world: 1
}

/** Receives which row of which table is new, changed or gone. */
export type RowListener = (slice: SliceName, id: string, what: 'changed' | 'removed') => void

/**
 * The tables on the side of the kernel: changed in place, so that an event costs one entry and copies nothing.
 *
 * A full table loses the row that was seen first; the quotes lose their oldest round.
 */
export class Tables {
  readonly #maps = Object.fromEntries(sliceNames.map(name => [name, new Map()])) as {
    readonly [K in SliceName]: Map<string, Slices[K]>
  }
  readonly #rounds = new Map<string, string[]>()
  readonly #limits: TableLimits
  readonly #onRow: RowListener

  constructor(limits: TableLimits, onRow: RowListener) {
    this.#limits = limits
    this.#onRow = onRow
  }

  /** The rows of a table, in the order in which their ids were first seen. */
  rows<K extends SliceName>(slice: K): ReadonlyMap<string, Slices[K]> {
    return this.#maps[slice]
  }

  /** Puts a row in the place of an earlier one of the same id. */
  put<K extends SliceName>(slice: K, id: string, row: Slices[K]): void {
    const map = this.#maps[slice]
    const isNew = !map.has(id)
    map.set(id, row)
    this.#onRow(slice, id, 'changed')
    if (isNew && slice !== 'quotes' && map.size > this.#limits[slice]) this.#removeFirst(slice)
  }

  /** Puts a quote of a round. */
  putQuote(quote: Slices['quotes']): void {
    const { roundId, pluginId, state } = quote
    const id = `${roundId} ${pluginId}`
    // Every quote begins as pending: a later word of a round that is not there would bring back a part of it as the newest.
    if (state !== 'pending' && !this.#rounds.has(roundId)) return
    if (!this.#maps.quotes.has(id)) this.#addToRound(roundId, id)
    this.put('quotes', id, quote)
  }

  /** Takes a row away, if it is there. */
  remove(slice: SliceName, id: string): void {
    if (this.#maps[slice].delete(id)) this.#onRow(slice, id, 'removed')
  }

  #removeFirst(slice: SliceName): void {
    const [first] = this.#maps[slice].keys()
    if (first !== undefined) this.remove(slice, first)
  }

  #addToRound(roundId: string, id: string): void {
    const quoteIds = this.#rounds.get(roundId)
    if (quoteIds !== undefined) {
      quoteIds.push(id)
      return
    }
    this.#rounds.set(roundId, [id])
    if (this.#rounds.size <= this.#limits.quotes) return
    const [oldest] = this.#rounds
    if (oldest === undefined) return
    this.#rounds.delete(oldest[0])
    for (const quoteId of oldest[1]) this.remove('quotes', quoteId)
  }
}

/**
 * Puts what a hook reports into the tables.
 *
 * A closed account stays listed as logged out, so that one sees that it was here; its wallets, their engines and its
 * repos leave with their names and balances, and so do those that an open account no longer lists.
 */
export const foldSnapshot = <H extends HookName>(
  tables: Tables,
  hook: H,
  snapshot: HookSnapshot<H>
): void => {
  const fold = folds[hook] as ((tables: Tables, snapshot: HookSnapshot<H>) => void) | undefined
  fold?.(tables, snapshot)
}

/** Hooks that are not here are plain events. */
const folds: { readonly [H in HookName]?: (tables: Tables, snapshot: HookSnapshot<H>) => void } = {
  pluginChanged: (tables, plugin) => tables.put('plugins', plugin.pluginId, plugin),
  usersChanged(tables, users) {
    const present = new Set(users.map(({ loginId }) => loginId))
    for (const id of [...tables.rows('users').keys()]) if (!present.has(id)) tables.remove('users', id)
    for (const user of users) tables.put('users', user.loginId, user)
  },
  loginChanged: (tables, login) => tables.put('logins', login.attemptId, login),
  accountChanged: (tables, account) => foldAccount(tables, account),
  lobbyChanged: (tables, lobby) => tables.put('lobbies', lobby.lobbyId, lobby),
  repoChanged(tables, repo) {
    if (repo.isOpen) tables.put('repos', repo.repoId, repo)
    else tables.remove('repos', repo.repoId)
  },
  walletChanged: (tables, wallet) => tables.put('wallets', wallet.walletId, wallet),
  engineChanged(tables, engine) {
    const { walletId, state } = engine
    // An engine stops after its account has closed: then its row has left already, and stays away.
    if (state === 'stopped' && !isListed(tables, walletId)) tables.remove('engines', walletId)
    else tables.put('engines', walletId, engine)
  },
  spendChanged: (tables, spend) => tables.put('spends', spend.correlationId, spend),
  ratesChanged(tables, { pairs, providers }) {
    for (const pair of pairs)
      tables.put('pairs', `${pair.fromCurrency} ${pair.toCurrency} ${pair.source}`, pair)
    for (const provider of providers) tables.put('rateProviders', provider.pluginId, provider)
  },
  routeFound: (tables, route) => tables.put('routes', `${route.fromCurrency} ${route.toCurrency}`, route),
  quoteChanged: (tables, quote) => tables.putQuote(quote),
  orderChanged: (tables, order) => tables.put('orders', `order ${order.walletId} ${order.paidAt}`, order)
}

const foldAccount = (tables: Tables, account: AccountSnapshot): void => {
  const before = tables.rows('accounts').get(account.accountId)
  tables.put('accounts', account.accountId, account)
  const left = new Set([...(before?.walletIds ?? []), ...account.walletIds])
  for (const { isLoggedIn, walletIds } of tables.rows('accounts').values())
    if (isLoggedIn) for (const walletId of walletIds) left.delete(walletId)
  for (const walletId of left) {
    tables.remove('wallets', walletId)
    tables.remove('engines', walletId)
  }
  for (const [id, order] of [...tables.rows('orders')])
    if (left.has(order.walletId)) tables.remove('orders', id)
}

const isListed = (tables: Tables, walletId: WalletId): boolean => {
  for (const { isLoggedIn, walletIds } of tables.rows('accounts').values())
    if (isLoggedIn && walletIds.includes(walletId)) return true
  return false
}
