/**
 * The letters of a base58 text: one leading `1` for each leading zero byte.
 *
 * Ours, because file names are made by the ten thousand and the library's portable form takes longer than their hash;
 * tested against it.
 */
export const spellBase58 = (bytes: Uint8Array): string => {
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

const LETTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const ZERO = LETTERS.charCodeAt(0)
/** Two letters each. */
const PAIRS = Array.from(LETTERS).flatMap(first => Array.from(LETTERS, second => first + second))
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
