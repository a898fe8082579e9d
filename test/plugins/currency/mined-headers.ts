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

/** What a merged header claims, where it is not as it should be. */
export interface MergedFaults {
  readonly chainId?: number
  readonly parentChainId?: number
  readonly branchIndex?: number
  readonly chainIndex?: number
  readonly size?: number
  readonly named?: string
  readonly marks?: number
  readonly levels?: number
  readonly root?: Buffer
  readonly isLazy?: boolean
  /** The coinbase has the marker of witnesses, and its script stands in an output. */
  readonly hasMarker?: boolean
}

const twice = (bytes: Uint8Array): Buffer => Buffer.from(sha256(sha256(bytes)))

/** Headers of Dogecoin's kind that follow each other: the work of each is that of a block of another chain, which names it. */
export const mineMergedHeaders = (
  { count, time, spacing = 60, bits = 0x207fffff, after }: Omit<MiningOptions, 'hash'>,
  {
    chainId = 98,
    parentChainId = 0x2000,
    branchIndex = 0,
    levels = 2,
    marks = 1,
    isLazy = false,
    hasMarker = false,
    ...claimed
  }: MergedFaults = {}
): readonly MinedHeader[] => {
  const headers: MinedHeader[] = []
  for (let at = 0; at < count; at++) {
    const own = Buffer.alloc(80)
    const previous = headers.at(-1)?.hash ?? after?.hash
    own.writeUInt32LE(((chainId << 16) | 0x104) >>> 0, 0)
    if (previous !== undefined) own.set(Buffer.from(previous, 'hex').reverse(), 4)
    own.writeUInt32LE(time + at * spacing, 68)
    own.writeUInt32LE(bits, 72)
    const hash = Buffer.from(twice(own)).reverse().toString('hex')
    // The place that belongs to this nonce, by the generator of the deployed nodes.
    const nonce = 7 + at
    const next = (value: number): number => (Math.imul(value, 1103515245) + 12345) >>> 0
    const { chainIndex = next((next(nonce) + 98) >>> 0) % 2 ** levels, size = 2 ** levels } = claimed
    const chainBranch = Array.from({ length: levels }, (_, level) => twice(Buffer.from([level, at])))
    let root = twice(own)
    for (const [level, sibling] of chainBranch.entries())
      root = twice(Buffer.concat(((chainIndex >>> level) & 1) === 1 ? [sibling, root] : [root, sibling]))
    const tail = Buffer.alloc(8)
    tail.writeUInt32LE(size, 0)
    tail.writeUInt32LE(nonce, 4)
    const { named = Buffer.from(root).reverse().toString('hex') } = claimed
    const mark = Buffer.from('fabe6d6d', 'hex')
    const script = Buffer.concat([
      Buffer.from([3, 1, 2, 3]),
      ...Array.from({ length: marks }, () => mark),
      Buffer.from(named, 'hex'),
      tail
    ])
    const inInput = [
      ...[Buffer.from([1, 0, 0, 0, 1]), Buffer.alloc(32), Buffer.from('ffffffff', 'hex')],
      ...[Buffer.from([script.length]), script, Buffer.from('ffffffff', 'hex'), Buffer.from([1])],
      ...[Buffer.alloc(8), Buffer.from([1, 0x6a]), Buffer.alloc(4)]
    ]
    // It stands at the same place as in an input.
    const inOutput = [
      ...[Buffer.from([1, 0, 0, 0, 0, 1]), Buffer.alloc(8), Buffer.from([27 + script.length])],
      ...[Buffer.alloc(26), Buffer.from([script.length]), script, Buffer.alloc(4)]
    ]
    const coinbase = Buffer.concat(hasMarker ? inOutput : inInput)
    const sibling = twice(Buffer.from([9, at]))
    const parent = Buffer.alloc(80)
    parent.writeUInt32LE((parentChainId << 16) >>> 0, 0)
    parent.set(claimed.root ?? twice(Buffer.concat([twice(coinbase), sibling])), 36)
    for (let tried = 0; ; tried++) {
      parent.writeUInt32LE(tried, 76)
      if (meets(parent, 'scrypt', bits) !== isLazy) break
    }
    const number = (value: number): Buffer => {
      const four = Buffer.alloc(4)
      four.writeUInt32LE(value)
      return four
    }
    const bytes = Buffer.concat([
      ...[own, coinbase, Buffer.alloc(32), Buffer.from([1]), sibling, number(branchIndex)],
      ...[Buffer.from([levels]), ...chainBranch, number(chainIndex), parent]
    ])
    headers.push({ bytes: Uint8Array.from(bytes), hash, time: time + at * spacing })
  }
  return headers
}

const meets = (bytes: Uint8Array, hash: 'sha256' | 'scrypt', bits: number): boolean => {
  const found =
    hash === 'sha256' ? sha256(sha256(bytes)) : scryptSync(bytes, bytes, 32, { N: 1024, r: 1, p: 1 })
  const target = BigInt(bits & 0x7fffff) << BigInt(8 * ((bits >>> 24) - 3))
  return BigInt(`0x${Buffer.from(found).reverse().toString('hex')}`) <= target
}
