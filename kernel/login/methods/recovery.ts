import { WalletError } from '../../base/errors.ts'
import { Secret } from '../../base/secret.ts'
import { openBox, openJson } from '../../crypto/box.ts'
import { parseBase58 } from '../../crypto/encoding.ts'
import { parseQuestionBox, parseQuestionChoices, parseQuestions } from '../../schema/login.ts'
import type { Username } from '../../types/ids.ts'
import type { RecoveryQuestionChoice } from '../../types/login.ts'
import { checkTexts, RECOVERY } from '../changes.ts'
import { normalizeUsername, recovery2AuthOf, recovery2IdOf } from '../derive.ts'
import { Login } from '../login.ts'
import { fetchLogin, type LoginOptions, type LoginServices, runAttempt, saveLogin } from '../online.ts'
import { encodeLoginRequest, loginFetch, type ServerServices } from '../server.ts'
import { makeEmptyStash } from '../stash.ts'
import type { Stashes } from '../stashes.ts'

/** Whose recovery it is. */
export interface RecoveryUser {
  /** Base58 of 32 bytes. A secret. */
  readonly recoveryKey: string
  /** As typed. */
  readonly username: string
}

/** The recovery key, the username and the answers as typed, in the order of the questions. */
export interface RecoveryLoginOptions extends RecoveryUser, LoginOptions {
  readonly answers: readonly string[]
}

/**
 * Logs in by recovery answers, on the server, also on a device that never saw the account (protocol §4.5).
 *
 * @throws RECOVERY_USERNAME_REQUIRED, BAD_USERNAME, OPTION_INVALID
 * @throws PASSWORD for wrong answers; ACCOUNT_NOT_FOUND for a key that is not of this username
 * @throws DEVICE_ONLY if an account of this device only has the username
 * @throws OTP, CHALLENGE, NETWORK, LOGIN_DATA_MISSING if the server keeps back the box that the key opens
 */
export const loginWithRecovery = (
  services: LoginServices,
  stashes: Stashes,
  { recoveryKey, username, answers: given, otp, otpKey, challengeId, now }: RecoveryLoginOptions
): Promise<Login> =>
  runAttempt(services, 'recovery', async ({ stage, secrets }) => {
    const { io } = services
    checkTexts('answers', given)
    const answers = new Secret<readonly string[]>([...given])
    try {
      const name = checkName(username)
      const key = secrets.add(parseRecoveryKey(recoveryKey))
      const stash = stashes.find({ username: name }) ?? makeEmptyStash(name)
      if (stash.deviceOnly !== undefined) throw new WalletError('DEVICE_ONLY', { what: RECOVERY })
      const credentials = {
        recovery2Id: key.use(bytes => recovery2IdOf(io, bytes, name)),
        recovery2Auth: key.use(bytes => answers.use(texts => recovery2AuthOf(io, bytes, texts)))
      }
      stage('asking')
      const fetched = await fetchLogin(services, stashes, {
        ...{ otp, otpKey, challengeId, now },
        ...{ stash, node: stash, credentials, secrets },
        openers: { recovery2Key: key.use(bytes => bytes.slice()) }
      })
      const { recovery2Box } = fetched.payload
      if (recovery2Box === undefined || recovery2Box === true) {
        throw new WalletError('LOGIN_DATA_MISSING', { method: 'recovery v2' })
      }
      const loginKey = secrets.add(new Secret(key.use(bytes => openBox(io, bytes, recovery2Box))))
      const opened = await saveLogin(services, stashes, fetched, loginKey)
      stage('opening')
      return new Login(services, stashes, opened)
    } finally {
      answers.destroy()
    }
  })

/**
 * Fetches the questions of an account (specification §7).
 *
 * @throws RECOVERY_USERNAME_REQUIRED, BAD_USERNAME, OPTION_INVALID, ACCOUNT_NOT_FOUND, NETWORK, BAD_REPLY
 * @throws RECOVERY_QUESTIONS_MISSING if the account has none
 */
export const fetchRecoveryQuestions = async (
  services: ServerServices,
  { recoveryKey, username }: RecoveryUser
): Promise<readonly string[]> => {
  const { io } = services
  const name = checkName(username)
  const key = parseRecoveryKey(recoveryKey)
  try {
    const recovery2Id = key.use(bytes => recovery2IdOf(io, bytes, name))
    const results = await loginFetch(services, 'POST', '/v2/login', encodeLoginRequest(io, { recovery2Id }))
    const box = parseQuestionBox(results)
    if (box === undefined) throw new WalletError('RECOVERY_QUESTIONS_MISSING', {})
    return parseQuestions(key.use(bytes => openJson(io, bytes, box)))
  } finally {
    key.destroy()
  }
}

/** Fetches the questions that the server suggests (specification §7). @throws NETWORK, BAD_REPLY */
export const listRecoveryQuestionChoices = async (
  services: ServerServices
): Promise<readonly RecoveryQuestionChoice[]> =>
  parseQuestionChoices(await loginFetch(services, 'POST', '/v1/questions', {}))

const checkName = (username: string): Username => {
  const name = normalizeUsername(username)
  if (name === '') throw new WalletError('RECOVERY_USERNAME_REQUIRED', {})
  return name
}

const parseRecoveryKey = (text: string): Secret<Uint8Array> => {
  try {
    const bytes = parseBase58(text)
    if (bytes.length === 32) return new Secret(bytes)
  } catch {
    // Reported below, without it.
  }
  throw new WalletError('OPTION_INVALID', { option: 'recoveryKey', rule: 'must be base58 of 32 bytes' })
}
