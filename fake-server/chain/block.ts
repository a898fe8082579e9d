import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { RawTx, ScriptNum } from '@scure/btc-signer'
import { concatBytes, sha256x2 } from '@scure/btc-signer/utils.js'
import { type ChainNetwork, REGTEST_BITS } from './chain-params.ts'
import { type ChainCoin, type ChainTransaction, decodeTransaction, NO_TXID } from './transaction.ts'

/** The fields of a block header; hashes in display order, time in unix seconds. */
export interface ChainHeader {
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
  readonly header: ChainHeader
  readonly transactions: readonly ChainTransaction[]
}

/** A block in the chain, with the coins it spent so that a reorg can give them back. */
export interface ChainBlock extends Block {
  readonly height: number
  /** For each transaction the coins of its inputs; none for the coinbase. */
  readonly spent: readonly (readonly ChainCoin[])[]
}

/** The fields of a block before its proof of work, which finds the nonce. */
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
const encodeHeader = (header: ChainHeader): Uint8Array => {
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
const decodeHeader = (bytes: Uint8Array): ChainHeader => {
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

/** Hashes from the leaf's sibling up to the one below the root, in display order; `position` gives the sides. */
export interface MerkleBranch {
  readonly branch: readonly string[]
  readonly root: string
}

/** The merkle root of hashes in display order (Bitcoin: an odd last hash is paired with itself). */
export const merkleRootOf = (hashes: readonly string[]): string => merkleBranchOf(hashes, 0).root

/**
 * The proof that the hash at `position` belongs to the root.
 *
 * @throws RangeError if there is no hash at this position
 */
export const merkleBranchOf = (hashes: readonly string[], position: number): MerkleBranch => {
  if (!(position in hashes)) throw new RangeError('There is no hash at this position')
  const branch: string[] = []
  let level = hashes.map(bytesOf)
  let at = position
  while (level.length > 1) {
    branch.push(displayOf(level[at ^ 1] ?? (level[at] as Uint8Array)))
    level = parentsOf(level)
    at >>= 1
  }
  return { branch, root: displayOf(level[0] as Uint8Array) }
}

const parentsOf = (level: readonly Uint8Array[]): Uint8Array[] => {
  const parents: Uint8Array[] = []
  for (let i = 0; i < level.length; i += 2) {
    const left = level[i] as Uint8Array
    parents.push(sha256x2(left, level[i + 1] ?? left))
  }
  return parents
}

const bytesOf = (hash: string): Uint8Array => hexToBytes(hash).reverse()

const displayOf = (hash: Uint8Array): string => bytesToHex(hash.slice().reverse())

/** Options of {@link makeCoinbase}. */
export interface CoinbaseOptions {
  readonly height: number
  /** The script that earns the subsidy and the fees. */
  readonly script: Uint8Array
  readonly amount: bigint
  /** Makes the coinbase of two blocks at the same height differ. */
  readonly extraNonce: Uint8Array
  /** The other transactions of the block, which the witness commitment covers. */
  readonly transactions: readonly ChainTransaction[]
}

/** Makes the transaction that creates new coins, with the height (BIP34) and the witness commitment (BIP141). */
export const makeCoinbase = ({
  height,
  script,
  amount,
  extraNonce,
  transactions
}: CoinbaseOptions): ChainTransaction =>
  decodeTransaction(
    bytesToHex(
      RawTx.encode({
        version: 2,
        segwitFlag: true,
        inputs: [
          {
            txid: hexToBytes(NO_TXID),
            index: 0xffffffff,
            finalScriptSig: concatBytes(heightPush(height), Uint8Array.of(extraNonce.length), extraNonce),
            sequence: 0xffffffff
          }
        ],
        outputs: [
          { amount, script },
          { amount: 0n, script: commitmentScript(transactions, RESERVED) }
        ],
        witnesses: [[RESERVED]],
        lockTime: 0
      })
    )
  )

/** Why a transaction cannot be the coinbase of a block with these others; undefined if it can. */
export const faultOfCoinbase = (
  coinbase: ChainTransaction,
  height: number,
  transactions: readonly ChainTransaction[]
): string | undefined => {
  const push = bytesToHex(heightPush(height))
  const input = coinbase.inputs[0]
  if (input === undefined || !bytesToHex(input.script).startsWith(push)) return 'bad-cb-height'
  const [reserved, ...rest] = input.witness
  if (reserved?.length !== 32 || rest.length > 0) return 'bad-witness-nonce-size'
  const expected = bytesToHex(commitmentScript(transactions, reserved))
  const found = coinbase.outputs.findLast(output => bytesToHex(output.script).startsWith(COMMITMENT_PREFIX))
  return found !== undefined && bytesToHex(found.script) === expected ? undefined : 'bad-witness-merkle-match'
}

const RESERVED = new Uint8Array(32)
const COMMITMENT_PREFIX = '6a24aa21a9ed'

const heightPush = (height: number): Uint8Array => {
  if (height <= 16) return Uint8Array.of(0x50 + height)
  const number = ScriptNum().encode(BigInt(height))
  return concatBytes(Uint8Array.of(number.length), number)
}

const commitmentScript = (transactions: readonly ChainTransaction[], reserved: Uint8Array): Uint8Array => {
  const root = hexToBytes(merkleRootOf([NO_TXID, ...transactions.map(tx => tx.wtxid)])).reverse()
  return concatBytes(hexToBytes(COMMITMENT_PREFIX), sha256x2(root, reserved))
}
