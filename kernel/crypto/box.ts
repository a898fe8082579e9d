import { WalletError } from '../base/errors.ts'
import { type Json, parseJsonText } from '../base/json.ts'
import type { AsyncCrypto, CryptoPort, Io } from '../io/io.ts'
import type { Box } from '../types/keys.ts'
import { equalBytes, textOf, utf8Of } from './encoding.ts'

/** The part of the platform that sealing needs. */
type SealIo = Pick<Io, 'crypto' | 'random'>

/** The part of the platform that opening needs. */
type OpenIo = Pick<Io, 'crypto'>

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
 * INVALID_CHECKSUM; only wrong padding behind a good checksum has an error of its own (protocol §1.3).
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
const checkedPayload = (crypto: CryptoPort, plain: Uint8Array): Uint8Array => {
  const frame = frameOf(plain)
  return payloadOf(plain, frame, crypto.sha256(plain.subarray(0, frame.checksumStart)))
}

/** The bytes before and behind the payload of a box, which readers ignore. */
export interface BoxMark {
  readonly header: Uint8Array
  readonly footer: Uint8Array
}

/** Header and footer of a checked plaintext, as views of it: noise, or a mark and noise. */
const markIn = (plain: Uint8Array): BoxMark => {
  const { payloadStart, footerStart, checksumStart } = frameOf(plain)
  return {
    header: plain.subarray(1, payloadStart - 4),
    footer: plain.subarray(footerStart, checksumStart)
  }
}

/** {@link checkedPayload} with the checksum by cryptography that answers later. */
const payloadCheckedLater = async (crypto: AsyncCrypto, plain: Uint8Array): Promise<Uint8Array> => {
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

/** Bytes that are written where they are sealed. */
export interface PackedPayload {
  /** The most bytes that may be written. */
  readonly room: number
  /** Writes from `start` on, a multiple of 8, and gives where the payload ends. */
  readonly write: WritePayload
}

/**
 * Seals a large payload into bytes: the vector of its box, and the data.
 *
 * It is a box of the wire in another spelling, for what stays on this device; nothing is copied before it is encrypted, and the
 * length of the payload shows.
 */
export const sealPacked = (io: SealIo, key: Uint8Array, { room, write }: PackedPayload): Uint8Array =>
  inScratch(room + MOST_AROUND, plain => {
    const used = layOutBox({ io, plain, noise: 'aligned' }, 0, write)
    const data = io.crypto.aesCbcEncrypt(key, io.random(BLOCK), plain.subarray(0, used))
    return { used, result: data }
  })

/**
 * The inverse of {@link sealPacked}; the bytes begin their buffer. The key is read before it returns.
 *
 * @throws WalletError INVALID_CHECKSUM, INVALID_PADDING; TypeError
 */
export const openPacked = async (
  { crypto }: OpenIo,
  key: Uint8Array,
  data: Uint8Array
): Promise<Uint8Array> => {
  const { async: later } = crypto
  const plain = await (later ?? crypto).aesCbcDecrypt(key, data.subarray(0, BLOCK), data.subarray(BLOCK))
  try {
    const payload =
      later === undefined ? checkedPayload(crypto, plain) : await payloadCheckedLater(later, plain)
    return payload.slice()
  } finally {
    plain.fill(0)
  }
}

/** A text, and what is made of header and footer of its box. */
export interface MarkedText<T> {
  readonly text: string
  readonly mark: T
}

/**
 * Seals many texts at once: each as `sealText` would, in the one spelling of a box's JSON.
 *
 * One run of the cipher goes over all of them. Before each text stands a block of random bytes, and what the cipher makes of
 * that block is the initialisation vector of the box after it: uniform and not to be foretold, as CBC wants it.
 *
 * @param texts - each alone, or with what header and footer of its box begin with
 * @throws TypeError if a text holds a lone surrogate, or the key has not 16, 24 or 32 bytes
 */
export const sealTexts = (
  io: SealIo,
  key: Uint8Array,
  texts: readonly (string | MarkedText<BoxMark>)[]
): string[] => {
  const { crypto } = io
  const room = texts.reduce((sum, item) => sum + textIn(item).length * 3 + MOST_AROUND + MAX_MARK, 0)
  return inScratch(room, plain => {
    const ends: number[] = []
    let used = 0
    for (const item of texts) {
      const mark = typeof item === 'string' ? undefined : item.mark
      used = layOutBox({ io, plain, noise: 'random', mark }, used, (bytes, start) =>
        crypto.writeUtf8(textIn(item), bytes, start)
      )
      ends.push(used)
    }
    const data = crypto.aesCbcEncrypt(key, io.random(BLOCK), plain.subarray(0, used))
    let start = 0
    const result = ends.map(end => {
      const iv = crypto.toHex(data.subarray(start, start + BLOCK))
      const base64 = crypto.toBase64(data.subarray(start + BLOCK, end))
      start = end
      return `{"encryptionType":0,"iv_hex":"${iv}","data_base64":"${base64}"}`
    })
    return { used, result }
  })
}

/** Opens many boxes at once: each as `openText` would, or undefined where that would throw. */
export const openTexts = (
  io: OpenIo,
  key: Uint8Array,
  boxes: readonly Box[]
): Promise<(string | undefined)[]> => openEach(io, key, { boxes, read: textOfPayload })

/** {@link openTexts}, and what `readMark` makes of each header and footer. */
export const openMarkedTexts = <T>(
  io: OpenIo,
  key: Uint8Array,
  { boxes, readMark }: { readonly boxes: readonly Box[]; readonly readMark: (mark: BoxMark) => T }
): Promise<(MarkedText<T> | undefined)[]> =>
  openEach(io, key, {
    boxes,
    read: (payload, plain) => ({ text: textOfPayload(payload), mark: readMark(markIn(plain)) })
  })

interface EachBox<T> {
  readonly boxes: readonly Box[]
  /** Makes something of a checked payload; what it throws makes it undefined. */
  readonly read: (payload: Uint8Array, plain: Uint8Array) => T
}

/**
 * CBC decrypts a block by the one before it, so that one run of the cipher does for all of them. The key is read before it
 * returns.
 */
const openEach = async <T>(
  io: OpenIo,
  key: Uint8Array,
  { boxes, read }: EachBox<T>
): Promise<(T | undefined)[]> => {
  const parts = boxes.map(box => bytesOf(io, box))
  const length = parts.reduce((sum, part) => sum + (part === undefined ? 0 : BLOCK + part.data.length), 0)
  const joined = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    if (part === undefined) continue
    joined.set(part.iv, at)
    joined.set(part.data, at + BLOCK)
    at += BLOCK + part.data.length
  }
  const plain = await decrypted(io, key, joined)
  try {
    let start = 0
    const plains = parts.map(part => {
      if (part === undefined) return undefined
      const end = start + BLOCK + part.data.length
      const view = plain.subarray(start + BLOCK, end)
      start = end
      return view
    })
    const { async: later } = io.crypto
    if (later === undefined)
      return plains.map(view => view && orUndefined(() => read(checkedPayload(io.crypto, view), view)))
    const readLater = async (view: Uint8Array): Promise<T | undefined> => {
      const payload = await payloadCheckedLater(later, view).catch(() => undefined)
      return payload && orUndefined(() => read(payload, view))
    }
    return await Promise.all(plains.map(view => view && readLater(view)))
  } finally {
    plain.fill(0)
  }
}

const decrypted = ({ crypto }: OpenIo, key: Uint8Array, data: Uint8Array): Promise<Uint8Array> | Uint8Array =>
  (crypto.async ?? crypto).aesCbcDecrypt(key, new Uint8Array(BLOCK), data)

interface BoxBytes {
  readonly iv: Uint8Array
  readonly data: Uint8Array
}

const bytesOf = ({ crypto }: OpenIo, { encryptionType, iv_hex, data_base64 }: Box): BoxBytes | undefined => {
  if (encryptionType !== 0) return undefined
  try {
    const iv = crypto.fromHex(iv_hex)
    const data = crypto.fromBase64(data_base64)
    return iv.length === BLOCK && data.length > 0 && data.length % BLOCK === 0 ? { iv, data } : undefined
  } catch {
    return undefined
  }
}

const textOfPayload = (payload: Uint8Array): string =>
  textOf(payload.at(-1) === 0 ? payload.subarray(0, -1) : payload)

const textIn = (item: string | MarkedText<unknown>): string => (typeof item === 'string' ? item : item.text)

const orUndefined = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The most bytes of a box besides its payload and its mark: vector, lengths, noise, checksum and padding. */
export const MOST_AROUND: number = BLOCK + 6 + 2 * 31 + 32 + BLOCK

/** The most bytes of a mark: headers and footers may have up to 255 bytes (protocol §1.3), 31 of noise among them. */
export const MAX_MARK: number = 2 * (255 - 31)

/** Writes a payload from `start` on and gives where it ends. */
type WritePayload = (plain: Uint8Array, start: number) => number

/** The noise before and behind a payload, so that its length does not show. */
export type Noise = 'random' | 'aligned'

/** The buffer of a box, and its content besides the payload. */
export interface BoxLayout {
  readonly io: SealIo
  readonly plain: Uint8Array
  readonly noise: Noise
  readonly mark?: BoxMark | undefined
}

/**
 * Writes a block of random bytes and the plaintext of a box (protocol §1.3) from `start` on; gives where they end.
 *
 * The cipher makes the vector of the box of the random block. Noise that is `aligned` is just so much that the payload of a
 * box at 0 begins at a multiple of 8. A mark stands at the beginning of header and
 * footer, where readers look for nothing.
 */
export const layOutBox = (
  { io, plain, noise, mark }: BoxLayout,
  start: number,
  write: WritePayload
): number => {
  const random = io.random(BLOCK + 2 + 2 * NOISE_MASK)
  const noiseLength = noise === 'aligned' ? ALIGNING : (random[BLOCK] ?? 0) & NOISE_MASK
  const markLength = mark?.header.length ?? 0
  const headerLength = markLength + noiseLength
  const footerMark = mark?.footer.length ?? 0
  const footerLength = footerMark + (noise === 'aligned' ? 0 : (random[BLOCK + 1] ?? 0) & NOISE_MASK)
  const begin = start + BLOCK
  for (let i = 0; i < BLOCK; i += 1) plain[start + i] = random[i] ?? 0
  plain[begin] = headerLength
  for (let i = 1; i <= markLength; i += 1) plain[begin + i] = mark?.header[i - 1] ?? 0
  for (let i = 1; i <= noiseLength; i += 1) plain[begin + markLength + i] = random[BLOCK + 1 + i] ?? 0
  const lengthAt = begin + 1 + headerLength
  const payloadEnd = write(plain, lengthAt + 4)
  writeLength(plain, lengthAt, payloadEnd - lengthAt - 4)
  plain[payloadEnd] = footerLength
  const footerNoise = BLOCK + 2 + NOISE_MASK
  for (let i = 0; i < footerLength; i += 1)
    plain[payloadEnd + 1 + i] = mark?.footer[i] ?? random[footerNoise + i - footerMark] ?? 0
  const checksumAt = payloadEnd + 1 + footerLength
  plain.set(io.crypto.sha256(plain.subarray(begin, checksumAt)), checksumAt)
  const paddingAt = checksumAt + CHECKSUM
  const end = paddingAt + BLOCK - ((paddingAt - begin) % BLOCK)
  plain.fill(end - paddingAt, paddingAt, end)
  return end
}

/**
 * Lends room for plaintext, and overwrites as much of it with zeros as was used.
 *
 * The room is the same each time, because fresh memory costs more than what is done in it; nothing else runs before it
 * is given back.
 *
 * @param task - says how much it used
 */
export const inScratch = <T>(
  room: number,
  task: (plain: Uint8Array) => { readonly used: number; readonly result: T }
): T => {
  const plain = room <= SCRATCH ? sharedScratch() : new Uint8Array(room)
  let used = room
  try {
    const done = task(plain)
    used = done.used
    return done.result
  } finally {
    plain.fill(0, 0, used)
  }
}
const ALIGNING = 3
const SCRATCH = 1024 * 1024
let scratch: Uint8Array | undefined

const sharedScratch = (): Uint8Array => {
  scratch ??= new Uint8Array(SCRATCH)
  return scratch
}
