import { scrypt } from '@noble/hashes/scrypt.js'
import type { CryptoPort, Txid } from '../../../../kernel/plugin-api.ts'
import type { BlockWork, HeaderForm, NetworkRow } from '../params/coin.ts'
import { targetOf } from './difficulty.ts'
import { checkMergedWork, readMergedWork } from './merged-work.ts'
import { hexOfReversed, sha256Twice } from './transaction.ts'

/** A block header, parsed. Hashes as shown. */
export interface BlockHeader {
  /** SHA-256 twice, which is the name of the block but on Dash. */
  readonly hash: string
  readonly previous: string
  readonly merkleRoot: string
  /** Unix seconds. */
  readonly time: number
  /** The target that it claims, in its compact form. */
  readonly bits: number
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
  const bits = view.getUint32(72, true)
  if (typeof work === 'object' && workOf(bytes, hash, work) > claimedTarget(bits, work))
    throw new TypeError(NO_WORK)
  return {
    hash,
    previous: hexOfReversed(bytes.subarray(4, 36)),
    merkleRoot: hexOfReversed(bytes.subarray(36, 68)),
    time: view.getUint32(68, true),
    bits
  }
}

/**
 * Checks that a header meets its own target, by the platform's own scrypt, which lets other work have its turn.
 *
 * @throws TypeError if it does not
 */
export const checkWork = async (
  bytes: Uint8Array,
  { hash, bits }: Pick<BlockHeader, 'bits' | 'hash'>,
  { work, crypto }: { readonly work: BlockWork; readonly crypto: Pick<CryptoPort, 'scrypt'> }
): Promise<void> => {
  const weighed = weighedOf(bytes, work)
  const found =
    work.hash === 'sha256'
      ? BigInt(`0x${hash}`)
      : BigInt(`0x${hexOfReversed(await crypto.scrypt(weighed, weighed, { n: 1024, r: 1, p: 1 }, 32))}`)
  if (found > claimedTarget(bits, work)) throw new TypeError(NO_WORK)
}

const NO_WORK = 'A block header has not the work it claims'

/** The Merkle root that a branch proves for a transaction. `path`: hashes as shown, from the leaf up. */
export const merkleBranchRoot = (txid: Txid, path: readonly string[], position: number): string => {
  let node: string = txid
  let at = position
  for (const sibling of path) {
    node = at % 2 === 1 ? merklePair(sibling, node) : merklePair(node, sibling)
    at = Math.floor(at / 2)
  }
  return node
}

/** The node above two nodes of a Merkle tree, each as shown. */
export const merklePair = (left: string, right: string): string => {
  const pair = new Uint8Array(64)
  pair.set(bytesOfReversed(left))
  pair.set(bytesOfReversed(right), 32)
  return hexOfReversed(sha256Twice(pair))
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
  const weighed = weighedOf(bytes, work)
  return BigInt(`0x${hexOfReversed(scrypt(weighed, weighed, { N: 1024, r: 1, p: 1, dkLen: 32 }))}`)
}

/** The header whose hash is the work of a block: its own, or that of the other chain's block that names it. @throws TypeError */
const weighedOf = (bytes: Uint8Array, { mergedChainId }: BlockWork): Uint8Array => {
  if (mergedChainId === undefined) return bytes
  const merged = readMergedWork(bytes)
  if ((merged?.length ?? PLAIN) !== bytes.length)
    throw new TypeError('A block header has something behind its work')
  if (merged === undefined) return bytes
  checkMergedWork(bytes, merged, mergedChainId)
  return merged.parent
}

const claimedTarget = (bits: number, { easiest }: BlockWork): bigint => {
  const target = targetOf(bits)
  return target > easiest ? 0n : target
}

const bytesOfReversed = (text: string): Uint8Array => {
  const bytes = new Uint8Array(32)
  for (let at = 0; at < 32; at++) bytes[31 - at] = Number.parseInt(text.slice(at * 2, at * 2 + 2), 16)
  return bytes
}
