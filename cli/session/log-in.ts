import {
  type Account,
  type Context,
  type LocalUser,
  type LoginHelp,
  type UserName,
  WalletError
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { GlobalOptions } from '../grammar/global-options.ts'
import { readCurrentAccount } from '../profile/current-account.ts'
import type { ProfilePaths } from '../profile/paths.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Talk } from '../talk.ts'

/** What a login needs of the session it is part of. */
export interface LoginParts {
  readonly globals: GlobalOptions
  readonly paths: ProfilePaths
  readonly secrets: Secrets
  readonly talk: Talk
  within<T>(what: string, call: () => Promise<T>): Promise<T>
}

/** Who is to log in, as far as this device knows them. */
export interface LoginTarget {
  readonly user: UserName
  readonly local: LocalUser | undefined
  /** For people. */
  readonly name: string
}

/**
 * Logs the account of `--account`, or the current one, in.
 *
 * @throws CliError NOT_LOGGED_IN, PROMPT_IMPOSSIBLE; PASSWORD and the other errors of a login
 */
export const logIn = async (session: LoginParts, context: Context): Promise<Account> => {
  const current = readCurrentAccount(session.paths.session)
  const named = session.globals.account
  if (named === undefined && current === undefined) throw notLoggedIn()
  const target =
    named === undefined && current !== undefined
      ? targetOf(context, { loginId: current.loginId }, current.username)
      : targetOf(context, { username: named ?? '' }, named)
  return logInAs(session, context, target)
}

/** Logs one account in, with the secret that a flag brings, or the one that a person types. */
export const logInAs = async (
  session: LoginParts,
  context: Context,
  target: LoginTarget
): Promise<Account> => {
  const { secrets } = session
  const otp = await secrets.given('otp')
  const help: LoginHelp = otp === undefined ? {} : { otp }
  const byPin = (pin: string): Promise<Account> =>
    waiting(session, () => context.loginWithPIN(target.user, pin, help))
  const byPassword = (password: string): Promise<Account> =>
    waiting(session, () => context.loginWithPassword(usernameOf(target), password, help))

  const password = await secrets.given('password')
  if (password !== undefined) return byPassword(password)
  const pin = await secrets.given('pin')
  if (pin !== undefined) return byPin(pin)
  const hasPin = target.local?.isPinLoginEnabled === true
  const isLight = target.local !== undefined && target.local.username === undefined
  if (!secrets.canAsk) {
    throw secrets.impossible(
      ...(hasPin ? (['pin'] as const) : []),
      ...(isLight ? [] : (['password'] as const))
    )
  }
  if (hasPin) {
    const message = isLight ? `PIN of ${target.name}:` : `PIN of ${target.name} (empty: use the password):`
    const typed = await secrets.ask('pin', { message })
    if (typed !== '' || isLight) return byPin(typed)
  }
  if (isLight) throw new WalletError('PIN_NOT_ENABLED', {})
  return byPassword(await secrets.ask('password', { message: `Password of ${target.name}:` }))
}

/** Finds the user on this device; one that it does not know can still log in by name. */
export const targetOf = (context: Context, user: UserName, name: string | undefined): LoginTarget => {
  const local = context.localUsers.find(known =>
    'loginId' in user
      ? known.loginId === user.loginId
      : known.loginId === user.username || known.username === user.username.trim().toLowerCase()
  )
  if (local === undefined) return { user, local, name: name ?? 'the account' }
  return { user: { loginId: local.loginId }, local, name: local.username ?? name ?? local.loginId }
}

const usernameOf = ({ user, local, name }: LoginTarget): string =>
  local?.username ?? ('username' in user ? user.username : name)

const waiting = async (session: LoginParts, login: () => Promise<Account>): Promise<Account> => {
  session.talk.step('logging in…')
  try {
    return await session.within('Logging in', login)
  } finally {
    session.talk.clear()
  }
}

const notLoggedIn = (): CliError =>
  new CliError('NOT_LOGGED_IN', 'No account is logged in on this profile', {
    next: [
      { command: 'holdfast login <user>', why: 'log in to an account' },
      { command: 'holdfast account create <user>', why: 'make a new account' }
    ]
  })
