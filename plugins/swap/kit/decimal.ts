import { decimalsOf, type NativeAmount, nativeAmount } from '../../../kernel/plugin-api.ts'

/** Where what is finer than the smallest unit goes. */
export type Rounding = 'down' | 'up'

/** Tells whether text is a decimal number that is zero or more, of a length that an amount can have. */
export const isDecimal = (text: string): boolean => {
  const found = DECIMAL.exec(text)
  return found !== null && Math.abs(Number(found[3] ?? 0)) <= MAX_EXPONENT
}

/**
 * Native units of a decimal number of coins, exactly; what is finer than a native unit is rounded.
 *
 * @param multiplier - native units in one coin, a power of ten
 * @param rate - a decimal number that the coins are multiplied by before
 * @throws TypeError for what {@link isDecimal} does not accept; AMOUNT_INVALID for more than 100 digits
 */
export const nativeOf = (coins: string, multiplier: string, rounding: Rounding, rate = '1'): NativeAmount => {
  const [{ digits, decimals }, factor] = [splitDecimal(coins), splitDecimal(rate)]
  const places = decimalsOf(multiplier) - decimals - factor.decimals
  return nativeAmount(String(shift(digits * factor.digits, places, rounding)))
}

/** An amount in units of 10^-`from` in units of 10^-`to`. */
export const rescale = (amount: bigint, from: number, to: number, rounding: Rounding): bigint =>
  shift(amount, to - from, rounding)

/** The quotient, rounded. */
export const quotient = (dividend: bigint, divisor: bigint, rounding: Rounding): bigint =>
  rounding === 'down' ? dividend / divisor : (dividend + divisor - 1n) / divisor

const DECIMAL = /^(\d{1,60})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,3}))?$/
const MAX_EXPONENT = 120

const shift = (amount: bigint, places: number, rounding: Rounding): bigint =>
  places >= 0 ? amount * 10n ** BigInt(places) : quotient(amount, 10n ** BigInt(-places), rounding)

const splitDecimal = (text: string): { readonly digits: bigint; readonly decimals: number } => {
  const found = isDecimal(text) ? DECIMAL.exec(text) : null
  if (found === null) throw new TypeError('Not a decimal number')
  const [, whole = '', fraction = '', exponent = '0'] = found
  return { digits: BigInt(whole + fraction), decimals: fraction.length - Number(exponent) }
}
