import type { Box } from '../types/keys.ts'
import { checkedPayload, type OpenIo, type SealIo } from './box.ts'
import { textOf } from './encoding.ts'

/**
 * Seals many texts at once: each as `sealText` would, in the one spelling of a box's JSON.
 *
 * One run of the cipher goes over all of them. Before each text stands a block of random bytes, and what the cipher makes of
 * that block is the initialisation vector of the box after it: uniform and not to be foretold, as CBC wants it.
 *
 * @throws TypeError if a text holds a lone surrogate, or the key has not 16, 24 or 32 bytes
 */
export const sealTexts = (io: SealIo, key: Uint8Array, texts: readonly string[]): string[] => {
  const { crypto } = io
  const room = texts.reduce((sum, text) => sum + text.length * 3 + MOST_AROUND, 0)
  const plain = new Uint8Array(room)
  const ends: number[] = []
  let end = 0
  for (const text of texts) {
    end = layOut(io, text, plain, end)
    ends.push(end)
  }
  const data = crypto.aesCbcEncrypt(key, io.random(BLOCK), plain.subarray(0, end))
  plain.fill(0, 0, end)
  let start = 0
  return ends.map(stop => {
    const iv = crypto.toHex(data.subarray(start, start + BLOCK))
    const base64 = crypto.toBase64(data.subarray(start + BLOCK, stop))
    start = stop
    return `{"encryptionType":0,"iv_hex":"${iv}","data_base64":"${base64}"}`
  })
}

/**
 * Opens many boxes at once: each as `openText` would, or undefined where that would throw.
 *
 * CBC decrypts a block by the one before it, so that one run of the cipher does for all of them.
 */
export const openTexts = (io: OpenIo, key: Uint8Array, boxes: readonly Box[]): (string | undefined)[] => {
  const { crypto } = io
  const parts = boxes.map(box => bytesOf(io, box))
  const length = parts.reduce(
    (sum, part) => sum + (part === undefined ? 0 : part.iv.length + part.data.length),
    0
  )
  const joined = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    if (part === undefined) continue
    joined.set(part.iv, at)
    joined.set(part.data, at + BLOCK)
    at += BLOCK + part.data.length
  }
  const plain = crypto.aesCbcDecrypt(key, new Uint8Array(BLOCK), joined)
  let start = 0
  const texts = parts.map(part => {
    if (part === undefined) return undefined
    const end = start + BLOCK + part.data.length
    const text = textIn(io, plain.subarray(start + BLOCK, end))
    start = end
    return text
  })
  plain.fill(0)
  return texts
}

const BLOCK = 16
const CHECKSUM = 32
const NOISE_MASK = 0x1f
/** What a box has besides its payload: vector, lengths, noise, checksum and padding. */
const MOST_AROUND = BLOCK + 6 + 2 * NOISE_MASK + CHECKSUM + BLOCK

/** Writes the block of the vector and the plaintext of a box (protocol §1.3) at `start`; gives where they end. */
const layOut = (io: SealIo, text: string, plain: Uint8Array, start: number): number => {
  const random = io.random(BLOCK + 2 + 2 * NOISE_MASK)
  const headerLength = (random[BLOCK] ?? 0) & NOISE_MASK
  const footerLength = (random[BLOCK + 1] ?? 0) & NOISE_MASK
  const begin = start + BLOCK
  for (let i = 0; i < BLOCK; i += 1) plain[start + i] = random[i] ?? 0
  plain[begin] = headerLength
  for (let i = 1; i <= headerLength; i += 1) plain[begin + i] = random[BLOCK + 1 + i] ?? 0
  const lengthAt = begin + 1 + headerLength
  const payloadEnd = writeUtf8(text, plain, lengthAt + 4)
  writeLength(plain, lengthAt, payloadEnd - lengthAt - 4)
  plain[payloadEnd] = footerLength
  const footerNoise = BLOCK + 2 + NOISE_MASK
  for (let i = 0; i < footerLength; i += 1) plain[payloadEnd + 1 + i] = random[footerNoise + i] ?? 0
  const checksumAt = payloadEnd + 1 + footerLength
  plain.set(io.crypto.sha256(plain.subarray(begin, checksumAt)), checksumAt)
  const paddingAt = checksumAt + CHECKSUM
  const end = paddingAt + BLOCK - ((paddingAt - begin) % BLOCK)
  plain.fill(end - paddingAt, paddingAt, end)
  return end
}

const writeLength = (bytes: Uint8Array, offset: number, length: number): void => {
  bytes[offset] = length >>> 24
  bytes[offset + 1] = length >>> 16
  bytes[offset + 2] = length >>> 8
  bytes[offset + 3] = length
}

/** Writes a text's UTF-8 bytes and gives where they end. */
const writeUtf8 = (text: string, bytes: Uint8Array, start: number): number => {
  let at = start
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code < 0x80) {
      bytes[at] = code
      at += 1
    } else {
      const point = text.codePointAt(i) ?? 0
      if (point >= 0xd800 && point <= 0xdfff) throw new TypeError('This text has half a character')
      at = writePoint(point, bytes, at)
      if (point > 0xffff) i += 1
    }
  }
  return at
}

const writePoint = (point: number, bytes: Uint8Array, at: number): number => {
  const count = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
  bytes[at] = (point >>> (6 * (count - 1))) | (LEADS[count - 2] ?? 0)
  for (let i = 1; i < count; i += 1) bytes[at + i] = 0x80 | ((point >>> (6 * (count - 1 - i))) & 0x3f)
  return at + count
}

const LEADS = [0xc0, 0xe0, 0xf0]

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

const textIn = ({ crypto }: OpenIo, plain: Uint8Array): string | undefined => {
  try {
    const payload = checkedPayload(crypto, plain)
    return textOf(payload.at(-1) === 0 ? payload.subarray(0, -1) : payload)
  } catch {
    return undefined
  }
}
