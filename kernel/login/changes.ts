import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Secret } from '../base/secret.ts'
import { sealBox, sealJson, sealText } from '../crypto/box.ts'
import { base32Of, isWellFormed } from '../crypto/encoding.ts'
import { FIXED_SNRP, makeSnrp, type SnrpOptions } from '../crypto/key-derivation.ts'
import type { Io } from '../io/io.ts'
import type { LoginId, Username } from '../types/ids.ts'
import type { WalletInfo } from '../types/keys.ts'
import type { LoginTree } from '../types/login.ts'
import {
  passwordAuthOf,
  passwordKeyOf,
  pin2IdOf,
  recovery2AuthOf,
  recovery2IdOf,
  userIdOf
} from './derive.ts'
import type { LoginMethod } from './server.ts'
import type { StashPatch } from './stash.ts'
import { listTrees } from './tree.ts'
import { keepOrMakeKey } from './verified-keys.ts'

/**
 * One change of a login: what to send the server, and what the stash gains when the server agrees.
 *
 * `Login` is the only one who applies it: server, then stash, then memory (architecture 4.7).
 */
export interface LoginChange {
  /** Base64; the login that changes, whose credentials go with the request. */
  readonly loginId: LoginId
  readonly serverMethod: LoginMethod
  readonly serverPath: string
  /** The `data` of the request; some routes take none. */
  readonly serverBody?: JsonObject
  readonly stash: StashPatch
  /** The change of the stash before the request, for a change whose lost answer would lock the user out. */
  readonly intent?: StashPatch
  /** The refusal that says that the change was made before, perhaps by a request whose answer was lost. */
  readonly alreadyDoneCode?: 'CONFLICT'
  /** The server answers with the login as it is now, and that is kept, too (protocol §2.4). */
  readonly keepsReply?: boolean
}

type KeysIo = Pick<Io, 'crypto' | 'random'>

/** A login with its key, for sealing. */
export interface KeyedLogin {
  /** Base64. */
  readonly loginId: LoginId
  readonly loginKey: Uint8Array
}

/**
 * Attaches wallets and repos to a login, and has the server make their repos (protocol §2.4).
 *
 * @throws KEY_INTEGRITY if a `syncKey` is no base64 text
 */
export const walletInfosChange = (
  io: KeysIo,
  login: KeyedLogin,
  infos: readonly WalletInfo[]
): LoginChange => {
  const keyBoxes = infos.map(({ id, type, keys }) => sealJson(io, login.loginKey, { id, type, keys }))
  return {
    loginId: login.loginId,
    serverMethod: 'POST',
    serverPath: '/v2/login/keys',
    serverBody: {
      keyBoxes: keyBoxes.map(box => ({ ...box })),
      newSyncKeys: infos.flatMap(({ keys }) => (keys.syncKey === undefined ? [] : [hexOf(io, keys.syncKey)]))
    },
    stash: { keyBoxes }
  }
}

const hexOf = ({ crypto }: KeysIo, syncKey: unknown): string => {
  try {
    return crypto.toHex(crypto.fromBase64(syncKey as string))
  } catch {
    throw new WalletError('KEY_INTEGRITY', { rule: 'the sync key of a wallet is no base64 text' })
  }
}

/** A new password. `username`: normalised. */
export interface NewPassword {
  readonly username: Username
  readonly password: Secret<string>
  /** The cost of guessing; fit for this device when absent. */
  readonly snrp?: SnrpOptions | undefined
}

/**
 * Checks a new password.
 *
 * @throws PASSWORD_TOO_WEAK for text that has no bytes
 */
export const checkNewPassword = (password: string): void => {
  if (isWellFormed(password)) return
  throw new WalletError('PASSWORD_TOO_WEAK', { problems: ['holds half a character'] })
}

/** Sets the password of a root login (protocol §1.5, §2.4). Takes about two seconds by design. */
export const passwordChange = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  { loginId, loginKey }: KeyedLogin,
  { username, password, snrp }: NewPassword
): Promise<LoginChange> => {
  const authJob = password.use(text => passwordAuthOf(io, { username, password: text }))
  const passwordKeySnrp = await makeSnrp(io, snrp)
  const keyJob = password.use(text => passwordKeyOf(io, { username, password: text }, passwordKeySnrp))
  const [passwordAuth, passwordKey] = await Promise.all([authJob, keyJob])
  const passwordBox = sealBox(io, passwordKey, loginKey)
  const passwordAuthBox = sealBox(io, loginKey, passwordAuth)
  passwordKey.fill(0)
  const proof = io.crypto.toBase64(passwordAuth)
  passwordAuth.fill(0)
  return {
    loginId,
    serverMethod: 'POST',
    serverPath: PASSWORD_PATH,
    serverBody: {
      passwordAuth: proof,
      passwordAuthBox: { ...passwordAuthBox },
      // The server wants to see it, and everybody uses the fixed one (protocol §1.5).
      passwordAuthSnrp: { ...FIXED_SNRP },
      passwordBox: { ...passwordBox },
      passwordKeySnrp: { ...passwordKeySnrp }
    },
    stash: { passwordAuthBox, passwordBox, passwordKeySnrp }
  }
}

/** Takes the password of a login away (protocol §4.8). A login without a `loginAuth` keeps what it has to open with. */
export const passwordRemoval = ({ loginId, loginAuth }: LoginTree): LoginChange => ({
  loginId,
  serverMethod: 'DELETE',
  serverPath: PASSWORD_PATH,
  stash: {
    passwordBox: undefined,
    passwordAuthSnrp: undefined,
    passwordKeySnrp: undefined,
    ...(loginAuth === undefined ? {} : { passwordAuthBox: undefined })
  }
})

const PASSWORD_PATH = '/v2/login/password'

/** Recovery questions and what the owner answers, in the same order. */
export interface NewRecovery {
  readonly questions: readonly string[]
  readonly answers: Secret<readonly string[]>
}

/**
 * Checks recovery questions and answers.
 *
 * @throws OPTION_INVALID unless both are arrays of strings (specification §5), one answer to each question, at least one
 */
export const checkRecovery = (questions: readonly string[], answers: readonly string[]): void => {
  checkTexts('questions', questions)
  checkTexts('answers', answers)
  // Without answers the key alone would log in, and the server would refuse every login.
  if (questions.length === 0 || questions.length !== answers.length) {
    throw new WalletError('OPTION_INVALID', { option: 'answers', rule: 'must be one to each question' })
  }
}

/** Checks a list of texts from a caller. @throws OPTION_INVALID unless it is an array of strings */
export const checkTexts = (option: string, texts: readonly string[]): void => {
  if (Array.isArray(texts) && texts.every(text => typeof text === 'string' && isWellFormed(text))) return
  throw new WalletError('OPTION_INVALID', { option, rule: 'must be an array of strings' })
}

/**
 * Switches recovery on for a root login, or changes its questions and answers; a recovery key that people have
 * written down stays good, if this product made it (protocol §1.5, §2.4).
 *
 * @throws RECOVERY_USERNAME_REQUIRED if the login has no username, as a light one or that of an app
 */
export const recoveryChange = (
  io: Pick<Io, 'crypto' | 'random'>,
  { isRoot, loginId, loginKey, username, recovery2Key: known }: LoginTree,
  { questions, answers }: NewRecovery
): LoginChange => {
  if (username === undefined || !isRoot) throw new WalletError('RECOVERY_USERNAME_REQUIRED', {})
  const { toBase64 } = io.crypto
  const recovery2Key = loginKey.use(key => keepOrMakeKey(io, { use: 'recovery2Key', loginKey: key, known }))
  try {
    const recovery2Auth = answers.use(texts => recovery2AuthOf(io, recovery2Key, texts))
    return {
      loginId,
      serverMethod: 'POST',
      serverPath: RECOVERY_PATH,
      serverBody: {
        recovery2Id: toBase64(recovery2IdOf(io, recovery2Key, username)),
        recovery2Auth: recovery2Auth.map(toBase64),
        recovery2Box: { ...loginKey.use(key => sealBox(io, recovery2Key, key)) },
        recovery2KeyBox: { ...loginKey.use(key => sealBox(io, key, recovery2Key)) },
        question2Box: { ...sealJson(io, recovery2Key, [...questions]) }
      },
      stash: { recovery2Key: toBase64(recovery2Key) }
    }
  } finally {
    recovery2Key.fill(0)
  }
}

/** Switches recovery off; the recovery key is then worth nothing (protocol §2.4). */
export const recoveryRemoval = ({ loginId }: LoginTree): LoginChange => ({
  loginId,
  serverMethod: 'DELETE',
  serverPath: RECOVERY_PATH,
  stash: { recovery2Key: undefined }
})

const RECOVERY_PATH = '/v2/login/recovery2'

/** The words for it in an error. */
export const RECOVERY = 'recovery by answers'

/** Seven days, in seconds: the time that the owner has to notice a reset request (specification §9). */
const DEFAULT_OTP_TIMEOUT = 604_800

/**
 * Switches two-factor on; a key that is known stays, so that no other device is shut out (protocol §1.5, §2.4).
 *
 * The key is kept before the server has it: if the answer were lost, this device could not log in without it. Until
 * the server has it, it changes nothing, and the next try sends the same one.
 *
 * @param otpTimeout - seconds between the request of a reset and its effect
 * @throws OPTION_INVALID unless that is a number of seconds above 0
 */
export const otpChange = (
  io: Pick<Io, 'random'>,
  { loginId, otpKey: known }: LoginTree,
  otpTimeout: number = DEFAULT_OTP_TIMEOUT
): LoginChange => {
  if (typeof otpTimeout !== 'number' || !(otpTimeout > 0 && otpTimeout <= MAX_OTP_TIMEOUT)) {
    throw new WalletError('OPTION_INVALID', { option: 'timeout', rule: 'must be 1 second to 100 years' })
  }
  const otpKey = known?.use(text => text) ?? base32Of(io.random(10))
  return { ...otpChangeOf(loginId, { otpKey, otpTimeout }), intent: { otpKey } }
}

/** Switches two-factor off, and forgets its key (protocol §2.4). */
export const otpRemoval = ({ loginId }: LoginTree): LoginChange => ({
  loginId,
  serverMethod: 'DELETE',
  serverPath: OTP_PATH,
  stash: { otpKey: undefined, otpTimeout: undefined, otpResetDate: undefined }
})

/**
 * Cancels a reset that was requested: two-factor is switched on again as it is (protocol §2.4).
 *
 * @throws OTP_RESET_WITHOUT_OTP if it is off, or its key is not known here
 */
export const otpResetCancellation = ({ loginId, otpKey, otpTimeout }: LoginTree): LoginChange => {
  if (otpKey === undefined || otpTimeout === undefined) throw new WalletError('OTP_RESET_WITHOUT_OTP', {})
  return otpChangeOf(loginId, { otpKey: otpKey.use(text => text), otpTimeout })
}

const OTP_PATH = '/v2/login/otp'

const MAX_OTP_TIMEOUT = 100 * 365 * 86_400

const otpChangeOf = (loginId: LoginId, otp: { otpKey: string; otpTimeout: number }): LoginChange => ({
  loginId,
  serverMethod: 'POST',
  serverPath: OTP_PATH,
  serverBody: otp,
  stash: { ...otp, otpResetDate: undefined }
})

/** The decision about devices that wait. */
export type VoucherDecision = 'approved' | 'rejected'

/** Lets devices that wait log in without a code, or shuts them out; the server answers with what still waits (protocol §2.4). */
export const voucherChange = (
  { loginId }: LoginTree,
  verdict: VoucherDecision,
  voucherIds: readonly string[]
): LoginChange => ({
  loginId,
  serverMethod: 'POST',
  serverPath: '/v2/login/vouchers',
  serverBody: { [verdict === 'approved' ? 'approvedVouchers' : 'rejectedVouchers']: [...voucherIds] },
  stash: {},
  keepsReply: true
})

/** Another username for an account, normalised. */
export interface NewUsername {
  readonly username: Username
  /** Its proof and its box are made from the name, too; undefined for an account without a password. */
  readonly password: Secret<string> | undefined
  readonly snrp: SnrpOptions | undefined
}

/**
 * Gives a root login another username, or its first, and everything below it the ids that follow from it
 * (protocol §4.8).
 *
 * The stash knows the name before the server is asked, so that a PIN finds the account if the answer is lost.
 */
export const usernameChanges = async (
  io: Pick<Io, 'crypto' | 'clock' | 'random'>,
  root: LoginTree,
  { username, password, snrp }: NewUsername
): Promise<LoginChange[]> => {
  const { loginId, loginKey } = root
  const userId = io.crypto.toBase64(await userIdOf(io, username))
  const key = loginKey.use(bytes => bytes.slice())
  try {
    const userTextBox = sealText(io, key, username)
    const change =
      password && (await passwordChange(io, { loginId, loginKey: key }, { username, password, snrp }))
    return [
      {
        loginId,
        ...ROUTE,
        serverBody: {
          userId,
          userTextBox: { ...userTextBox },
          ...change?.serverBody,
          ...idsOf(io, root, username)
        },
        intent: { nextUsername: username },
        stash: { ...change?.stash, userId, username, nextUsername: undefined }
      },
      ...listTrees(root)
        .slice(1)
        .flatMap(child => idChanges(io, child, username))
    ]
  } finally {
    key.fill(0)
  }
}

/**
 * Finishes a change of username that was interrupted, or that another device interrupted: every login below whose
 * ids are still made from an earlier name gets those of the present one.
 */
export const staleIdChanges = (io: Pick<Io, 'crypto'>, held: LoginTree): LoginChange[] => {
  const { isRoot, username } = held
  if (!isRoot || username === undefined) return []
  return listTrees(held)
    .filter(node => node.username !== undefined && node.username !== username)
    .flatMap(child => idChanges(io, child, username))
}

const ROUTE = { serverMethod: 'POST', serverPath: '/v2/login/username' } as const

/**
 * Ids are made from a random key, so that no other login can have them already.
 *
 * The deployed client gives logins below a password, which nothing can use without a username, and for which the
 * server wants another one with each change; so it goes (protocol §8, 20).
 */
const idChanges = (io: Pick<Io, 'crypto'>, child: LoginTree, username: Username): LoginChange[] => {
  const { loginId, loginAuth, passwordAuth } = child
  const serverBody = idsOf(io, child, username)
  if (Object.keys(serverBody).length === 0) return []
  const isPasswordUseless = passwordAuth !== undefined && loginAuth !== undefined
  return [
    ...(isPasswordUseless ? [passwordRemoval(child)] : []),
    { loginId, ...ROUTE, serverBody, stash: { username: undefined }, alreadyDoneCode: 'CONFLICT' }
  ]
}

const idsOf = (
  io: Pick<Io, 'crypto'>,
  { pin2Key, recovery2Key }: LoginTree,
  username: Username
): JsonObject => {
  const { toBase64 } = io.crypto
  return compact({
    pin2Id: pin2Key?.use(key => toBase64(pin2IdOf(io, key, username))),
    recovery2Id: recovery2Key?.use(key => toBase64(recovery2IdOf(io, key, username)))
  })
}

/** Deletes a login on the server, with all below it (specification §7). */
export const loginDeletion = ({ loginId }: LoginTree): LoginChange => ({
  loginId,
  serverMethod: 'POST',
  serverPath: '/v2/login/delete',
  stash: {}
})
