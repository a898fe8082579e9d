import { normalizeZ } from '@noble/curves/abstract/curve.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha512 } from '@noble/hashes/sha2.js'
import type { HDKey } from '@scure/bip32'

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
 * Derives public keys `from … from + count - 1` below a node, without hardening (BIP-32 CKDpub).
 *
 * Only public data goes in, so the multiplication may take variable time, and the whole batch shares one field
 * inversion; that is what makes it faster than one key at a time. An index that BIP-32 calls invalid
 * (chance 2^-127) gives undefined.
 */
export const childKeys = (node: PublicNode, from: number, count: number): (Uint8Array | undefined)[] => {
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
