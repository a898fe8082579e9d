import { isRecord } from '../../kernel/base/json.ts'
import { parseBase32 } from '../../kernel/crypto/encoding.ts'
import {
  isSnrp,
  type Leaf,
  leaf,
  listOf,
  type OptionalLeaf,
  objectOf,
  optional,
  optionalListOf,
  parse
} from '../../kernel/schema/shape.ts'
import type { Box, Snrp } from '../../kernel/types/keys.ts'

/** A schema, as the kernel's `parse` takes it. */
export type Shape<T> = ReturnType<typeof objectOf<T & object>>

const MAX_CREDENTIAL = 128
const MAX_SYNC_KEY = 64
const MAX_BOX_TEXT = 6_000_000
const MAX_PATH = 1000
const MAX_PATH_DEPTH = 16

/** An id or secret in strict base64, of 1 to 128 bytes; kept as text. */
export const credential = (): Leaf<string> => leaf('base64', isCredential)

/** A credential, or absent. */
export const optionalCredential = (): OptionalLeaf<string> => optional('base64', isCredential)

/** A one-time-code key in loose base32, or absent. */
export const optionalOtpKey = (): OptionalLeaf<string> => optional('base32', isOtpKey)

/** A one-time-code key in loose base32. */
export const otpKey = (): Leaf<string> => leaf('base32', isOtpKey)

/** A sync key in hex of either case, 1 to 64 bytes; the deployed one has 20. */
export const syncKey = (): Leaf<string> => leaf('hex', isSyncKey)

/** An encrypted box with well-formed parts. */
export const wireBox = (): Leaf<Box> => leaf('box', isWireBox)

/** An encrypted box, or absent. */
export const optionalWireBox = (): OptionalLeaf<Box> => optional('box', isWireBox)

/** Changes of a repo by path; null deletes. At most 10,000 in one request. */
export const repoChanges = (): Leaf<RepoChanges> => leaf('repo changes', isRepoChanges)

/** New content by path, or null for a deletion. */
export type RepoChanges = Readonly<Record<string, Box | null>>

/** The three fields of a box, without whatever came with them. */
export const plainBox = ({ encryptionType, data_base64, iv_hex }: Box): Box => ({
  encryptionType,
  data_base64,
  iv_hex
})

/** Checks if a text is a sync key. */
export const isSyncKey = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 2 * MAX_SYNC_KEY && isHex(value)

/** Checks if a text may name a file of a repo: relative, no way up, no character that a disk cannot hold. */
export const isRepoPath = (path: string): boolean => {
  if (path.length === 0 || path.length > MAX_PATH || !PRINTABLE.test(path)) return false
  const segments = path.split('/')
  return (
    segments.length <= MAX_PATH_DEPTH &&
    segments.every(segment => segment !== '' && segment !== '.' && segment !== '..')
  )
}

/** Checks if a value is a box with well-formed parts. */
export const isWireBox = (value: unknown): value is Box =>
  isRecord(value) &&
  typeof value.encryptionType === 'number' &&
  Number.isSafeInteger(value.encryptionType) &&
  isText(value.iv_hex, 64) &&
  isHex(value.iv_hex) &&
  isText(value.data_base64, MAX_BOX_TEXT) &&
  isBase64(value.data_base64)

// Neither control characters nor a backslash, which some platforms read as a separator.
const PRINTABLE = /^[^\p{Cc}\\]*$/u

const isText = (value: unknown, limit: number): value is string =>
  typeof value === 'string' && value.length <= limit

const isCredential = (value: unknown): value is string =>
  isText(value, 2 * MAX_CREDENTIAL) && value.length > 0 && isBase64(value)

const isOtpKey = (value: unknown): value is string =>
  isText(value, MAX_CREDENTIAL) && value.length > 0 && attempt(() => parseBase32(value))

const isRepoChanges = (value: unknown): value is RepoChanges =>
  isRecord(value) &&
  Object.keys(value).length <= 10_000 &&
  Object.entries(value).every(
    ([path, content]) => isRepoPath(path) && (content === null || isWireBox(content))
  )

// Padding is required and spare bits are zero (protocol §1.1). By pattern: boxes come by the hundred.
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/
const HEX = /^(?:[0-9a-fA-F]{2})*$/

const isBase64 = (text: string): boolean => BASE64.test(text)

const isHex = (text: string): boolean => HEX.test(text)

const attempt = (task: () => unknown): boolean => {
  try {
    task()
    return true
  } catch {
    return false
  }
}

const isAnything = (value: unknown): value is unknown => value !== undefined
export const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 4000
export const isTimeout = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= 1e9
export const isIds = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= 1000 && value.every(isShortText)
const shortText = (): OptionalLeaf<string> => optional('text', isShortText)

/** The flat body that all login routes share (protocol §2.3); what the server never reads is left out. */
export interface LoginRequest {
  readonly data: unknown
  readonly otp: string | undefined
  readonly voucherId: string | undefined
  readonly voucherAuth: string | undefined
  readonly deviceDescription: string | undefined
  readonly challengeId: string | undefined
  readonly syncToken: string | undefined
  readonly loginId: string | undefined
  readonly loginAuth: string | undefined
  readonly userId: string | undefined
  readonly passwordAuth: string | undefined
  readonly pin2Id: string | undefined
  readonly pin2Auth: string | undefined
  readonly recovery2Id: string | undefined
  readonly recovery2Auth: string[] | undefined
  readonly loginIds: string[] | undefined
  readonly otpResetAuth: string | undefined
}

/** Checks the body of a login route. */
export const loginRequestShape: Shape<LoginRequest> = objectOf<LoginRequest>({
  data: optional('data', isAnything),
  otp: shortText(),
  voucherId: shortText(),
  voucherAuth: optionalCredential(),
  deviceDescription: shortText(),
  challengeId: shortText(),
  syncToken: shortText(),
  loginId: optionalCredential(),
  loginAuth: optionalCredential(),
  userId: optionalCredential(),
  passwordAuth: optionalCredential(),
  pin2Id: optionalCredential(),
  pin2Auth: optionalCredential(),
  recovery2Id: optionalCredential(),
  recovery2Auth: optionalListOf<string>(credential()),
  loginIds: optionalListOf<string>(credential()),
  otpResetAuth: shortText()
})

/** `data` of POST /v2/login/password. */
export interface PasswordGroup {
  readonly passwordAuth: string
  readonly passwordAuthBox: Box
  readonly passwordAuthSnrp: Snrp
  readonly passwordBox: Box
  readonly passwordKeySnrp: Snrp
}

/** `data` of POST /v2/login/pin2; only the text of the PIN when PIN login is off. */
export interface PinGroup {
  readonly pin2Id: string | undefined
  readonly pin2Auth: string | undefined
  readonly pin2Box: Box | undefined
  readonly pin2KeyBox: Box | undefined
  readonly pin2TextBox: Box
}

/** `data` of POST /v2/login/recovery2. */
export interface RecoveryGroup {
  readonly recovery2Id: string
  readonly recovery2Auth: string[]
  readonly recovery2Box: Box
  readonly recovery2KeyBox: Box
  readonly question2Box: Box
}

/** `data` of POST /v2/login/secret. */
export interface SecretGroup {
  readonly loginAuth: string
  readonly loginAuthBox: Box
}

/** `data` of POST /v2/login/keys. */
export interface KeysGroup {
  readonly keyBoxes: Box[]
  readonly newSyncKeys: string[]
}

/** The username part of a create or username call. */
export interface UsernameGroup {
  readonly userId: string
  readonly userTextBox: Box | undefined
}

const snrp = (): Leaf<Snrp> => leaf('snrp', isSnrp)

/** One schema for each group of fields that a login may carry (protocol §2.4). */
export const groups: {
  readonly password: Shape<PasswordGroup>
  readonly pin: Shape<PinGroup>
  readonly recovery: Shape<RecoveryGroup>
  readonly secret: Shape<SecretGroup>
  readonly keys: Shape<KeysGroup>
  readonly username: Shape<UsernameGroup>
} = {
  password: objectOf<PasswordGroup>({
    passwordAuth: credential(),
    passwordAuthBox: wireBox(),
    passwordAuthSnrp: snrp(),
    passwordBox: wireBox(),
    passwordKeySnrp: snrp()
  }),
  pin: objectOf<PinGroup>({
    pin2Id: optionalCredential(),
    pin2Auth: optionalCredential(),
    pin2Box: optionalWireBox(),
    pin2KeyBox: optionalWireBox(),
    pin2TextBox: wireBox()
  }),
  recovery: objectOf<RecoveryGroup>({
    recovery2Id: credential(),
    recovery2Auth: listOf<string>(credential()),
    recovery2Box: wireBox(),
    recovery2KeyBox: wireBox(),
    question2Box: wireBox()
  }),
  secret: objectOf<SecretGroup>({ loginAuth: credential(), loginAuthBox: wireBox() }),
  keys: objectOf<KeysGroup>({ keyBoxes: listOf<Box>(wireBox()), newSyncKeys: listOf<string>(syncKey()) }),
  username: objectOf<UsernameGroup>({ userId: credential(), userTextBox: optionalWireBox() })
}

/** The group if the data has its whole shape, else undefined: groups are tried one by one (protocol §2.4). */
export const tryGroup = <T>(shape: Shape<T>, data: unknown): T | undefined => {
  if (!isRecord(data)) return undefined
  try {
    return parse(shape, data, 'data')
  } catch {
    return undefined
  }
}
