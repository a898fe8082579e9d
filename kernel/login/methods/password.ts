import { failureLine, isWalletError, WalletError } from '../../base/errors.ts'
import { Secret } from '../../base/secret.ts'
import { openBox } from '../../crypto/box.ts'
import { equalBytes, isWellFormed, utf8Of } from '../../crypto/encoding.ts'
import type { Io } from '../../io/io.ts'
import type { LoginId, Username } from '../../types/ids.ts'
import type { Box, Snrp } from '../../types/keys.ts'
import type { LoginStash, LoginTree } from '../../types/login.ts'
import { normalizeUsername, passwordAuthOf, passwordKeyOf, userIdOf } from '../derive.ts'
import { Login } from '../login.ts'
import {
  type Attempt,
  fetchLogin,
  type LoginOptions,
  type LoginServices,
  runAttempt,
  saveLogin,
  saveLoginDate
} from '../online.ts'
import type { ServerServices } from '../server.ts'
import { makeEmptyStash } from '../stash.ts'
import type { Stashes } from '../stashes.ts'

/** A username and password as typed. */
export interface PasswordLoginOptions extends LoginOptions {
  readonly username: string
  readonly password: string
}

/**
 * Logs in by password: from the stash of this device without a request, else on the server (protocol §4.5).
 *
 * A login from the stash is refreshed in the background. For an account of this device only no server is ever asked: a
 * password that does not open it is wrong.
 *
 * @throws USERNAME_REQUIRED, BAD_USERNAME, PASSWORD, ACCOUNT_NOT_FOUND, OTP, CHALLENGE, NETWORK
 * @throws LOGIN_DATA_MISSING if the server keeps back the box that the password opens
 */
export const loginWithPassword = (
  services: LoginServices,
  stashes: Stashes,
  options: PasswordLoginOptions
): Promise<Login> => {
  const password = new Secret(options.password)
  const { username, otp, otpKey, challengeId, now } = options
  return runAttempt(services, 'password', async ({ stage, secrets }) => {
    try {
      const name = checkOptions(username, password)
      const stash = stashes.find({ username: name }) ?? makeEmptyStash(name)
      stage('deriving')
      const derived = startDeriving(services.io, { username: name, password, snrp: stash.passwordKeySnrp })
      const attempt: PasswordAttempt = { services, stashes, secrets, stash, derived, stage }
      return (
        (await openOffline(attempt, now)) ?? (await openOnline(attempt, { otp, otpKey, challengeId, now }))
      )
    } finally {
      password.destroy()
    }
  })
}

interface PasswordAttempt extends Attempt {
  readonly services: LoginServices
  readonly stashes: Stashes
  readonly stash: LoginStash
  readonly derived: Derived
}

/** The values derived from name and password. The key of a box is asked for by the box's parameters. */
interface Derived {
  userId(): Promise<Uint8Array>
  passwordAuth(): Promise<Uint8Array>
  keyOf(snrp: Snrp): Promise<Uint8Array>
}

interface DeriveInput {
  readonly username: string
  readonly password: Secret<string>
  readonly snrp: Snrp | undefined
}

const checkOptions = (username: string, password: Secret<string>): Username => {
  const name = normalizeUsername(username)
  if (name === '') throw new WalletError('USERNAME_REQUIRED', {})
  try {
    password.use(utf8Of).fill(0)
  } catch {
    throw new WalletError('PASSWORD', {})
  }
  return name
}

/**
 * On a new device everything starts at once: scrypt runs beside the thread, so the longest alone is waited for.
 * If the stash has a password, the values that only the server needs are derived when the server is asked.
 */
const startDeriving = (io: Io, { username, password, snrp }: DeriveInput): Derived => {
  const keys = new Map<string, Promise<Uint8Array>>()
  const keyOf = (wanted: Snrp): Promise<Uint8Array> => {
    const name = `${wanted.n} ${wanted.r} ${wanted.p} ${wanted.salt_hex}`
    const known = keys.get(name)
    if (known !== undefined) return known
    const job = password.use(text => passwordKeyOf(io, { username, password: text }, wanted))
    keys.set(name, quiet(job))
    return job
  }
  const userId = once(() => quiet(userIdOf(io, username)))
  const passwordAuth = once(() =>
    quiet(password.use(text => passwordAuthOf(io, { username, password: text })))
  )
  if (snrp === undefined) {
    void userId()
    void passwordAuth()
  } else keyOf(snrp)
  return { userId, passwordAuth, keyOf }
}

const once = <T>(start: () => T): (() => T) => {
  let started: { readonly value: T } | undefined
  return () => {
    started ??= { value: start() }
    return started.value
  }
}

/** A job that may fail before anybody waits for it. */
const quiet = <T>(job: Promise<T>): Promise<T> => {
  job.catch(() => {})
  return job
}

/** The account as this device has it; whatever goes wrong here, the server is asked if it knows the account (protocol §4.5). */
const openOffline = async (attempt: PasswordAttempt, now: Date | undefined): Promise<Login | undefined> => {
  const { services, stashes, secrets, stash, stage } = attempt
  const { passwordBox, passwordKeySnrp, loginId } = stash
  let login: Login
  try {
    if (passwordBox === undefined || passwordKeySnrp === undefined) {
      throw new WalletError('LOGIN_DATA_MISSING', { method: 'offline password' })
    }
    const loginKey = secrets.add(await openLoginKey(attempt, passwordBox, passwordKeySnrp))
    stage('opening')
    login = new Login(services, stashes, { rootId: loginId, loginId, loginKey, secrets, isCurrent: false })
  } catch (error) {
    // Its proof would tell a server which password was tried.
    if (stash.deviceOnly !== undefined) throw offlineFailureOf(error)
    if (loginId !== '')
      services
        .logOf('login')
        .info(failureLine('Could not log in offline, so the login server is asked', error))
    return undefined
  }
  await saveLoginDate(services, stashes, { rootId: loginId, now })
  await sealOtpKeysWithPassword(attempt, loginId)
  login.refreshInBackground()
  return login
}

const offlineFailureOf = (error: unknown): unknown =>
  isWalletError(error, 'INVALID_CHECKSUM') ? new WalletError('PASSWORD', {}, error) : error

/**
 * Lets the password open what this device keeps of two-factor, also where a reply took its box away. The login stands if
 * that fails: another one may have changed the password since.
 */
const sealOtpKeysWithPassword = async (
  { services, stashes, derived }: PasswordAttempt,
  rootId: LoginId
): Promise<void> => {
  const { passwordBox, passwordKeySnrp: snrp } = stashes.get(rootId) ?? {}
  if (passwordBox === undefined || snrp === undefined) return
  try {
    const key = await derived.keyOf(snrp)
    const loginKey = openBox(services.io, key, passwordBox)
    await stashes.otpKeys.savePassword({ rootId, loginId: rootId }, loginKey, { snrp, key })
    loginKey.fill(0)
  } catch (error) {
    services.report('two-factor keys', error)
  }
}

const openOnline = async (attempt: PasswordAttempt, options: LoginOptions): Promise<Login> => {
  const { services, stashes, secrets, stash, derived, stage } = attempt
  const [userId, passwordAuth] = await Promise.all([derived.userId(), derived.passwordAuth()])
  stage('asking')
  const fetched = await fetchLogin(services, stashes, {
    ...options,
    ...{ stash, node: stash, secrets },
    credentials: { userId, passwordAuth },
    openers: { passwordKeyOf: derived.keyOf }
  })
  const { passwordBox, passwordKeySnrp } = fetched.payload
  if (passwordBox === undefined || passwordBox === true || passwordKeySnrp === undefined) {
    throw new WalletError('LOGIN_DATA_MISSING', { method: 'online password' })
  }
  const loginKey = secrets.add(await openLoginKey(attempt, passwordBox, passwordKeySnrp))
  const opened = await saveLogin(services, stashes, fetched, loginKey)
  stage('opening')
  await sealOtpKeysWithPassword(attempt, opened.rootId)
  return new Login(services, stashes, opened)
}

const openLoginKey = async (
  { services, derived }: PasswordAttempt,
  box: Box,
  snrp: Snrp
): Promise<Secret<Uint8Array>> => new Secret(openBox(services.io, await derived.keyOf(snrp), box))

/** Checks if this is the password of a login, without asking the server (protocol §4.8). */
export const isPassword = async (
  { io }: Pick<ServerServices, 'io'>,
  { isRoot, username, passwordAuth }: LoginTree,
  password: string
): Promise<boolean> => {
  if (!isRoot || username === undefined || passwordAuth === undefined || !isWellFormed(password)) return false
  const given = await passwordAuthOf(io, { username, password })
  try {
    return passwordAuth.use(known => equalBytes(known, given))
  } finally {
    given.fill(0)
  }
}

/** The rules that a password breaks, and the time that guessing it would take. */
export interface PasswordRules {
  /** An estimate for a guesser who tries a million passwords a second. */
  readonly secondsToCrack: number
  /** Under 10 characters. */
  readonly tooShort: boolean
  readonly noNumber: boolean
  readonly noLowerCase: boolean
  readonly noUpperCase: boolean
  /** Good enough: nothing is lacking, or it has 16 characters or more. */
  readonly passed: boolean
}

/** Judges a password (specification §5, §9; pure; vectors `password-rules`). Only advice: no call refuses a weak one. */
export const checkPasswordRules = (password: string): PasswordRules => {
  const has = (letters: RegExp): boolean => letters.test(password)
  const tooShort = password.length < SHORTEST
  const noNumber = !has(/[0-9]/)
  const noLowerCase = !has(/[a-z]/)
  const noUpperCase = !has(/[A-Z]/)
  const isFlawless = !(tooShort || noNumber || noLowerCase || noUpperCase)
  return {
    secondsToCrack: secondsToCrack(password),
    tooShort,
    noNumber,
    noLowerCase,
    noUpperCase,
    passed: isFlawless || password.length >= LONG_ENOUGH
  }
}

const SHORTEST = 10
const LONG_ENOUGH = 16
const GUESSES_PER_SECOND = 1e6

const CLASSES: readonly { readonly letters: RegExp; readonly count: number }[] = [
  { letters: /[0-9]/, count: 10 },
  { letters: /[a-z]/, count: 26 },
  { letters: /[A-Z]/, count: 26 },
  // As many as the deployed system counts.
  { letters: /[^0-9a-zA-Z]/, count: 30 }
]

const secondsToCrack = (password: string): number => {
  const alphabet = CLASSES.reduce((sum, { letters, count }) => sum + (letters.test(password) ? count : 0), 0)
  // Infinity is no JSON.
  return Math.min(alphabet ** password.length / GUESSES_PER_SECOND, Number.MAX_VALUE)
}
