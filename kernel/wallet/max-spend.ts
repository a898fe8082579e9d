import { type NativeAmount, nativeAmount } from '../base/amount.ts'

/**
 * Finds the largest amount for which `canSpend` says yes, by halving (pure but for `canSpend`).
 *
 * Searches from 0 to the balance; stops when the range is one unit. For engines without a maximum of their own.
 *
 * @see specification §9; the probes are those of protocol §6.3
 */
export const searchMaxSpendable = async (
  balance: NativeAmount,
  canSpend: (amount: NativeAmount) => Promise<boolean>
): Promise<NativeAmount> => {
  let low = 0n
  let high = BigInt(balance) + 1n
  while (high - low > 1n) {
    const middle = low + (high - low) / 2n
    if (await canSpend(nativeAmount(middle.toString()))) low = middle
    else high = middle
  }
  return nativeAmount(low.toString())
}
