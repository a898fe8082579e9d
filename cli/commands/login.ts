import type { Account } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { readCurrentAccount, rememberAccount } from '../profile/current-account.ts'
import { chooseMethod, methodBySecret } from '../session/choose-method.ts'
import { logInBy } from '../session/log-in.ts'
import { targetOf } from '../session/login-target.ts'
import { offerMethods, offerUsers } from '../session/offer-methods.ts'
import type { Session } from '../session.ts'

/** Verifies a secret of an account, or has another device approve this one, and makes the account the current one. */
export const login: CommandRun = async (session, user) => {
  const wanted = session.text('with')
  if (wanted === 'edge' && user !== undefined) {
    throw new CliError('USAGE', 'The device that approves says who logs in', {
      hint: 'Leave the username out.'
    })
  }
  if (wanted === 'edge') return byApproval(session)
  const context = await session.context()
  const name = await nameOfUser(session, user)
  const target = targetOf(context, { username: name }, name)
  const isFree = session.secrets.canAsk && wanted === undefined
  const isOpen = isFree && (await methodBySecret(session.secrets)) === undefined
  const method = isOpen ? await offerMethods(session, target) : await chooseMethod(session, target)
  if (method === 'edge') return byApproval(session)
  return loggedIn(session, await logInBy(method, { session, context, target }))
}

const byApproval = async (session: Session): Promise<CommandResult | undefined> => {
  const { loginByApproval } = await import('./login-by-approval.ts')
  return loginByApproval(session)
}

const nameOfUser = async (session: Session, user: string | undefined): Promise<string> => {
  const current = readCurrentAccount(session.paths.session)
  const name = user ?? session.globals.account ?? current?.username ?? current?.loginId
  if (name !== undefined) return name
  if (session.secrets.canAsk) return offerUsers(session, await session.context())
  throw new CliError('USAGE', 'Say who logs in: holdfast login <user>', {
    next: [
      { command: 'holdfast account list', why: 'see the accounts of this device' },
      { command: 'holdfast login --with edge', why: 'have a device that is logged in approve this one' }
    ]
  })
}

const loggedIn = (session: Session, account: Account): CommandResult => {
  session.adoptAccount(account)
  rememberAccount(session.paths.session, account)
  const { id, username, loginMethod } = account
  const walletCount = account.listWallets().filter(({ isWallet, deleted }) => isWallet && !deleted).length
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
