import { hex } from '@scure/base'
import { RawTx } from '@scure/btc-signer'
import { RawOldTx } from '@scure/btc-signer/script.js'
import { sha256x2 } from '@scure/btc-signer/utils.js'
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
  const bytes = hex.decode(text)
  const raw = decodeRaw(bytes)
  const base = raw.witnesses === undefined ? bytes : RawTx.encode({ ...raw, ...NO_WITNESS })
  const txid = idOf(base)
  const weight = base.length * 3 + bytes.length
  return {
    txid,
    wtxid: raw.witnesses === undefined ? txid : idOf(bytes),
    hex: hex.encode(bytes),
    version: raw.version,
    lockTime: raw.lockTime,
    inputs: raw.inputs.map((input, index) => ({
      txid: hex.encode(input.txid),
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

const idOf = (bytes: Uint8Array): string => hex.encode(sha256x2(bytes).reverse())
