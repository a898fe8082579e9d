import { normalizeZ } from '@noble/curves/abstract/curve.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha512 } from '@noble/hashes/sha2.js'
import type { HDKey } from '@scure/bip32'
import { hexOf } from '../chain/transaction.ts'

const { Point } = secp256k1
const ORDER = Point.Fn.ORDER

/** The public half of a BIP-32 key: what child derivation needs. */
export interface PublicNode {
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array
  /** 32 bytes. */
  readonly chainCode: Uint8Array
}

/**
 * Derives public keys `from … from + count - 1` below a node, without hardening (BIP-32 CKDpub). An index that BIP-32
 * calls invalid (chance 2^-127) gives undefined.
 *
 * The first keys of the nodes used last are kept in memory, because the engine of a wallet and the check for own payees
 * need the same ones. They are shared: copy a key before you change it.
 */
export const childKeys = (
  node: PublicNode,
  from: number,
  count: number
): readonly (Uint8Array | undefined)[] => {
  const end = from + count
  const name = hexOf(node.publicKey) + hexOf(node.chainCode)
  const known = cache.get(name) ?? []
  if (from > known.length || end > CACHED_KEYS) return deriveChildKeys(node, from, count)
  if (end > known.length) known.push(...deriveChildKeys(node, known.length, end - known.length))
  cache.delete(name)
  cache.set(name, known)
  const [oldest] = cache.keys()
  if (cache.size > CACHED_NODES && oldest !== undefined) cache.delete(oldest)
  return known.slice(from, end)
}

/** The keys of each node from index 0 on, the node used last at the end. */
const cache = new Map<string, (Uint8Array | undefined)[]>()
const CACHED_NODES = 100
const CACHED_KEYS = 300

/**
 * Derives the same keys as {@link childKeys} and keeps none. Only public data goes in, so the multiplication may take
 * variable time, and the whole batch shares one field inversion; that makes it faster than one key at a time.
 */
export const deriveChildKeys = (
  node: PublicNode,
  from: number,
  count: number
): (Uint8Array | undefined)[] => {
  const parent = Point.fromBytes(node.publicKey)
  const data = new Uint8Array(37)
  data.set(node.publicKey)
  const view = new DataView(data.buffer)
  const points: (typeof parent)[] = []
  const places: number[] = []
  for (let i = 0; i < count; i++) {
    view.setUint32(33, from + i)
    const tweak = scalarOf(hmac(sha512, node.chainCode, data))
    if (tweak >= ORDER) continue
    const point = Point.BASE.multiplyUnsafe(tweak).add(parent)
    if (point.is0()) continue
    places.push(i)
    points.push(point)
  }
  const keys: (Uint8Array | undefined)[] = new Array(count).fill(undefined)
  normalizeZ(Point, points).forEach((point, at) => {
    keys[places[at] as number] = point.toBytes(true)
  })
  return keys
}

/** The node of a branch (receive or change) below an account. */
export const branchNodeOf = (account: HDKey, change: number): PublicNode => {
  const node = account.deriveChild(change)
  if (node.publicKey === null || node.chainCode === null) throw new TypeError('An account key must be public')
  return { publicKey: node.publicKey, chainCode: node.chainCode }
}

const scalarOf = (digest: Uint8Array): bigint => {
  const view = new DataView(digest.buffer, digest.byteOffset, 32)
  return (
    (view.getBigUint64(0) << 192n) |
    (view.getBigUint64(8) << 128n) |
    (view.getBigUint64(16) << 64n) |
    view.getBigUint64(24)
  )
}
