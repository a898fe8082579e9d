import { WalletError } from '../../kernel/base/errors.ts'

/** Native units for each virtual byte, by the number of blocks that a transaction may wait. */
export type FeeRates = Readonly<Record<string, number>>

/** What the fake network asks for until a test says otherwise. */
export const DEFAULT_FEE_RATES: FeeRates = { 1: 20, 3: 12, 6: 8, 12: 5, 25: 2 }

/**
 * Checks fee rates that come from outside.
 *
 * @throws OPTION_INVALID unless each is a rate of 0 to 100,000 for a target of 1 to 1008 blocks
 */
export const parseFeeRates = (rates: FeeRates): ReadonlyMap<number, number> => {
  const parsed = new Map<number, number>()
  for (const [target, rate] of Object.entries(rates)) {
    const blocks = Number(target)
    const isSound =
      Number.isInteger(blocks) &&
      blocks >= 1 &&
      blocks <= 1008 &&
      Number.isFinite(rate) &&
      rate >= 0 &&
      rate <= 100_000
    if (!isSound) {
      throw new WalletError('OPTION_INVALID', {
        option: 'fee rates',
        rule: 'must be numbers by target blocks'
      })
    }
    parsed.set(blocks, rate)
  }
  return new Map([...parsed].sort(([a], [b]) => a - b))
}

/** The rate for the longest known wait that is not longer than `blocks`, else the dearest; undefined if none is known. */
export const feeRateFor = (rates: ReadonlyMap<number, number>, blocks: number): number | undefined => {
  let found: number | undefined
  for (const [target, rate] of rates) if (found === undefined || target <= blocks) found = rate
  return found
}
