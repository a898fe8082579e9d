import { multiply, type NativeAmount, nativeAmount, toDenomination } from '../base/amount.ts'

/**
 * What an amount is worth at a rate, as decimal text: exact for the rate as it is written, however small the coin or the
 * rate. No digit is cut; whoever shows it rounds it.
 *
 * @param multiplier - native units in one of the currency, a power of ten
 * @throws AMOUNT_INVALID
 */
export const valueText = (amount: string, multiplier: string, rate: number): string => {
  const { digits, decimals } = decimalOf(rate)
  return toDenomination(multiply(nativeAmount(amount), digits), multiplier + '0'.repeat(decimals))
}

// The shortest decimal that names the number: `6.5e-7` is 65 with eight decimals.
const decimalOf = (rate: number): { readonly digits: NativeAmount; readonly decimals: number } => {
  const [mantissa = '0', exponent = '0'] = String(rate).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const decimals = fraction.length - Number(exponent)
  const zeros = '0'.repeat(Math.max(0, -decimals))
  return { digits: (whole + fraction + zeros) as NativeAmount, decimals: Math.max(0, decimals) }
}
