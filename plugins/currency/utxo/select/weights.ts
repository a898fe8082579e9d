import type { Purpose } from '../keys/branches.ts'
import type { ScriptType } from '../params/coin-row.ts'

// Weight units (BIP-141). Signatures are at most 71 bytes with the hash type, because the signer grinds for low R.
const SIGNATURE_AND_KEY = 1 + 71 + 1 + 33
const OUTPOINT_AND_SEQUENCE = 36 + 4

/** Weight of one signed input, by the purpose of its key; a legacy input in a segwit transaction adds 1. */
export const inputWeightOf: Readonly<Record<Purpose, number>> = {
  32: (OUTPOINT_AND_SEQUENCE + 1 + SIGNATURE_AND_KEY) * 4,
  44: (OUTPOINT_AND_SEQUENCE + 1 + SIGNATURE_AND_KEY) * 4,
  49: (OUTPOINT_AND_SEQUENCE + 1 + 23) * 4 + 1 + SIGNATURE_AND_KEY,
  84: (OUTPOINT_AND_SEQUENCE + 1) * 4 + 1 + SIGNATURE_AND_KEY,
  86: (OUTPOINT_AND_SEQUENCE + 1) * 4 + 1 + 1 + 64
}

/** Bytes of an output script, by its type. */
export const scriptLengthOf: Readonly<Record<ScriptType, number>> = {
  p2pkh: 25,
  p2sh: 23,
  p2wpkh: 22,
  p2wsh: 34,
  p2tr: 34
}

/** Weight of one output with a script of so many bytes, at most 252. */
export const outputWeightOf = (scriptLength: number): number => (8 + 1 + scriptLength) * 4

/** Weight of a whole transaction. `inputs`: how many of each purpose; `outputs`: the lengths of their scripts. */
export const txWeightOf = (inputs: ReadonlyMap<Purpose, number>, outputs: readonly number[]): number => {
  let count = 0
  let legacy = 0
  let weight = 0
  for (const [purpose, number] of inputs) {
    count += number
    if (purpose === 32 || purpose === 44) legacy += number
    weight += inputWeightOf[purpose] * number
  }
  // Marker and flag, and an empty witness for each legacy input, only if there is any witness.
  if (legacy < count) weight += 2 + legacy
  for (const scriptLength of outputs) weight += outputWeightOf(scriptLength)
  return weight + (4 + countLength(count) + countLength(outputs.length) + 4) * 4
}

/** The fee of a weight at a rate in native units per 1000 virtual bytes, rounded up as nodes do. */
export const feeOf = (weight: number, ratePerKvB: bigint): bigint => {
  const virtualBytes = BigInt(Math.ceil(weight / 4))
  return (virtualBytes * ratePerKvB + 999n) / 1000n
}

const countLength = (count: number): number => (count < 0xfd ? 1 : 3)
