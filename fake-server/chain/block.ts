import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { sha256x2 } from '@scure/btc-signer/utils.js'
import type { Coin } from './coins.ts'
import { merkleRootOf } from './merkle.ts'
import { type ChainNetwork, REGTEST_BITS } from './network.ts'
import { type ChainTransaction, decodeTransaction } from './transaction.ts'

/** The fields of a block header; hashes in display order, time in unix seconds. */
export interface BlockHeader {
  readonly version: number
  readonly previous: string
  readonly merkleRoot: string
  readonly time: number
  readonly bits: number
  readonly nonce: number
}

/** A block that carries its proof of work. */
export interface Block {
  readonly hash: string
  /** The 80 bytes of the header, in hex. */
  readonly headerHex: string
  readonly header: BlockHeader
  readonly transactions: readonly ChainTransaction[]
}

/** A block in the chain, with the coins it spent so that a reorg can give them back. */
export interface ChainBlock extends Block {
  readonly height: number
  /** For each transaction the coins of its inputs; none for the coinbase. */
  readonly spent: readonly (readonly Coin[])[]
}

/** What is needed to work on a block; the nonce is what is worked out. */
export interface BlockTemplate {
  readonly previous: string
  readonly time: number
  readonly transactions: readonly ChainTransaction[]
}

/** Works out the nonce of a new block. On regtest the second try succeeds on average. */
export const workBlock = ({ previous, time, transactions }: BlockTemplate): Block => {
  const merkleRoot = merkleRootOf(transactions.map(tx => tx.txid))
  for (let nonce = 0; ; nonce += 1) {
    const header = { version: 0x20000000, previous, merkleRoot, time, bits: REGTEST_BITS, nonce }
    const bytes = encodeHeader(header)
    const hash = hashOfHeader(bytes)
    if (meetsTarget(hash)) return { hash, headerHex: bytesToHex(bytes), header, transactions }
  }
}

/**
 * Puts a block together from its parts and checks what they prove about each other.
 *
 * @throws Error if the header is malformed, lacks its work, or names other transactions
 */
export const decodeBlock = (headerHex: string, transactions: readonly ChainTransaction[]): Block => {
  const bytes = hexToBytes(headerHex)
  const header = decodeHeader(bytes)
  const hash = hashOfHeader(bytes)
  if (header.bits !== REGTEST_BITS || !meetsTarget(hash))
    throw new Error('has a header without proof of work')
  if (transactions.length === 0 || merkleRootOf(transactions.map(tx => tx.txid)) !== header.merkleRoot) {
    throw new Error('has transactions that its header does not name')
  }
  return { hash, headerHex: bytesToHex(bytes), header, transactions }
}

/** The first block of a network, which its chains start from; its coins can never be spent. */
export const genesisBlock = ({ genesis }: ChainNetwork): ChainBlock => ({
  ...decodeBlock(genesis.header, [decodeTransaction(genesis.transaction)]),
  height: 0,
  spent: [[]]
})

/** Serializes a header into its 80 bytes. */
const encodeHeader = (header: BlockHeader): Uint8Array => {
  const bytes = new Uint8Array(80)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, header.version, true)
  bytes.set(hexToBytes(header.previous).reverse(), 4)
  bytes.set(hexToBytes(header.merkleRoot).reverse(), 36)
  view.setUint32(68, header.time, true)
  view.setUint32(72, header.bits, true)
  view.setUint32(76, header.nonce, true)
  return bytes
}

/** Reads 80 bytes. @throws Error for any other length */
const decodeHeader = (bytes: Uint8Array): BlockHeader => {
  if (bytes.length !== 80) throw new Error('has a header that is not 80 bytes long')
  const view = new DataView(bytes.buffer, bytes.byteOffset, 80)
  return {
    version: view.getUint32(0, true),
    previous: bytesToHex(bytes.slice(4, 36).reverse()),
    merkleRoot: bytesToHex(bytes.slice(36, 68).reverse()),
    time: view.getUint32(68, true),
    bits: view.getUint32(72, true),
    nonce: view.getUint32(76, true)
  }
}

const hashOfHeader = (bytes: Uint8Array): string => bytesToHex(sha256x2(bytes).reverse())

const meetsTarget = (hash: string): boolean => hash <= `7fffff${'0'.repeat(58)}`
