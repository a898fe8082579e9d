import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { readCurrentAccount, writeCurrentAccount } from '../profile/current-account.ts'
import { logInAs, targetOf } from '../session/log-in.ts'

/** Verifies the secret of an account and makes it the current one. No key is stored. */
export const login: CommandRun = async (session, user) => {
  const context = await session.context()
  const current = readCurrentAccount(session.paths.session)
  const name = user ?? session.globals.account ?? current?.username ?? current?.loginId
  if (name === undefined) {
    throw new CliError('USAGE', 'Say who logs in: holdfast login <user>', {
      next: [{ command: 'holdfast account list', why: 'see the accounts of this device' }]
    })
  }
  const account = session.useAccount(
    await logInAs(session, context, targetOf(context, { username: name }, name))
  )
  const { username } = account
  writeCurrentAccount(session.paths.session, {
    loginId: account.id,
    ...(username === undefined ? {} : { username })
  })
  const walletCount = account.listWallets().filter(({ deleted }) => !deleted).length
  return {
    data: { loginId: account.id, username: username ?? null, walletCount },
    view: {
      kind: 'record',
      fields: [
        ['account', username ?? account.id],
        ['wallets', String(walletCount)]
      ]
    }
  }
}
