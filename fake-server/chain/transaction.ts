import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { RawTx } from '@scure/btc-signer'
import { RawOldTx } from '@scure/btc-signer/script.js'
import { concatBytes, sha256x2 } from '@scure/btc-signer/utils.js'
import type { Txid } from '../../kernel/types/ids.ts'
import { scriptHashOf } from './script.ts'

/** One output of an earlier transaction that is spent here. */
export interface ChainInput {
  /** Lower-case hex in display order. */
  readonly txid: Txid
  readonly index: number
  readonly script: Uint8Array
  readonly sequence: number
  readonly witness: readonly Uint8Array[]
}

/** An amount in native units and the script that guards it. */
export interface ChainOutput {
  readonly amount: bigint
  readonly script: Uint8Array
  /** The Electrum name of the script: reversed SHA-256, in hex. */
  readonly scriptHash: string
}

/** A decoded transaction with the bytes it came from. Never changed after decoding. */
export interface ChainTransaction {
  readonly txid: Txid
  /** Double SHA-256 of all bytes, in display order; the txid if there is no witness. */
  readonly wtxid: Txid
  readonly hex: string
  readonly version: number
  readonly lockTime: number
  readonly inputs: readonly ChainInput[]
  readonly outputs: readonly ChainOutput[]
  /** Bytes without the witness. */
  readonly baseSize: number
  /** All bytes. */
  readonly size: number
  readonly weight: number
  readonly vsize: number
}

/**
 * Decodes a serialized transaction, with or without witness (BIP144).
 *
 * @throws Error if it is no hex, is cut short, has spare bytes or a length that is not in its shortest form
 */
export const decodeTransaction = (text: string): ChainTransaction => {
  const bytes = hexToBytes(text)
  const raw = decodeRaw(bytes)
  const base = raw.witnesses === undefined ? bytes : withoutWitness(bytes, raw.witnesses)
  const txid = idOf(base)
  const weight = base.length * 3 + bytes.length
  return {
    txid,
    wtxid: raw.witnesses === undefined ? txid : idOf(bytes),
    hex: text.toLowerCase(),
    version: raw.version,
    lockTime: raw.lockTime,
    inputs: raw.inputs.map((input, index) => ({
      txid: bytesToHex(input.txid),
      index: input.index,
      script: input.finalScriptSig,
      sequence: input.sequence,
      witness: raw.witnesses?.[index] ?? []
    })),
    outputs: raw.outputs.map(({ amount, script }) => ({ amount, script, scriptHash: scriptHashOf(script) })),
    baseSize: base.length,
    size: bytes.length,
    weight,
    vsize: Math.ceil(weight / 4)
  }
}

/** The name of an output in tables: `txid:index`. */
export const outpointOf = (txid: Txid, index: number): string => `${txid}:${index}`

/** True for the first transaction of a block, which spends nothing. */
export const isCoinbase = (tx: ChainTransaction): boolean =>
  tx.inputs.length === 1 && tx.inputs[0]?.txid === NO_TXID && tx.inputs[0].index === 0xffffffff

/** The txid that a coinbase input names. */
export const NO_TXID: string = '00'.repeat(32)

const NO_WITNESS = { segwitFlag: false, witnesses: undefined }

const decodeRaw = (bytes: Uint8Array): ReturnType<typeof RawTx.decode> => {
  try {
    return RawTx.decode(bytes)
  } catch (error) {
    // A transaction without inputs looks like the marker of a witness; Core then tries the old form, too.
    if (bytes[4] !== 0) throw error
    return { ...RawOldTx.decode(bytes), ...NO_WITNESS }
  }
}

/** Version, inputs, outputs and lock time: everything but the marker, the flag and the witness (BIP144). */
const withoutWitness = (bytes: Uint8Array, witnesses: readonly (readonly Uint8Array[])[]): Uint8Array => {
  const size = witnesses.flatMap(items => [varintSize(items.length), ...items.map(sizeOfItem)])
  const end = bytes.length - 4 - size.reduce((sum, part) => sum + part, 0)
  return concatBytes(bytes.subarray(0, 4), bytes.subarray(6, end), bytes.subarray(-4))
}

const sizeOfItem = ({ length }: Uint8Array): number => varintSize(length) + length

const varintSize = (count: number): number => (count < 0xfd ? 1 : count <= 0xffff ? 3 : 5)

const idOf = (bytes: Uint8Array): string => bytesToHex(sha256x2(bytes).reverse())

/** An output that exists: its origin, amount and script. */
export interface ChainCoin {
  readonly txid: Txid
  readonly index: number
  readonly amount: bigint
  readonly script: Uint8Array
  readonly scriptHash: string
  /** The block it was created in; 0 while its transaction is unconfirmed. */
  readonly height: number
  readonly isCoinbase: boolean
}

/** The outputs of a transaction as coins; those that can never be spent are left out. */
export const coinsOf = (tx: ChainTransaction, height: number): readonly ChainCoin[] => {
  const coinbase = isCoinbase(tx)
  return tx.outputs.flatMap(({ amount, script, scriptHash }, index) =>
    script[0] === 0x6a
      ? []
      : [{ txid: tx.txid, index, amount, script, scriptHash, height, isCoinbase: coinbase }]
  )
}

/** The confirmed outputs that no block has spent. The mempool does not change it. */
export class CoinTable {
  readonly #coins = new Map<string, ChainCoin>()

  get(txid: Txid, index: number): ChainCoin | undefined {
    return this.#coins.get(outpointOf(txid, index))
  }

  add(coin: ChainCoin): void {
    this.#coins.set(outpointOf(coin.txid, coin.index), coin)
  }

  remove(coin: ChainCoin): void {
    this.#coins.delete(outpointOf(coin.txid, coin.index))
  }
}

/** The fields of a chain that time locks depend on. */
export interface ChainTimes {
  readonly height: number
  /** The median of the eleven block times that end at `height` (BIP113), in unix seconds. */
  medianTimeAt(height: number): number
}

/** True if the next block may hold this transaction by its `lockTime` (BIP65, BIP113). */
export const isFinal = (tx: ChainTransaction, chain: ChainTimes): boolean => {
  if (tx.lockTime === 0 || tx.inputs.every(input => input.sequence === 0xffffffff)) return true
  const reached = tx.lockTime < 500_000_000 ? chain.height + 1 : chain.medianTimeAt(chain.height)
  return tx.lockTime < reached
}

/** True if the next block may hold this transaction by the relative locks of its inputs (BIP68). */
export const isSequenceFinal = (
  tx: ChainTransaction,
  coins: readonly ChainCoin[],
  chain: ChainTimes
): boolean => {
  if (tx.version < 2) return true
  return tx.inputs.every(({ sequence }, index) => {
    if ((sequence & 0x80000000) !== 0) return true
    const count = sequence & 0xffff
    const coinHeight = coins[index]?.height || chain.height + 1
    if ((sequence & 0x400000) === 0) return coinHeight + count <= chain.height + 1
    const since = chain.medianTimeAt(Math.max(0, coinHeight - 1))
    return since + count * 512 <= chain.medianTimeAt(chain.height)
  })
}
