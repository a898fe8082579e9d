import { textOf, utf8Of } from './encoding.ts'

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
    letters[to++] = byteAt(LETTERS, group >> 18)
    letters[to++] = byteAt(LETTERS, (group >> 12) & 63)
    letters[to++] = byteAt(LETTERS, (group >> 6) & 63)
    letters[to++] = byteAt(LETTERS, group & 63)
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

const LETTERS = utf8Of('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const PADDING = 0x3d

/** Negative where no letter is, which survives shifts and ORs. */
const VALUES = new Int8Array(256).fill(-1)
for (const [value, letter] of LETTERS.entries()) VALUES[letter] = value

const byteAt = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0

/** Padding counts as zero bits. */
const valueAt = (text: string, index: number, end: number): number =>
  index < end ? (VALUES[text.charCodeAt(index)] ?? -1) : 0
