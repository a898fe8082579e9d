import { type JsonObject, type NetworkFeeOption, WalletError } from '../../../../kernel/plugin-api.ts'
import type { FeeEstimates, FeeFigures, Purpose, ScriptType } from '../params/coin.ts'

/** What decides a fee rate: the user's choice, the server's rates, and the network's own figures. */
export interface FeeChoice {
  readonly option: NetworkFeeOption
  readonly custom: JsonObject | undefined
  readonly estimates: FeeEstimates
  readonly figures: FeeFigures
}

/**
 * The rate to pay, in native units per 1000 virtual bytes.
 *
 * Levels come from the server, else from the figures; they stay between what is relayed and the cap, and
 * low ≤ standard ≤ high always. `custom` takes `{ satPerByte: '12.5' }`, at most three decimals.
 *
 * @throws FEE_INVALID
 */
export const feeRateOf = ({ option, custom, estimates, figures }: FeeChoice): bigint => {
  const floor = floorOf(estimates, figures)
  if (option === 'custom') return customRate(custom, floor, figures.cap)
  const clamp = (rate: bigint): bigint => (rate < floor ? floor : rate > figures.cap ? figures.cap : rate)
  const low = clamp(estimates.low ?? figures.low)
  const standard = maxOf(low, clamp(estimates.standard ?? estimates.low ?? figures.standard))
  const high = maxOf(standard, clamp(estimates.high ?? estimates.standard ?? figures.high))
  return option === 'low' ? low : option === 'high' ? high : standard
}

/**
 * The rate that others than the present server would have for the same choice: the median of what each source says, the
 * coin's own figures among them; of a custom rate that of the standard level. Of an even number the lower one counts.
 */
export const usualRateOf = (
  { option, figures }: Pick<FeeChoice, 'figures' | 'option'>,
  others: readonly FeeEstimates[]
): bigint => {
  const level = option === 'custom' ? 'standard' : option
  const rates = [{}, ...others].map(estimates =>
    feeRateOf({ option: level, custom: undefined, estimates, figures })
  )
  const sorted = rates.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? figures.standard
}

/** A rate as text in units per virtual byte: `12.5`. */
export const feeRateText = (ratePerKvB: bigint): string => {
  const fraction = String(ratePerKvB % 1000n)
    .padStart(3, '0')
    .replace(/0+$/, '')
  return `${ratePerKvB / 1000n}${fraction === '' ? '' : `.${fraction}`}`
}

// A server may say what it relays, but a lie must not push every fee up to the cap.
const floorOf = ({ relay }: FeeEstimates, { minRelay, cap }: FeeFigures): bigint => {
  if (relay === undefined) return minRelay
  return relay > cap / 20n ? minRelay : relay
}

const maxOf = (a: bigint, b: bigint): bigint => (a > b ? a : b)

const customRate = (custom: JsonObject | undefined, floor: bigint, cap: bigint): bigint => {
  const text = custom?.satPerByte
  const match = typeof text === 'string' ? /^(\d{1,7})(?:\.(\d{1,3}))?$/.exec(text) : null
  if (match === null) {
    throw new WalletError('FEE_INVALID', {
      rule: 'must be { "satPerByte": "12.5" }, a decimal text with at most three decimals'
    })
  }
  const rate = BigInt(match[1] ?? '0') * 1000n + BigInt((match[2] ?? '').padEnd(3, '0'))
  if (rate < floor)
    throw new WalletError('FEE_INVALID', { rule: `is below the ${feeRateText(floor)} that is relayed` })
  if (rate > cap) throw new WalletError('FEE_INVALID', { rule: `is above the limit of ${feeRateText(cap)}` })
  return rate
}

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
