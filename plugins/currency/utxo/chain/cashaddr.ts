import { bech32 } from '@scure/base'
import type { ScriptType } from '../params/coin.ts'

/** What an address of Bitcoin Cash pays to. */
export interface CashProgram {
  readonly type: Extract<ScriptType, 'p2pkh' | 'p2sh'>
  readonly data: Uint8Array
}

/** Writes an address of Bitcoin Cash, with its prefix (specification "CashAddr", of 2017). */
export const encodeCashaddr = (prefix: string, { type, data }: CashProgram): string => {
  const words = bech32.toWords(Uint8Array.of(type === 'p2sh' ? P2SH << 3 : 0, ...data))
  const checksum = polymod([...wordsOfPrefix(prefix), ...words, ...new Array<number>(CHECKSUM).fill(0)])
  const tail = Array.from({ length: CHECKSUM }, (_, at) => Number((checksum >> BigInt(5 * (7 - at))) & 31n))
  return `${prefix}:${[...words, ...tail].map(word => LETTERS.charAt(word)).join('')}`
}

/**
 * Reads the part of an address behind the prefix, in lower case; undefined if its checksum is not that of the prefix.
 *
 * An address that says that its wallet knows tokens is read as one that does not (CHIP-2022-02 CashTokens).
 *
 * @throws TypeError for a right checksum around what cannot be paid
 */
export const decodeCashaddr = (prefix: string, text: string): CashProgram | undefined => {
  const words = [...text].map(letter => LETTERS.indexOf(letter))
  if (words.length <= CHECKSUM || words.includes(-1)) return undefined
  if (polymod([...wordsOfPrefix(prefix), ...words]) !== 0n) return undefined
  const [version = 0, ...data] = bech32.fromWords(words.slice(0, -CHECKSUM))
  const type = version >> 3
  // The low bits have the length: 0 for 20 bytes.
  const isShort = (version & LENGTH) === 0 && data.length === 20
  if (!isShort || type > TOKEN_P2SH) throw new TypeError('Not payable')
  return { type: type === P2SH || type === TOKEN_P2SH ? 'p2sh' : 'p2pkh', data: Uint8Array.from(data) }
}

const P2SH = 1
const TOKEN_P2SH = 3
const CHECKSUM = 8
const LENGTH = 7
const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const GENERATORS = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n]

const wordsOfPrefix = (prefix: string): number[] => [
  ...[...prefix].map(letter => letter.charCodeAt(0) & 31),
  0
]

/** The checksum of the specification: a BCH code over 40 bits. */
const polymod = (words: readonly number[]): bigint => {
  let sum = 1n
  for (const word of words) {
    const top = sum >> 35n
    sum = ((sum & 0x07ffffffffn) << 5n) ^ BigInt(word)
    for (const [at, generator] of GENERATORS.entries()) if ((top >> BigInt(at)) & 1n) sum ^= generator
  }
  return sum ^ 1n
}
