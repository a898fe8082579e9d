import type { CommandRun } from '../command.ts'
import { forgetCurrentAccount, readCurrentAccount } from '../profile/current-account.ts'
import { confirmTyped } from '../session/confirm-typed.ts'
import { makeChange, nameOf } from '../session/make-change.ts'

/** Deletes the account from the server and this device, for good. */
export const accountDelete: CommandRun = async session => {
  const account = await session.account()
  const { id, username = null } = account
  const name = nameOf(account)
  const walletCount = account.listWallets().filter(({ isWallet, deleted }) => isWallet && !deleted).length
  if (!session.globals.dryRun) {
    await confirmTyped(session, {
      question: `Delete ${name} with its ${walletCount} wallet(s) for good? Coins in them are lost with their keys.`,
      name,
      summary: { loginId: id, username, walletCount }
    })
  }
  const result = await makeChange(session, {
    doing: 'Deleting the account',
    done: `${name} is deleted`,
    data: { loginId: id, username, deleted: true },
    call: () => account.credentials.deleteRemoteAccount()
  })
  const state = session.paths.session
  if (!session.globals.dryRun && readCurrentAccount(state)?.loginId === id) forgetCurrentAccount(state)
  return result
}
