/**
 * The letters of a base58 text: one leading `1` for each leading zero byte.
 *
 * Ours, because file names are made by the ten thousand and the library's portable form takes longer than their hash;
 * tested against it.
 */
export const spellBase58 = (bytes: Uint8Array): string => {
  const limbs = limbsOf(bytes)
  let text = ''
  for (const limb of limbs) text = lettersOf(limb) + text
  let start = 0
  while (text.charCodeAt(start) === ZERO) start += 1
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1
  return '1'.repeat(zeros) + text.slice(start)
}

const LETTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const ZERO = LETTERS.charCodeAt(0)
/** 58 to the power of five: so much times 65,536 is still exact. */
const LIMB = 656_356_768

/** The number that bytes are, big-endian, in limbs of five letters, the lowest first. */
const limbsOf = (bytes: Uint8Array): number[] => {
  const limbs: number[] = []
  let at = bytes.length % 2
  if (at === 1) limbs.push(bytes[0] ?? 0)
  for (; at < bytes.length; at += 2) {
    let carry = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
    for (let i = 0; i < limbs.length; i += 1) {
      const value = (limbs[i] ?? 0) * 65_536 + carry
      carry = Math.floor(value / LIMB)
      limbs[i] = value - carry * LIMB
    }
    if (carry > 0) limbs.push(carry)
  }
  return limbs
}

const lettersOf = (limb: number): string =>
  String.fromCharCode(
    letterAt(Math.floor(limb / 11_316_496)),
    letterAt(Math.floor(limb / 195_112)),
    letterAt(Math.floor(limb / 3364)),
    letterAt(Math.floor(limb / 58)),
    letterAt(limb)
  )

const letterAt = (digits: number): number => LETTERS.charCodeAt(digits % 58)
