import type { Account } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { readCurrentAccount, rememberAccount } from '../profile/current-account.ts'
import { logInAs } from '../session/log-in.ts'
import { targetOf } from '../session/login-target.ts'
import type { Session } from '../session.ts'

/** Verifies a secret of an account, or has another device approve this one, and makes the account the current one. */
export const login: CommandRun = async (session, user) => {
  if (session.text('with') === 'edge') {
    if (user !== undefined) {
      throw new CliError('USAGE', 'The device that approves says who logs in', {
        hint: 'Leave the username out.'
      })
    }
    const { loginByApproval } = await import('./login-by-approval.ts')
    return loginByApproval(session)
  }
  return loggedIn(session, await logInWithSecret(session, user))
}

const logInWithSecret = async (session: Session, user: string | undefined): Promise<Account> => {
  const context = await session.context()
  const current = readCurrentAccount(session.paths.session)
  const name = user ?? session.globals.account ?? current?.username ?? current?.loginId
  if (name === undefined) {
    throw new CliError('USAGE', 'Say who logs in: holdfast login <user>', {
      next: [
        { command: 'holdfast account list', why: 'see the accounts of this device' },
        { command: 'holdfast login --with edge', why: 'have a device that is logged in approve this one' }
      ]
    })
  }
  return logInAs(session, context, targetOf(context, { username: name }, name))
}

const loggedIn = (session: Session, account: Account): CommandResult => {
  session.adoptAccount(account)
  rememberAccount(session.paths.session, account)
  const { id, username, loginMethod } = account
  const walletCount = account.listWallets().filter(({ deleted }) => !deleted).length
  return {
    data: { loginId: id, username: username ?? null, method: loginMethod, walletCount },
    view: {
      kind: 'record',
      fields: [
        ['account', username ?? id],
        ['logged in by', loginMethod],
        ['wallets', String(walletCount)]
      ]
    }
  }
}
