import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { RawTx, ScriptNum } from '@scure/btc-signer'
import { concatBytes, equalBytes, sha256x2 } from '@scure/btc-signer/utils.js'
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
  /** The header in hex: 80 bytes, or what its network has. */
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
  readonly network: ChainNetwork
  readonly height: number
  readonly previous: string
  readonly time: number
  readonly transactions: readonly ChainTransaction[]
}

/**
 * Makes a new block, with the nonce that its network needs: on regtest the second try succeeds on average. In the form of a main
 * network it proves no work.
 */
export const workBlock = ({ network, height, previous, time, transactions }: BlockTemplate): Block => {
  const merkleRoot = merkleRootOf(transactions.map(tx => tx.txid))
  const { version = 0x20000000, hasHeight = false } = network.blockForm ?? {}
  for (let nonce = 0; ; nonce += 1) {
    const last = hasHeight ? height : nonce
    const header = { version, previous, merkleRoot, time, bits: REGTEST_BITS, nonce: last }
    const bytes = withTail(encodeHeader(header), network)
    const hash = hashOfHeader(bytes, network)
    if (network.name === 'mainnet' || meetsTarget(hash))
      return { hash, headerHex: bytesToHex(bytes), header, transactions }
  }
}

/**
 * Puts a block together from its parts and checks what they prove about each other.
 *
 * @throws Error if the header is malformed, lacks its work, or names other transactions
 */
export const decodeBlock = (
  network: ChainNetwork,
  headerHex: string,
  transactions: readonly ChainTransaction[]
): Block => {
  const bytes = hexToBytes(headerHex)
  const header = decodeHeader(bytes)
  if (!equalBytes(withTail(bytes.subarray(0, 80), network), bytes))
    throw new Error('has a header of another form than those of its chain')
  const hash = hashOfHeader(bytes, network)
  const isWorked = network.name === 'mainnet' || meetsTarget(hash)
  if (header.bits !== REGTEST_BITS || !isWorked) throw new Error('has a header without proof of work')
  if (transactions.length === 0 || merkleRootOf(transactions.map(tx => tx.txid)) !== header.merkleRoot) {
    throw new Error('has transactions that its header does not name')
  }
  return { hash, headerHex: bytesToHex(bytes), header, transactions }
}

/** The first block of a network, which its chains start from; its coins can never be spent. */
export const genesisBlock = (network: ChainNetwork): ChainBlock => {
  const { header, transaction, hash } = network.genesis
  const block =
    transaction === undefined
      ? { hash, headerHex: header, header: decodeHeader(hexToBytes(header)), transactions: [] }
      : decodeBlock(network, header, [decodeTransaction(transaction)])
  return { ...block, height: 0, spent: [[]] }
}

/** Serializes the first 80 bytes of a header. */
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

/** Puts behind a header what its network has there. */
const withTail = (plain: Uint8Array, { blockForm }: ChainNetwork): Uint8Array =>
  blockForm?.tailOf === undefined ? plain : concatBytes(plain, blockForm.tailOf(plain))

/** Reads the first 80 bytes. @throws Error if there are fewer */
const decodeHeader = (bytes: Uint8Array): ChainHeader => {
  if (bytes.length < 80) throw new Error('has a header that is cut off')
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

const hashOfHeader = (bytes: Uint8Array, { blockForm }: ChainNetwork): string =>
  displayOf(sha256x2(blockForm?.namedBytes?.(bytes) ?? bytes))

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
  readonly network: ChainNetwork
  readonly height: number
  /** The script that earns the subsidy and the fees. */
  readonly script: Uint8Array
  readonly amount: bigint
  /** Makes the coinbase of two blocks at the same height differ. */
  readonly extraNonce: Uint8Array
  /** The other transactions of the block, which the witness commitment covers. */
  readonly transactions: readonly ChainTransaction[]
}

/** Makes the transaction that creates new coins, with the height (BIP34) and, where there is segwit, the witness commitment (BIP141). */
export const makeCoinbase = ({
  network: { hasSegwit },
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
        segwitFlag: hasSegwit,
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
          ...(hasSegwit ? [{ amount: 0n, script: commitmentScript(transactions, RESERVED) }] : [])
        ],
        witnesses: hasSegwit ? [[RESERVED]] : undefined,
        lockTime: 0
      })
    )
  )

/** Why a transaction cannot be the coinbase of a block with these others; undefined if it can. */
export const faultOfCoinbase = (
  coinbase: ChainTransaction,
  { network, height, transactions }: Pick<CoinbaseOptions, 'height' | 'network' | 'transactions'>
): string | undefined => {
  const push = bytesToHex(heightPush(height))
  const input = coinbase.inputs[0]
  if (input === undefined || !bytesToHex(input.script).startsWith(push)) return 'bad-cb-height'
  if (!network.hasSegwit) return undefined
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
