import type { Account } from '../../kernel/index.ts'
import { refused } from './action-fields.ts'
import type { Actions } from './actions.ts'
import { type ActorPlace, type ActsOf, accountOf } from './actor-place.ts'

/** Comes in and goes out. `leaving` hears of an account before it logs out. */
export const accountActs = (place: ActorPlace, leaving: (account: Account) => void): ActsOf<'account'> => ({
  'account.create': async account => opened(place, await place.context.createAccount(account)),
  'account.login': async input => opened(place, await logIn(place, input)),
  async 'account.logout'({ accountId }) {
    const account = accountOf(place, accountId)
    leaving(account)
    await account.logout()
    return {}
  }
})

const logIn = (
  { context }: ActorPlace,
  { username, loginId, password, pin }: Actions['account.login']['in']
): Promise<Account> => {
  if (username === undefined && (loginId === undefined || pin === undefined))
    throw refused('username', 'A login takes a username, or the id of an account of this device with its PIN')
  if (username !== undefined && password !== undefined && pin === undefined)
    return context.loginWithPassword(username, password)
  if (pin !== undefined && password === undefined)
    return context.loginWithPIN(username === undefined ? { loginId: loginId ?? '' } : { username }, pin)
  throw refused('password', 'A login takes either the password or the PIN')
}

/** Wallets open when somebody looks for them; here that is now. How each one does is told by its engine. */
const opened = ({ pausedWallets }: ActorPlace, account: Account): { accountId: string } => {
  void account.openAllWallets(walletId => pausedWallets?.has(walletId) === true).catch(() => {})
  return { accountId: account.id }
}
