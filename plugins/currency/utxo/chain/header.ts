import { scrypt } from '@noble/hashes/scrypt.js'
import type { Txid } from '../../../../kernel/plugin-api.ts'
import type { BlockWork, HeaderForm, NetworkRow } from '../params/coin.ts'
import { hexOfReversed, sha256Twice } from './transaction.ts'

/** A block header, parsed. Hashes as shown. */
export interface BlockHeader {
  /** SHA-256 twice, which is the name of the block but on Dash. */
  readonly hash: string
  readonly previous: string
  readonly merkleRoot: string
  /** Unix seconds. */
  readonly time: number
}

/**
 * Parses a block header and, where its work can be weighed here, checks that it meets its own target.
 *
 * The hash of a block is SHA-256 twice whatever hash its work is counted by; scrypt takes some milliseconds.
 *
 * @throws TypeError for another length, or work that is missing
 */
export const parseHeader = (
  bytes: Uint8Array,
  { work, headerForm }: Pick<NetworkRow, 'headerForm' | 'work'>
): BlockHeader => {
  if (!isWhole(bytes, headerForm)) throw new TypeError('A block header has another length than its chain has')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const hash = hexOfReversed(sha256Twice(headerForm === 'auxpow' ? bytes.subarray(0, PLAIN) : bytes))
  if (typeof work === 'object' && workOf(bytes, hash, work) > targetOf(view.getUint32(72, true), work)) {
    throw new TypeError('A block header has not the work it claims')
  }
  return {
    hash,
    previous: hexOfReversed(bytes.subarray(4, 36)),
    merkleRoot: hexOfReversed(bytes.subarray(36, 68)),
    time: view.getUint32(68, true)
  }
}

/** The Merkle root that a branch proves for a transaction. `path`: hashes as shown, from the leaf up. */
export const merkleBranchRoot = (txid: Txid, path: readonly string[], position: number): string => {
  let node = bytesOfReversed(txid)
  let at = position
  for (const sibling of path) {
    const other = bytesOfReversed(sibling)
    const pair = new Uint8Array(64)
    pair.set(at % 2 === 1 ? other : node)
    pair.set(at % 2 === 1 ? node : other, 32)
    node = sha256Twice(pair)
    at = Math.floor(at / 2)
  }
  return hexOfReversed(node)
}

const PLAIN = 80
/** The nonces and the hash of FiroPoW, and before it those of MTP. */
const FIRO_LENGTHS: readonly number[] = [PLAIN, 120, 180]
/** Two roots of the contracts' state and the outpoint that is staked; a signature follows. */
const STAKE = PLAIN + 32 + 32 + 36

const isWhole = (bytes: Uint8Array, form: HeaderForm | undefined): boolean => {
  if (form === 'auxpow') return bytes.length >= PLAIN
  if (form === 'firo') return FIRO_LENGTHS.includes(bytes.length)
  // The signature is shorter than 253 bytes, so that one byte counts its length.
  if (form === 'stake') return bytes.length === STAKE + 1 + (bytes[STAKE] ?? 0) && bytes[STAKE] !== 0xfd
  return bytes.length === PLAIN
}

// Litecoin: RFC 7914 with the header as its own salt.
const workOf = (bytes: Uint8Array, hash: string, work: BlockWork): bigint => {
  if (work.hash === 'sha256') return BigInt(`0x${hash}`)
  return BigInt(`0x${hexOfReversed(scrypt(bytes, bytes, { N: 1024, r: 1, p: 1, dkLen: 32 }))}`)
}

const targetOf = (bits: number, { easiest }: BlockWork): bigint => {
  const exponent = bits >>> 24
  const mantissa = BigInt(bits & 0x7fffff)
  const target =
    exponent <= 3 ? mantissa >> BigInt(8 * (3 - exponent)) : mantissa << BigInt(8 * (exponent - 3))
  return target > easiest ? 0n : target
}

const bytesOfReversed = (text: string): Uint8Array => {
  const bytes = new Uint8Array(32)
  for (let at = 0; at < 32; at++) bytes[31 - at] = Number.parseInt(text.slice(at * 2, at * 2 + 2), 16)
  return bytes
}
