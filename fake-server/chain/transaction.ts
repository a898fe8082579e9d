import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { RawTx } from '@scure/btc-signer'
import { RawOldTx } from '@scure/btc-signer/script.js'
import { concatBytes, sha256x2 } from '@scure/btc-signer/utils.js'
import { scriptHashOf } from './script.ts'

/** One output of an earlier transaction that is spent here. */
export interface ChainInput {
  /** Lower-case hex in display order. */
  readonly txid: string
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
  readonly txid: string
  /** Double SHA-256 of all bytes, in display order; the txid if there is no witness. */
  readonly wtxid: string
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
export const outpointOf = (txid: string, index: number): string => `${txid}:${index}`

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
