import type { Account, Context } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { readCurrentAccount } from '../profile/current-account.ts'
import { chooseMethod, type SecretMethod } from './choose-method.ts'
import { type LoginScene, prepareLogin } from './login-methods.ts'
import { type LoginParts, type LoginTarget, targetOf } from './login-target.ts'
import { pastSecondFactor } from './past-second-factor.ts'

/**
 * Logs the account of `--account`, or the current one, in.
 *
 * @throws CliError NOT_LOGGED_IN, PROMPT_IMPOSSIBLE; PASSWORD and the other errors of a login
 */
export const logIn = async (
  session: LoginParts,
  context: Context,
  wanted?: SecretMethod
): Promise<Account> => {
  const current = readCurrentAccount(session.paths.session)
  const named = session.globals.account
  if (named === undefined && current === undefined) throw notLoggedIn()
  const target =
    named === undefined && current !== undefined
      ? targetOf(context, { loginId: current.loginId }, current.username)
      : targetOf(context, { username: named ?? '' }, named)
  return logInBy(wanted ?? (await chooseMethod(session, target)), { session, context, target })
}

/** Logs one account in, with the secret that a flag brings, or the one that a person types. */
export const logInAs = async (session: LoginParts, context: Context, target: LoginTarget): Promise<Account> =>
  logInBy(await chooseMethod(session, target), { session, context, target })

/** Logs one account in by one method, asking for what no flag brings. */
export const logInBy = async (method: SecretMethod, scene: LoginScene): Promise<Account> =>
  pastSecondFactor(scene.session, await prepareLogin(method, scene))

const notLoggedIn = (): CliError =>
  new CliError('NOT_LOGGED_IN', 'No account is logged in on this profile', {
    next: [
      { command: 'holdfast login <user>', why: 'log in to an account' },
      { command: 'holdfast account create <user>', why: 'make a new account' }
    ]
  })
