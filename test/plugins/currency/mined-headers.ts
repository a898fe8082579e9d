import { scryptSync } from 'node:crypto'
import { sha256 } from '@noble/hashes/sha2.js'

/** A header that a test has mined. */
export interface MinedHeader {
  readonly bytes: Uint8Array
  readonly hash: string
  readonly time: number
}

/** What headers are mined for. */
interface MiningOptions {
  readonly hash: 'sha256' | 'scrypt'
  readonly count: number
  /** Of the first, in Unix seconds. */
  readonly time: number
  readonly spacing?: number
  readonly bits?: number
  /** The one before the first; none before a first block. */
  readonly after?: MinedHeader | undefined
  /** Tells chains apart. */
  readonly seed?: number
  /** Takes the first nonce that has *not* enough work. */
  readonly isLazy?: boolean
}

/** Mines headers that follow each other; without a block before them, the first is that of a chain of its own. */
export const mineHeaders = ({
  hash,
  count,
  time,
  spacing = 600,
  bits = 0x207fffff,
  after,
  seed = 0,
  isLazy = false
}: MiningOptions): readonly MinedHeader[] => {
  const headers: MinedHeader[] = []
  for (let at = 0; at < count; at++) {
    const bytes = Buffer.alloc(80)
    const previous = headers.at(-1)?.hash ?? after?.hash
    bytes.writeUInt32LE(4, 0)
    if (previous !== undefined) bytes.set(Buffer.from(previous, 'hex').reverse(), 4)
    bytes.writeUInt32LE(seed * 1000 + at, 36)
    bytes.writeUInt32LE(time + at * spacing, 68)
    bytes.writeUInt32LE(bits, 72)
    for (let nonce = 0; ; nonce++) {
      bytes.writeUInt32LE(nonce, 76)
      if (meets(bytes, hash, bits) !== isLazy) break
    }
    const name = Buffer.from(sha256(sha256(bytes)))
      .reverse()
      .toString('hex')
    headers.push({ bytes: Uint8Array.from(bytes), hash: name, time: time + at * spacing })
  }
  return headers
}

const meets = (bytes: Uint8Array, hash: 'sha256' | 'scrypt', bits: number): boolean => {
  const found =
    hash === 'sha256' ? sha256(sha256(bytes)) : scryptSync(bytes, bytes, 32, { N: 1024, r: 1, p: 1 })
  const target = BigInt(bits & 0x7fffff) << BigInt(8 * ((bits >>> 24) - 3))
  return BigInt(`0x${Buffer.from(found).reverse().toString('hex')}`) <= target
}
