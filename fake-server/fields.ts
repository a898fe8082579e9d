import { isRecord } from '../kernel/base/json.ts'
import { parseBase32 } from '../kernel/crypto/encoding.ts'
import { type Leaf, leaf, type OptionalLeaf, optional } from '../kernel/schema/shape.ts'
import type { Box } from '../kernel/types/keys.ts'

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

/** Tells whether a text is a sync key. */
export const isSyncKey = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= 2 * MAX_SYNC_KEY && isHex(value)

/** Tells whether a text may name a file of a repo: relative, no way up, nothing that a disk could stumble on. */
export const isRepoPath = (path: string): boolean => {
  if (path.length === 0 || path.length > MAX_PATH || !PRINTABLE.test(path)) return false
  const segments = path.split('/')
  return (
    segments.length <= MAX_PATH_DEPTH &&
    segments.every(segment => segment !== '' && segment !== '.' && segment !== '..')
  )
}

/** Tells whether a value is a box with well-formed parts. */
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
