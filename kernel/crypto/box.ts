import { WalletError } from '../base/errors.ts'
import { type Json, parseJsonText } from '../base/json.ts'
import type { AsyncCrypto, CryptoPort, Io } from '../io/io.ts'
import type { Box } from '../types/keys.ts'
import { equalBytes, textOf, utf8Of } from './encoding.ts'

/** What sealing needs of the platform. */
export type SealIo = Pick<Io, 'crypto' | 'random'>

/** What opening needs of the platform. */
export type OpenIo = Pick<Io, 'crypto'>

/**
 * Encrypts bytes into a box: random header and footer, length, SHA-256 checksum, PKCS#7, AES-CBC.
 *
 * Draws from `io.random`, in order: 1 byte for the header length, 1 for the footer length, header, footer,
 * 16 bytes of initialisation vector (protocol §1.3).
 *
 * @throws TypeError if the key has not 16, 24 or 32 bytes
 */
export const sealBox = (io: SealIo, key: Uint8Array, payload: Uint8Array): Box => {
  const { crypto } = io
  const lengths = io.random(2)
  const headerLength = (lengths[0] ?? 0) & NOISE_MASK
  const footerLength = (lengths[1] ?? 0) & NOISE_MASK
  const noise = io.random(headerLength + footerLength)
  const iv = io.random(BLOCK)
  const footerStart = headerLength + 6 + payload.length
  const checksumStart = footerStart + footerLength
  const paddingStart = checksumStart + CHECKSUM

  const plain = new Uint8Array((paddingStart & -BLOCK) + BLOCK)
  plain[0] = headerLength
  for (let i = 0; i < headerLength; i++) plain[i + 1] = byteAt(noise, i)
  writeLength(plain, headerLength + 1, payload.length)
  plain.set(payload, headerLength + 5)
  plain[footerStart - 1] = footerLength
  for (let i = 0; i < footerLength; i++) plain[footerStart + i] = byteAt(noise, headerLength + i)
  plain.set(crypto.sha256(plain.subarray(0, checksumStart)), checksumStart)
  plain.fill(plain.length - paddingStart, paddingStart)

  const data = crypto.aesCbcEncrypt(key, iv, plain)
  plain.fill(0)
  return { encryptionType: 0, iv_hex: crypto.toHex(iv), data_base64: crypto.toBase64(data) }
}

/** {@link sealBox} of a text's UTF-8 bytes. @throws TypeError if the text holds a lone surrogate */
export const sealText = (io: SealIo, key: Uint8Array, text: string): Box => {
  const bytes = utf8Of(text)
  const box = sealBox(io, key, bytes)
  bytes.fill(0)
  return box
}

/** {@link sealText} of compact JSON. */
export const sealJson = (io: SealIo, key: Uint8Array, value: Json): Box =>
  sealText(io, key, JSON.stringify(value))

/**
 * Decrypts a box and checks it.
 *
 * A wrong key, nonsense lengths, a damaged encoding and a ciphertext that is no whole number of blocks are all
 * INVALID_CHECKSUM; only padding that is wrong behind a good checksum is told apart (protocol §1.3).
 *
 * @throws WalletError UNKNOWN_ENCRYPTION, INVALID_CHECKSUM or INVALID_PADDING
 */
export const openBox = (io: OpenIo, key: Uint8Array, box: Box): Uint8Array =>
  readBox(io.crypto, { key, box }, payload => payload.slice())

/**
 * {@link openBox} of a text: exactly one trailing NUL is dropped, which old data ends in (protocol §1.3).
 *
 * @throws TypeError if the payload is no UTF-8
 */
export const openText = (io: OpenIo, key: Uint8Array, box: Box): string =>
  readBox(io.crypto, { key, box }, payload =>
    textOf(payload.at(-1) === 0 ? payload.subarray(0, -1) : payload)
  )

/** {@link openText}, and what `readMark` makes of header and footer. */
export const openMarkedText = <T>(
  io: OpenIo,
  { key, box }: { readonly key: Uint8Array; readonly box: Box },
  readMark: (mark: BoxMark) => T
): { readonly text: string; readonly mark: T } =>
  readBox(io.crypto, { key, box }, (payload, plain) => ({
    text: textOf(payload.at(-1) === 0 ? payload.subarray(0, -1) : payload),
    mark: readMark(markIn(plain))
  }))

/**
 * {@link openText} of JSON. The shape of the result is unchecked.
 *
 * @throws SyntaxError if the payload is no JSON; its message quotes nothing of the payload
 */
export const openJson = (io: OpenIo, key: Uint8Array, box: Box): unknown => {
  const text = openText(io, key, box)
  try {
    return parseJsonText(text)
  } catch {
    throw new SyntaxError('The box holds no JSON')
  }
}

const BLOCK = 16
const CHECKSUM = 32
const NOISE_MASK = 0x1f

const writeLength = (bytes: Uint8Array, offset: number, length: number): void => {
  bytes[offset] = length >>> 24
  bytes[offset + 1] = length >>> 16
  bytes[offset + 2] = length >>> 8
  bytes[offset + 3] = length
}

const readLength = (bytes: Uint8Array, offset: number): number =>
  ((byteAt(bytes, offset) << 24) |
    (byteAt(bytes, offset + 1) << 16) |
    (byteAt(bytes, offset + 2) << 8) |
    byteAt(bytes, offset + 3)) >>>
  0

const byteAt = (bytes: Uint8Array, offset: number): number => bytes[offset] ?? 0

/** Hands the payload to `reader` as a view, which is overwritten afterwards. */
const readBox = <T>(
  crypto: CryptoPort,
  { key, box }: { key: Uint8Array; box: Box },
  reader: (payload: Uint8Array, plain: Uint8Array) => T
): T => {
  if (box.encryptionType !== 0) throw new WalletError('UNKNOWN_ENCRYPTION', {})
  const plain = decrypt(crypto, key, box)
  try {
    return reader(checkedPayload(crypto, plain), plain)
  } finally {
    plain.fill(0)
  }
}

const decrypt = (crypto: CryptoPort, key: Uint8Array, box: Box): Uint8Array => {
  try {
    return crypto.aesCbcDecrypt(key, crypto.fromHex(box.iv_hex), crypto.fromBase64(box.data_base64))
  } catch (error) {
    throw new WalletError('INVALID_CHECKSUM', {}, error)
  }
}

/**
 * The payload within the plaintext of a box, as a view of it.
 *
 * @throws WalletError INVALID_CHECKSUM or INVALID_PADDING
 */
export const checkedPayload = (crypto: CryptoPort, plain: Uint8Array): Uint8Array => {
  const frame = frameOf(plain)
  return payloadOf(plain, frame, crypto.sha256(plain.subarray(0, frame.checksumStart)))
}

/** What stands before and behind the payload of a box, where readers look for nothing. */
export interface BoxMark {
  readonly header: Uint8Array
  readonly footer: Uint8Array
}

/** Header and footer of a checked plaintext, as views of it: noise, or a mark and noise. */
export const markIn = (plain: Uint8Array): BoxMark => {
  const { payloadStart, footerStart, checksumStart } = frameOf(plain)
  return {
    header: plain.subarray(1, payloadStart - 4),
    footer: plain.subarray(footerStart, checksumStart)
  }
}

/** {@link checkedPayload} with the checksum by cryptography that answers later. */
export const payloadCheckedLater = async (crypto: AsyncCrypto, plain: Uint8Array): Promise<Uint8Array> => {
  const frame = frameOf(plain)
  return payloadOf(plain, frame, await crypto.sha256(plain.subarray(0, frame.checksumStart)))
}

interface Frame {
  readonly payloadStart: number
  readonly footerStart: number
  readonly checksumStart: number
}

const frameOf = (plain: Uint8Array): Frame => {
  const payloadStart = byteAt(plain, 0) + 5
  const footerStart = payloadStart + readLength(plain, payloadStart - 4) + 1
  const checksumStart = footerStart + byteAt(plain, footerStart - 1)
  if (checksumStart + CHECKSUM > plain.length) throw new WalletError('INVALID_CHECKSUM', {})
  return { payloadStart, footerStart, checksumStart }
}

const payloadOf = (
  plain: Uint8Array,
  { payloadStart, footerStart, checksumStart }: Frame,
  checksum: Uint8Array
): Uint8Array => {
  const paddingStart = checksumStart + CHECKSUM
  if (!equalBytes(checksum, plain.subarray(checksumStart, paddingStart)))
    throw new WalletError('INVALID_CHECKSUM', {})
  if (!isPadding(plain, paddingStart)) throw new WalletError('INVALID_PADDING', {})
  return plain.subarray(payloadStart, footerStart - 1)
}

const isPadding = (plain: Uint8Array, start: number): boolean => {
  const count = BLOCK - (start % BLOCK)
  if (plain.length !== start + count) return false
  for (let i = start; i < plain.length; i++) if (plain[i] !== count) return false
  return true
}
