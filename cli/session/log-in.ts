import {
  type Account,
  type Context,
  compact,
  isWalletError,
  type LocalUser,
  type LoginHelp,
  type UserName,
  type WalletError
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { failureOf } from '../errors/failure.ts'
import type { GlobalOptions } from '../grammar/options.ts'
import type { ProfilePaths } from '../profile/paths.ts'
import { readCurrentAccount } from '../profile/state-files.ts'
import { parseAnswers, type SecretName } from '../secrets/secret-sources.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { StatusLine } from '../terminal/status-line.ts'

/** Finds the user of `--account`, or of the current account. @throws CliError NOT_LOGGED_IN */
export const findTarget = ({ globals, paths }: LoginSession, context: Context): LoginTarget => {
  const current = readCurrentAccount(paths.session)
  const named = globals.account
  if (named !== undefined) return targetOf(context, { username: named }, named)
  if (current === undefined) throw notLoggedIn()
  return targetOf(context, { loginId: current.loginId }, current.username)
}

/** Logs in to an account with the secret of a flag, or with a typed one. */
export const logInAs = async (
  session: LoginSession,
  context: Context,
  target: LoginTarget
): Promise<Account> => logInBy(await chooseMethod(session, target), { session, context, target })

/** Logs in to an account by one method, prompting for missing secrets. */
export const logInBy = async (method: SecretMethod, attempt: LoginAttempt): Promise<Account> =>
  loginWithSecondFactor(attempt.session, await prepareLogin(method, attempt))

const notLoggedIn = (): CliError =>
  new CliError('NOT_LOGGED_IN', 'No account is logged in on this profile', {
    next: [
      { command: 'holdfast login <user>', why: 'log in to an account' },
      { command: 'holdfast account create <user>', why: 'create an account' }
    ]
  })

/** The parts of a session that a login needs. */
interface LoginSession {
  readonly globals: GlobalOptions
  readonly paths: ProfilePaths
  readonly secrets: Secrets
  readonly statusLine: StatusLine
  text(flag: string): string | undefined
  withTimeout<T>(what: string, call: () => Promise<T>): Promise<T>
}

/** The user of a login, as far as this device knows it. */
export interface LoginTarget {
  readonly user: UserName
  readonly local: LocalUser | undefined
  /** The name for display. */
  readonly name: string
}

/** Finds the user on this device; an unknown user can still log in by name. */
export const targetOf = (context: Context, user: UserName, name: string | undefined): LoginTarget => {
  const local = context.localUsers.find(known =>
    'loginId' in user
      ? known.loginId === user.loginId
      : known.loginId === user.username || known.username === user.username.trim().toLowerCase()
  )
  if (local === undefined) return { user, local, name: name ?? 'the account' }
  return { user: { loginId: local.loginId }, local, name: local.username ?? name ?? local.loginId }
}

/** Returns the username on the server. */
export const usernameOf = ({ user, local, name }: LoginTarget): string =>
  local?.username ?? ('username' in user ? user.username : name)

/** A login method that needs a secret; an edge login needs none. */
export type SecretMethod = 'key' | 'password' | 'pin' | 'recovery'

/**
 * Chooses the login method: that of `--with`, else the one of the secret that a flag brings, else the PIN if this device
 * has one, else the password, or the login key for an account without a name.
 *
 * @throws CliError PROMPT_IMPOSSIBLE without a secret or a prompt
 */
export const chooseMethod = async (session: LoginSession, target: LoginTarget): Promise<SecretMethod> => {
  const requested = session.text('with')
  if (requested !== undefined) return requested as SecretMethod
  const { secrets } = session
  const given = await methodBySecret(secrets)
  if (given !== undefined) return given
  const { local } = target
  const isLight = local !== undefined && local.username === undefined
  const hasPin = local?.isPinLoginEnabled === true
  if (!secrets.canPrompt) {
    throw secrets.promptImpossible(
      ...(hasPin ? (['pin'] as const) : []),
      ...(isLight ? (['login-key'] as const) : (['password'] as const))
    )
  }
  if (hasPin) return 'pin'
  return isLight ? 'key' : 'password'
}

/** Returns the method of the first secret that a flag brings. */
export const methodBySecret = async (secrets: Secrets): Promise<SecretMethod | undefined> => {
  for (const [name, method] of BY_SECRET) if ((await secrets.given(name)) !== undefined) return method
  return undefined
}

const BY_SECRET: readonly (readonly [SecretName, SecretMethod])[] = [
  ['password', 'password'],
  ['pin', 'pin'],
  ['login-key', 'key'],
  ['recovery-key', 'recovery'],
  ['answers', 'recovery']
]

/** A login with its secrets; it can be retried with another code. */
type PreparedLogin = (help: LoginHelp) => Promise<Account>

/** The session, context and user of one login. */
interface LoginAttempt {
  readonly session: LoginSession
  readonly context: Context
  readonly target: LoginTarget
}

/**
 * Collects the secrets of one method, prompting for those that no flag brings.
 *
 * @throws CliError PROMPT_IMPOSSIBLE, INTERRUPTED
 */
export const prepareLogin = (method: SecretMethod, attempt: LoginAttempt): Promise<PreparedLogin> =>
  methods[method](attempt)

const byPassword = async (attempt: LoginAttempt): Promise<PreparedLogin> => {
  const { context, target } = attempt
  const password = await secretOf(attempt, 'password', `Password of ${target.name}:`)
  return help => context.loginWithPassword(usernameOf(target), password, help)
}

const byPin = async (attempt: LoginAttempt): Promise<PreparedLogin> => {
  const { session, context, target } = attempt
  // Only if no method was chosen may the user switch to the password.
  const mayTurn = session.text('with') === undefined && target.local?.username !== undefined
  const note = mayTurn ? ' (empty: use the password)' : ''
  const pin = await secretOf(attempt, 'pin', `PIN of ${target.name}${note}:`)
  if (pin === '' && mayTurn) return byPassword(attempt)
  return help => context.loginWithPIN(target.user, pin, help)
}

const byRecovery = async (attempt: LoginAttempt): Promise<PreparedLogin> => {
  const { session, context, target } = attempt
  const username = usernameOf(target)
  const key =
    (await session.secrets.given('recovery-key')) ??
    target.local?.recovery2Key ??
    (await secretOf(attempt, 'recovery-key', `Recovery key of ${target.name}:`))
  const answers = await answersOf(attempt, key)
  return help => context.loginWithRecovery2(key, username, answers, help)
}

const byKey = async (attempt: LoginAttempt): Promise<PreparedLogin> => {
  const { context, target } = attempt
  const key = await secretOf(attempt, 'login-key', `Login key of ${target.name}:`)
  return () => context.loginWithKey(target.user, key)
}

const methods: { readonly [M in SecretMethod]: (attempt: LoginAttempt) => Promise<PreparedLogin> } = {
  key: byKey,
  password: byPassword,
  pin: byPin,
  recovery: byRecovery
}

const secretOf = async ({ session }: LoginAttempt, name: SecretName, message: string): Promise<string> =>
  (await session.secrets.given(name)) ?? session.secrets.prompt(name, { message })

/** Returns the answers to the account's questions, which the server gives to an owner of the recovery key. */
const answersOf = async (
  { session, context, target }: LoginAttempt,
  key: string
): Promise<readonly string[]> => {
  const { secrets, statusLine } = session
  const given = await secrets.given('answers')
  if (given !== undefined) return parseAnswers(given)
  if (!secrets.canPrompt) throw secrets.promptImpossible('answers')
  statusLine.step('fetching the questions…')
  const questions = await session.withTimeout('Fetching the questions', () =>
    context.fetchRecovery2Questions(key, usernameOf(target))
  )
  statusLine.clear()
  if (questions.length === 0) throw new CliError('NOT_FOUND', 'This account has no recovery questions')
  const answers: string[] = []
  for (const question of questions) answers.push(await secrets.prompt('answers', { message: question }))
  return answers
}

/**
 * Logs in with the code, key and challenge of the flags; if a code is required, prompts for it until it is right or left
 * empty.
 *
 * @throws OTP with the ways forward, CHALLENGE, and the errors of a login
 */
const loginWithSecondFactor = async (session: LoginSession, login: PreparedLogin): Promise<Account> => {
  const { secrets, statusLine } = session
  let help = await readLoginHelp(session)
  for (;;) {
    try {
      return await tryLogin(session, () => login(help))
    } catch (error) {
      if (!isWalletError(error, 'OTP') || !secrets.canPrompt) throw error
      explainSecondFactor(session, error)
      const otp = await secrets.prompt('otp', { message: 'Six-digit code (empty: stop):', check: checkCode })
      if (otp === '') throw error
      help = { ...help, otp }
      statusLine.clear()
    }
  }
}

const readLoginHelp = async (session: LoginSession): Promise<LoginHelp> => {
  const [otp, otpKey] = [await session.secrets.given('otp'), await session.secrets.given('otp-key')]
  const challengeId = session.text('challengeId')
  return {
    ...compact({ otp, otpKey, challengeId })
  }
}

const explainSecondFactor = ({ statusLine }: LoginSession, error: WalletError<'OTP'>): void => {
  const { message, hint } = failureOf(error)
  statusLine.info(`${message}. ${hint ?? ''}`)
}

const checkCode = (text: string): string | undefined =>
  text === '' || /^\d{6}$/.test(text) ? undefined : 'Type six digits, or nothing'

const tryLogin = async (session: LoginSession, login: () => Promise<Account>): Promise<Account> => {
  session.statusLine.step('logging in…')
  try {
    return await session.withTimeout('Logging in', login)
  } finally {
    session.statusLine.clear()
  }
}
