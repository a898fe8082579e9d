import { utf8Of } from '../../crypto/encoding.ts'
import type { ChunkCrypto } from './chunk.ts'

/** Where {@link hashKey} leaves its 64 bits: the lower half, then the upper. */
export type KeyHash = Uint32Array

/** Room for one hash. */
export const makeKeyHash = (): KeyHash => new Uint32Array(2)

/**
 * The seed for the keys of a table, made from the key of the store.
 *
 * Nobody without that key can aim at a collision, and there is no seed to keep or to lose.
 */
export const seedOf = ({ io, key }: ChunkCrypto, table: string): KeyHash => {
  const digest = key.use(secret => io.crypto.hmacSha256(secret, utf8Of(`table ${table}`)))
  return new Uint32Array(digest.slice(0, 8).buffer)
}

/**
 * Hashes a key to 64 bits under a secret seed of two words, into `hash`.
 *
 * Two lanes of multiply and rotate with a final avalanche: no cryptography. By chance 100,000 keys meet once in four billion tables.
 */
export const hashKey = (seed: KeyHash, key: string, hash: KeyHash): void => {
  let low = seed[0] ?? 0
  let high = seed[1] ?? 0
  for (let i = 0; i < key.length; i += 1) {
    const code = key.charCodeAt(i)
    low = Math.imul(((low << 5) | (low >>> 27)) ^ code, 0x9e3779b1)
    high = Math.imul(((high << 7) | (high >>> 25)) ^ code, 0x85ebca77)
  }
  const mixedLow = mix(low ^ key.length ^ (high >>> 16), 0x85ebca6b, 0xc2b2ae35)
  hash[0] = mixedLow
  hash[1] = mix(high ^ mixedLow, 0xcc9e2d51, 0x1b873593)
}

const mix = (word: number, first: number, second: number): number => {
  const once = Math.imul(word ^ (word >>> 16), first)
  const twice = Math.imul(once ^ (once >>> 13), second)
  return twice ^ (twice >>> 16)
}
