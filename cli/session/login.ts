import {
  type Account,
  type Context,
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
import type { Talk } from '../terminal/status-line.ts'

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

/** What a login needs of the session it is part of. */
interface LoginParts {
  readonly globals: GlobalOptions
  readonly paths: ProfilePaths
  readonly secrets: Secrets
  readonly talk: Talk
  text(flag: string): string | undefined
  within<T>(what: string, call: () => Promise<T>): Promise<T>
}

/** Who is to log in, as far as this device knows them. */
export interface LoginTarget {
  readonly user: UserName
  readonly local: LocalUser | undefined
  /** For people. */
  readonly name: string
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

/** The name that the server knows a user by. */
export const usernameOf = ({ user, local, name }: LoginTarget): string =>
  local?.username ?? ('username' in user ? user.username : name)

/** A way to log in that a secret opens; an edge login is one of its own. */
export type SecretMethod = 'key' | 'password' | 'pin' | 'recovery'

/**
 * Chooses how to log in: as `--with` says, else by the secret that a flag brings, else by the PIN where this device
 * has one, else by the password, or by the login key of an account that has no name.
 *
 * @throws CliError PROMPT_IMPOSSIBLE if no secret came and nobody can be asked
 */
export const chooseMethod = async (session: LoginParts, target: LoginTarget): Promise<SecretMethod> => {
  const asked = session.text('with')
  if (asked !== undefined) return asked as SecretMethod
  const { secrets } = session
  const given = await methodBySecret(secrets)
  if (given !== undefined) return given
  const { local } = target
  const isLight = local !== undefined && local.username === undefined
  const hasPin = local?.isPinLoginEnabled === true
  if (!secrets.canAsk) {
    throw secrets.impossible(
      ...(hasPin ? (['pin'] as const) : []),
      ...(isLight ? (['login-key'] as const) : (['password'] as const))
    )
  }
  if (hasPin) return 'pin'
  return isLight ? 'key' : 'password'
}

/** The method of the first secret that a flag brings. */
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

/** A login with its secrets at hand; it can be tried again with another code. */
type PreparedLogin = (help: LoginHelp) => Promise<Account>

/** What a login is about. */
interface LoginScene {
  readonly session: LoginParts
  readonly context: Context
  readonly target: LoginTarget
}

/** Gathers the secrets of one method, asking for what no flag brings. @throws CliError PROMPT_IMPOSSIBLE, INTERRUPTED */
export const prepareLogin = (method: SecretMethod, scene: LoginScene): Promise<PreparedLogin> =>
  methods[method](scene)

const byPassword = async (scene: LoginScene): Promise<PreparedLogin> => {
  const { context, target } = scene
  const password = await secretOf(scene, 'password', `Password of ${target.name}:`)
  return help => context.loginWithPassword(usernameOf(target), password, help)
}

const byPin = async (scene: LoginScene): Promise<PreparedLogin> => {
  const { session, context, target } = scene
  // Only where the method was not asked for may the person turn to another one.
  const mayTurn = session.text('with') === undefined && target.local?.username !== undefined
  const note = mayTurn ? ' (empty: use the password)' : ''
  const pin = await secretOf(scene, 'pin', `PIN of ${target.name}${note}:`)
  if (pin === '' && mayTurn) return byPassword(scene)
  return help => context.loginWithPIN(target.user, pin, help)
}

const byRecovery = async (scene: LoginScene): Promise<PreparedLogin> => {
  const { session, context, target } = scene
  const username = usernameOf(target)
  const key =
    (await session.secrets.given('recovery-key')) ??
    target.local?.recovery2Key ??
    (await secretOf(scene, 'recovery-key', `Recovery key of ${target.name}:`))
  const answers = await answersOf(scene, key)
  return help => context.loginWithRecovery2(key, username, answers, help)
}

const byKey = async (scene: LoginScene): Promise<PreparedLogin> => {
  const { context, target } = scene
  const key = await secretOf(scene, 'login-key', `Login key of ${target.name}:`)
  return () => context.loginWithKey(target.user, key)
}

const methods: { readonly [M in SecretMethod]: (scene: LoginScene) => Promise<PreparedLogin> } = {
  key: byKey,
  password: byPassword,
  pin: byPin,
  recovery: byRecovery
}

const secretOf = async ({ session }: LoginScene, name: SecretName, message: string): Promise<string> =>
  (await session.secrets.given(name)) ?? session.secrets.ask(name, { message })

/** The answers to the account's own questions, which the server gives to whoever has the recovery key. */
const answersOf = async (
  { session, context, target }: LoginScene,
  key: string
): Promise<readonly string[]> => {
  const { secrets, talk } = session
  const given = await secrets.given('answers')
  if (given !== undefined) return parseAnswers(given)
  if (!secrets.canAsk) throw secrets.impossible('answers')
  talk.step('fetching the questions…')
  const questions = await session.within('Fetching the questions', () =>
    context.fetchRecovery2Questions(key, usernameOf(target))
  )
  talk.clear()
  if (questions.length === 0) throw new CliError('NOT_FOUND', 'This account has no recovery questions')
  const answers: string[] = []
  for (const question of questions) answers.push(await secrets.ask('answers', { message: question }))
  return answers
}

/**
 * Tries a login with the code, key and challenge that flags bring; where a code is wanted and somebody can be asked,
 * asks until it is right or left empty.
 *
 * @throws OTP with the ways forward, CHALLENGE, and the errors of a login
 */
const pastSecondFactor = async (session: LoginParts, login: PreparedLogin): Promise<Account> => {
  const { secrets, talk } = session
  let help = await helpOf(session)
  for (;;) {
    try {
      return await waiting(session, () => login(help))
    } catch (error) {
      if (!isWalletError(error, 'OTP') || !secrets.canAsk) throw error
      tell(session, error)
      const otp = await secrets.ask('otp', { message: 'Six-digit code (empty: stop):', check: checkCode })
      if (otp === '') throw error
      help = { ...help, otp }
      talk.clear()
    }
  }
}

const helpOf = async (session: LoginParts): Promise<LoginHelp> => {
  const [otp, otpKey] = [await session.secrets.given('otp'), await session.secrets.given('otp-key')]
  const challengeId = session.text('challengeId')
  return {
    ...(otp === undefined ? {} : { otp }),
    ...(otpKey === undefined ? {} : { otpKey }),
    ...(challengeId === undefined ? {} : { challengeId })
  }
}

const tell = ({ talk }: LoginParts, error: WalletError<'OTP'>): void => {
  const { message, hint } = failureOf(error)
  talk.say(`${message}. ${hint ?? ''}`)
}

const checkCode = (text: string): string | undefined =>
  text === '' || /^\d{6}$/.test(text) ? undefined : 'Type six digits, or nothing'

const waiting = async (session: LoginParts, login: () => Promise<Account>): Promise<Account> => {
  session.talk.step('logging in…')
  try {
    return await session.within('Logging in', login)
  } finally {
    session.talk.clear()
  }
}
