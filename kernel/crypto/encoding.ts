import { base32nopad, base58, utf8 } from '@scure/base'

/**
 * The UTF-8 bytes of a text.
 *
 * Strict (protocol §1.1).
 *
 * @throws TypeError if the text holds a lone surrogate
 */
export const utf8Of = (text: string): Uint8Array =>
  (text.length <= SHORT ? asciiOf(text) : undefined) ?? utf8.decode(text)

/** Checks if a text has bytes: one with half a character in it has none, and could never be typed again. */
export const isWellFormed = (text: string): boolean =>
  // Platforms of before 2024 do not have it.
  (text as { isWellFormed?(): boolean }).isWellFormed?.() ?? !/\p{Surrogate}/u.test(text)

/**
 * The text that UTF-8 bytes spell; a byte order mark is kept.
 *
 * @throws TypeError if the bytes are malformed (protocol §1.1)
 */
export const textOf = (bytes: Uint8Array): string => utf8.encode(bytes)

/** Base58 in the bitcoin alphabet without a checksum: one leading `1` per leading zero byte (protocol §1.1). */
export const base58Of = (bytes: Uint8Array): string => spellBase58(bytes)

/**
 * The inverse of {@link base58Of}.
 *
 * @throws TypeError on a foreign letter, or beyond 512 letters: the work grows with the square of the length
 */
export const parseBase58 = (text: string): Uint8Array => {
  if (text.length > MAX_BASE58_LETTERS) throw new TypeError('This base58 text is too long')
  if (!BASE58.test(text)) throw new TypeError('This is no base58 text')
  return base58.decode(text)
}

/** Base32 of RFC 4648 without padding, as one-time-code keys are written (protocol §1.1). */
export const base32Of = (bytes: Uint8Array): string => base32nopad.encode(bytes)

/**
 * Reads base32 as people type it: either case, `0`, `1` and `8` for `O`, `L` and `B`, padding or none.
 *
 * The messages are those of the deployed system (protocol §1.1, vectors `otp-key-parse`).
 *
 * @throws TypeError on any other character, and on left-over bits that are not zero
 */
export const parseBase32 = (text: string): Uint8Array => {
  const letters = lettersOf(text)
  const bytes = new Uint8Array(Math.floor((letters.length * 5) / 8))
  let bits = 0
  let buffer = 0
  let length = 0
  for (const letter of letters) {
    const value = BASE32_ALPHABET.indexOf(letter)
    if (value < 0) throw new TypeError(`Invalid character ${letter}`)
    buffer = ((buffer << 5) | value) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes[length++] = buffer >> bits
    }
  }
  if (bits >= 5 || (buffer & ((1 << bits) - 1)) !== 0) throw new TypeError('Unexpected end of data')
  return bytes
}

/** Compares two byte strings in a time that depends on their lengths only (protocol §1.2). */
export const equalBytes = (left: Uint8Array, right: Uint8Array): boolean => {
  if (left.length !== right.length) return false
  let difference = 0
  for (let i = 0; i < left.length; i++) difference |= (left[i] ?? 0) ^ (right[i] ?? 0)
  return difference === 0
}

/** Names and ids are hashed by the ten thousand, and the way into the library takes longer than the hash. */
const asciiOf = (text: string): Uint8Array | undefined => {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) return undefined
    bytes[i] = code
  }
  return bytes
}

const SHORT = 128

const MAX_BASE58_LETTERS = 512

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]*$/

const BASE32_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

const lettersOf = (text: string): string => {
  const upper = text.toUpperCase().replaceAll('0', 'O').replaceAll('1', 'L').replaceAll('8', 'B')
  let end = upper.length
  while (end > 0 && upper[end - 1] === '=') end--
  return upper.slice(0, end)
}

/**
 * The letters of a base58 text: one leading `1` for each leading zero byte.
 *
 * Ours, because file names are made by the ten thousand and the library's portable form takes longer than their hash;
 * tested against it.
 */
const spellBase58 = (bytes: Uint8Array): string => {
  const limbs = limbsOf(bytes)
  let text = ''
  for (let i = limbs.length - 1; i >= 0; i -= 1) {
    const limb = limbs[i] ?? 0
    const high = Math.floor(limb / PAIRS.length)
    text += (PAIRS[high] ?? '') + (PAIRS[limb - high * PAIRS.length] ?? '')
  }
  let start = 0
  while (text.charCodeAt(start) === ZERO) start += 1
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1
  return '1'.repeat(zeros) + text.slice(start)
}

const LETTERS58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const ZERO = LETTERS58.charCodeAt(0)
/** Two letters each. */
const PAIRS = Array.from(LETTERS58).flatMap(first => Array.from(LETTERS58, second => first + second))
/** Four letters: so much times 2 to the power of 24 is still exact. */
const LIMB = PAIRS.length * PAIRS.length
const CHUNK = 3

/** The number that bytes are, big-endian, in limbs of four letters, the lowest first. */
const limbsOf = (bytes: Uint8Array): number[] => {
  const limbs: number[] = []
  for (let end = bytes.length % CHUNK || CHUNK; end <= bytes.length; end += CHUNK) {
    let carry = ((bytes[end - 3] ?? 0) << 16) | ((bytes[end - 2] ?? 0) << 8) | (bytes[end - 1] ?? 0)
    for (let i = 0; i < limbs.length; i += 1) {
      const value = (limbs[i] ?? 0) * 0x100_0000 + carry
      carry = Math.floor(value / LIMB)
      limbs[i] = value - carry * LIMB
    }
    for (; carry > 0; carry = Math.floor(carry / LIMB)) limbs.push(carry % LIMB)
  }
  return limbs
}

/**
 * Base64 with the standard alphabet and padding.
 *
 * Ours, because the library's portable form alone takes a fifth of the time of a box; tested against Node's.
 */
export const base64Of = (bytes: Uint8Array): string => {
  const { length } = bytes
  const letters = new Uint8Array(Math.ceil(length / 3) * 4)
  let to = 0
  for (let from = 0; from < length; from += 3) {
    const group = (byteAt(bytes, from) << 16) | (byteAt(bytes, from + 1) << 8) | byteAt(bytes, from + 2)
    letters[to++] = byteAt(LETTERS64, group >> 18)
    letters[to++] = byteAt(LETTERS64, (group >> 12) & 63)
    letters[to++] = byteAt(LETTERS64, (group >> 6) & 63)
    letters[to++] = byteAt(LETTERS64, group & 63)
  }
  const padding = (3 - (length % 3)) % 3
  letters.fill(PADDING, to - padding)
  return textOf(letters)
}

/**
 * The inverse of {@link base64Of}, strict: other letters, missing padding and spare bits are refused.
 *
 * @throws TypeError that quotes nothing of the text
 */
export const parseBase64 = (text: string): Uint8Array => {
  if (text.length % 4 !== 0) throw new TypeError('This is no base64 text')
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const end = text.length - padding
  const bytes = new Uint8Array((text.length * 3) / 4 - padding)
  let to = 0
  let wrong = 0
  for (let from = 0; from < end; from += 4) {
    const group =
      (valueAt(text, from, end) << 18) |
      (valueAt(text, from + 1, end) << 12) |
      (valueAt(text, from + 2, end) << 6) |
      valueAt(text, from + 3, end)
    wrong |= group
    bytes[to++] = group >> 16
    bytes[to++] = group >> 8
    bytes[to++] = group
    if (from + 4 > end) wrong |= -(group & (padding === 2 ? 0xffff : 0xff))
  }
  if (wrong < 0) throw new TypeError('This is no base64 text')
  return bytes
}

const LETTERS64 = utf8Of('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const PADDING = 0x3d

/** Negative where no letter is, which survives shifts and ORs. */
const VALUES = new Int8Array(256).fill(-1)
for (const [value, letter] of LETTERS64.entries()) VALUES[letter] = value

const byteAt = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0

/** Padding counts as zero bits. */
const valueAt = (text: string, index: number, end: number): number =>
  index < end ? (VALUES[text.charCodeAt(index)] ?? -1) : 0

/**
 * Writes a text's UTF-8 bytes from `start` on and gives where they end; at most three bytes a letter of the text.
 *
 * @throws TypeError if the text holds a lone surrogate
 */
export const writeUtf8 = (text: string, bytes: Uint8Array, start: number): number => {
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
