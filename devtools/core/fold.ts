import type { AccountSnapshot } from '../../kernel/index.ts'
import type { HookName, Told } from './facts.ts'
import type { Tables } from './tables.ts'

/**
 * Puts what a hook tells into the tables.
 *
 * A closed account stays listed as logged out, so that one sees that it was here; its wallets, their engines and its
 * repos leave with their names and balances, and so do those that an open account no longer lists.
 */
export const foldInto = <H extends HookName>(tables: Tables, hook: H, told: Told<H>): void => {
  const fold = folds[hook] as ((tables: Tables, told: Told<H>) => void) | undefined
  fold?.(tables, told)
}

/** Hooks that are not here are plain events. */
const folds: { readonly [H in HookName]?: (tables: Tables, told: Told<H>) => void } = {
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
  quoteChanged: (tables, quote) => tables.putQuote(quote)
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
}

const isListed = (tables: Tables, walletId: string): boolean => {
  for (const { isLoggedIn, walletIds } of tables.rows('accounts').values())
    if (isLoggedIn && walletIds.includes(walletId)) return true
  return false
}
