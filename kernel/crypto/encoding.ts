import { base32nopad, base58, utf8 } from '@scure/base'
import { spellBase58 } from './base58.ts'

/**
 * The UTF-8 bytes of a text.
 *
 * Strict (protocol §1.1).
 *
 * @throws TypeError if the text holds a lone surrogate
 */
export const utf8Of = (text: string): Uint8Array =>
  (text.length <= SHORT ? asciiOf(text) : undefined) ?? utf8.decode(text)

/** Tells whether a text has bytes: one with half a character in it has none, so that nobody could ever type it again. */
export const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text)

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
