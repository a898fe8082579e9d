import bigInt from 'big-integer'
import { WalletError } from './errors.ts'

declare const brand: unique symbol

/**
 * An integer count of a currency's smallest unit, such as satoshi: decimal text of at most 100 digits.
 *
 * `nativeAmount` makes one from text.
 */
export type NativeAmount = string & { readonly [brand]: 'NativeAmount' }

const INTEGER = /^-?\d{1,100}$/
const DECIMAL = /^\d{1,100}(\.\d{1,100})?$/

/**
 * Checks decimal text and returns it as an amount in its one normal form: no leading zeros, no `-0`.
 *
 * @throws AMOUNT_INVALID for anything but an optional minus and 1 to 100 digits
 *
 * @example
 * ```ts
 * import { nativeAmount } from 'holdfast/plugin'
 *
 * nativeAmount('0150000') // '150000'
 * nativeAmount('1.5') // throws AMOUNT_INVALID
 * ```
 */
export const nativeAmount = (text: string): NativeAmount => {
  if (!INTEGER.test(text))
    throw new WalletError('AMOUNT_INVALID', { rule: 'must be an integer of native units' })
  return bigInt(text).toString() as NativeAmount
}

/**
 * Returns true for text that {@link nativeAmount} accepts.
 *
 * @example
 * ```ts
 * import { isNativeAmount } from 'holdfast/plugin'
 *
 * isNativeAmount('-150000') // true
 * isNativeAmount('1.5') // false
 * isNativeAmount(150000) // false
 * ```
 */
export const isNativeAmount = (text: unknown): text is NativeAmount =>
  typeof text === 'string' && INTEGER.test(text)

/** The amount `0`. */
export const ZERO: NativeAmount = '0' as NativeAmount

/**
 * Adds two amounts.
 *
 * @example
 * ```ts
 * import { add, nativeAmount } from 'holdfast/plugin'
 *
 * add(nativeAmount('150000'), nativeAmount('1128')) // '151128'
 * ```
 */
export const add = (a: NativeAmount, b: NativeAmount): NativeAmount =>
  bigInt(a).add(bigInt(b)).toString() as NativeAmount

/**
 * Subtracts the second amount from the first; the result may be negative.
 *
 * @example
 * ```ts
 * import { nativeAmount, subtract } from 'holdfast/plugin'
 *
 * subtract(nativeAmount('1000'), nativeAmount('1128')) // '-128'
 * ```
 */
export const subtract = (a: NativeAmount, b: NativeAmount): NativeAmount =>
  bigInt(a).subtract(bigInt(b)).toString() as NativeAmount

/**
 * Multiplies two amounts.
 *
 * @example
 * ```ts
 * import { multiply, nativeAmount } from 'holdfast/plugin'
 *
 * multiply(nativeAmount('1128'), nativeAmount('3')) // '3384'
 * ```
 */
export const multiply = (a: NativeAmount, b: NativeAmount): NativeAmount =>
  bigInt(a).multiply(bigInt(b)).toString() as NativeAmount

/**
 * Divides the first amount by the second and drops the remainder (towards zero).
 *
 * @throws AMOUNT_INVALID for a division by zero
 *
 * @example
 * ```ts
 * import { divide, nativeAmount } from 'holdfast/plugin'
 *
 * divide(nativeAmount('-7'), nativeAmount('2')) // '-3'
 * ```
 */
export const divide = (a: NativeAmount, b: NativeAmount): NativeAmount => {
  if (bigInt(b).isZero()) throw new WalletError('AMOUNT_INVALID', { rule: 'cannot be divided by zero' })
  return bigInt(a).divide(bigInt(b)).toString() as NativeAmount
}

/**
 * Compares two amounts as a sort function does: negative, zero or positive.
 *
 * @example
 * ```ts
 * import { compare, nativeAmount } from 'holdfast/plugin'
 *
 * compare(nativeAmount('9'), nativeAmount('10')) < 0 // true, although '9' > '10' as text
 * ```
 */
export const compare = (a: NativeAmount, b: NativeAmount): number => bigInt(a).compare(bigInt(b))

/**
 * Changes the sign of an amount.
 *
 * @example
 * ```ts
 * import { nativeAmount, negate } from 'holdfast/plugin'
 *
 * negate(nativeAmount('1128')) // '-1128'
 * ```
 */
export const negate = (a: NativeAmount): NativeAmount => bigInt(a).negate().toString() as NativeAmount

/**
 * Drops the sign of an amount.
 *
 * @example
 * ```ts
 * import { abs, nativeAmount } from 'holdfast/plugin'
 *
 * abs(nativeAmount('-1128')) // '1128'
 * ```
 */
export const abs = (a: NativeAmount): NativeAmount => bigInt(a).abs().toString() as NativeAmount

/**
 * Adds any number of amounts; {@link ZERO} for none.
 *
 * @example
 * ```ts
 * import { nativeAmount, sum } from 'holdfast/plugin'
 *
 * sum(['150000', '1128'].map(nativeAmount)) // '151128'
 * ```
 */
export const sum = (amounts: Iterable<NativeAmount>): NativeAmount => {
  let total = bigInt.zero
  for (const amount of amounts) total = total.add(bigInt(amount))
  return total.toString() as NativeAmount
}

/**
 * Reads an amount that a person typed in a denomination, exactly.
 *
 * @param multiplier - native units in one of the denomination, mostly a power of ten such as `100000000`
 * @throws AMOUNT_INVALID for signs, exponents and spaces, for a fraction of a native unit, and for a multiplier that is not a
 * whole number above zero
 *
 * @example
 * ```ts
 * import { fromDenomination } from 'holdfast/plugin'
 *
 * fromDenomination('0.015', '100000000') // '1500000'
 * fromDenomination('0.015', '10') // throws AMOUNT_INVALID
 * ```
 */
export const fromDenomination = (text: string, multiplier: string): NativeAmount => {
  if (!DECIMAL.test(text)) throw new WalletError('AMOUNT_INVALID', { rule: 'must be a plain decimal number' })
  const [whole = '0', fraction = ''] = text.split('.')
  if (isPowerOfTen(multiplier)) {
    const decimals = decimalsOf(multiplier)
    if (fraction.length > decimals)
      throw new WalletError('AMOUNT_INVALID', { rule: `has more than ${decimals} decimals` })
    return nativeAmount(whole + fraction.padEnd(decimals, '0'))
  }
  const { quotient, remainder } = bigInt(whole + fraction)
    .multiply(factorOf(multiplier))
    .divmod(bigInt(10).pow(fraction.length))
  if (!remainder.isZero())
    throw new WalletError('AMOUNT_INVALID', { rule: 'comes to a fraction of the smallest unit' })
  return nativeAmount(quotient.toString())
}

/**
 * Writes an amount in a denomination without trailing zeros: `0.015`.
 *
 * The result is exact wherever the quotient ends, as with every power of ten. Other quotients are cut after as many
 * decimals as the multiplier has digits, so that less than one native unit is lost.
 *
 * @throws AMOUNT_INVALID for a multiplier that is not a whole number above zero
 *
 * @example
 * ```ts
 * import { nativeAmount, toDenomination } from 'holdfast/plugin'
 *
 * toDenomination(nativeAmount('1500000'), '100000000') // '0.015'
 * ```
 */
export const toDenomination = (amount: NativeAmount, multiplier: string): string => {
  const { scaled, decimals } = isPowerOfTen(multiplier)
    ? { scaled: abs(amount), decimals: decimalsOf(multiplier) }
    : quotientOf(abs(amount), multiplier)
  const digits = scaled.padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const text = fraction === '' ? whole : `${whole}.${fraction}`
  return amount.startsWith('-') && text !== '0' ? `-${text}` : text
}

/**
 * Returns the number of decimals of a denomination.
 *
 * @throws AMOUNT_INVALID for a multiplier that is not a power of ten
 *
 * @example
 * ```ts
 * import { decimalsOf } from 'holdfast/plugin'
 *
 * decimalsOf('100000000') // 8
 * ```
 */
export const decimalsOf = (multiplier: string): number => {
  if (isPowerOfTen(multiplier)) return multiplier.length - 1
  throw new WalletError('AMOUNT_INVALID', { rule: 'is in a denomination that is no power of ten' })
}

const MULTIPLIER = /^[1-9]\d{0,99}$/

const factorOf = (multiplier: string): bigInt.BigInteger => {
  if (MULTIPLIER.test(multiplier)) return bigInt(multiplier)
  throw new WalletError('AMOUNT_INVALID', {
    rule: 'is in a denomination that is no whole number of native units'
  })
}

const isPowerOfTen = (multiplier: string): boolean => /^10*$/.test(multiplier)

/** A quotient ends only if its divisor is made of twos and fives, each of which takes one decimal. */
const quotientOf = (amount: string, multiplier: string): { scaled: string; decimals: number } => {
  const factor = factorOf(multiplier)
  let rest = factor
  const count = (prime: number): number => {
    let times = 0
    for (; rest.mod(prime).isZero(); times += 1) rest = rest.divide(prime)
    return times
  }
  const decimalsOfEnd = Math.max(count(2), count(5))
  const decimals = rest.equals(1) ? decimalsOfEnd : multiplier.length
  const scaled = bigInt(amount).multiply(bigInt(10).pow(decimals)).divide(factor)
  return { scaled: scaled.toString(), decimals }
}

/**
 * Returns the denomination that amounts are shown in, and that typed amounts without a unit are read in: the first one. It
 * is the native unit if a currency has none, or if the first one is not a power of ten.
 *
 * @example
 * ```ts
 * import { mainDenomination } from 'holdfast'
 *
 * mainDenomination(wallet.currencyInfo).name // 'BTC'
 * ```
 */
export const mainDenomination = ({
  denominations: [first]
}: Pick<AmountUnits, 'denominations'>): Denomination =>
  first === undefined || !hasPowerOfTen(first) ? NATIVE : first

/**
 * Writes an amount with its unit for people, exactly: `0.01 BTC`.
 *
 * @example
 * ```ts
 * import { amountText, nativeAmount } from 'holdfast'
 *
 * const btc = { denominations: [{ name: 'BTC', multiplier: '100000000' }] }
 * amountText(nativeAmount('1000000'), btc) // '0.01 BTC'
 * ```
 */
export const amountText = (amount: NativeAmount, units: Pick<AmountUnits, 'denominations'>): string => {
  const { name, multiplier } = mainDenomination(units)
  return `${toDenomination(amount, multiplier)} ${name}`
}

/**
 * Reads an amount that a person typed: `0.01 BTC`, `250 sats`, `1000000 native`, or `0.01` alone, which is in the
 * first denomination.
 *
 * @throws AMOUNT_INVALID for more decimals than the unit has, and for an unknown unit
 *
 * @example
 * ```ts
 * import { parseAmount } from 'holdfast'
 *
 * const denominations = [{ name: 'BTC', multiplier: '100000000' }]
 * const bitcoin = { currencyCode: 'BTC', displayName: 'Bitcoin', denominations }
 * parseAmount('0.01', bitcoin) // '1000000'
 * parseAmount('1000 native', bitcoin) // '1000'
 * ```
 */
export const parseAmount = (text: string, units: AmountUnits): NativeAmount => {
  const match = /^\s*([^A-Za-z\s]+)\s*([A-Za-z]\S*)?\s*$/.exec(text)
  const [, number = '', unit] = match ?? []
  if (unit?.toLowerCase() === NATIVE.name) return nativeAmount(number)
  const known = units.denominations.filter(hasPowerOfTen)
  const denomination =
    unit === undefined
      ? mainDenomination(units)
      : known.find(({ name }) => name.toLowerCase() === unit.toLowerCase())
  if (denomination !== undefined) return fromDenomination(number, denomination.multiplier)
  const names = [...known.map(({ name }) => name), NATIVE.name].join(', ')
  throw new WalletError('AMOUNT_INVALID', {
    rule: `is in "${unit}", which is no unit of ${units.displayName}: use one of ${names}`
  })
}

const NATIVE: Denomination = { name: 'native', multiplier: '1' }

const hasPowerOfTen = ({ multiplier }: Denomination): boolean => /^10*$/.test(multiplier)

/** One unit for the amounts of a currency. `multiplier`: native units in one of it, a decimal integer text. */
export interface Denomination {
  readonly name: string
  readonly multiplier: string
  readonly symbol?: string
}

/** The units of amounts. A currency gives those of its own coin, and a token gives its own. */
export interface AmountUnits {
  readonly currencyCode: string
  readonly displayName: string
  /** The first is the one amounts are shown in. */
  readonly denominations: readonly Denomination[]
}

/** The direction in which an amount finer than the smallest unit is rounded. */
export type Rounding = 'down' | 'up'

/**
 * Returns true for decimal text of zero or more, with or without an exponent, of a length that an amount can have.
 *
 * @example
 * ```ts
 * import { isDecimal } from 'holdfast/plugin'
 *
 * isDecimal('2.5E+3') // true
 * isDecimal('-1') // false
 * ```
 */
export const isDecimal = (text: string): boolean => {
  const found = DECIMAL_TEXT.exec(text)
  return found !== null && Math.abs(Number(found[3] ?? 0)) <= MAX_EXPONENT
}

/**
 * Converts a decimal number of coins to native units, exactly; a fraction of a native unit is rounded.
 *
 * @param multiplier - native units in one coin, a power of ten
 * @param rate - a decimal number that the coins are multiplied by first
 * @throws TypeError for text that {@link isDecimal} refuses; AMOUNT_INVALID for more than 100 digits
 *
 * @example
 * ```ts
 * import { fromDecimal } from 'holdfast/plugin'
 *
 * fromDecimal('2.5E+3', '100', 'down') // '250000'
 * fromDecimal('0.005', '100', 'up') // '1'
 * ```
 */
export const fromDecimal = (
  coins: string,
  multiplier: string,
  rounding: Rounding,
  rate = '1'
): NativeAmount => {
  const [{ digits, decimals }, factor] = [splitDecimal(coins), splitDecimal(rate)]
  const places = decimalsOf(multiplier) - decimals - factor.decimals
  return nativeAmount(String(shift(digits * factor.digits, places, rounding)))
}

/**
 * Converts an amount from units of 10^-`from` to units of 10^-`to`, and rounds.
 *
 * @example
 * ```ts
 * import { rescale } from 'holdfast/plugin'
 *
 * rescale(15n, 1, 0, 'up') // 2n
 * ```
 */
export const rescale = (amount: bigint, from: number, to: number, rounding: Rounding): bigint =>
  shift(amount, to - from, rounding)

/**
 * Divides whole numbers that are not negative, and rounds.
 *
 * @example
 * ```ts
 * import { divideRounded } from 'holdfast/plugin'
 *
 * divideRounded(10n, 4n, 'up') // 3n
 * ```
 */
export const divideRounded = (dividend: bigint, divisor: bigint, rounding: Rounding): bigint =>
  rounding === 'down' ? dividend / divisor : (dividend + divisor - 1n) / divisor

const DECIMAL_TEXT = /^(\d{1,60})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,3}))?$/
const MAX_EXPONENT = 120

const shift = (amount: bigint, places: number, rounding: Rounding): bigint =>
  places >= 0 ? amount * 10n ** BigInt(places) : divideRounded(amount, 10n ** BigInt(-places), rounding)

const splitDecimal = (text: string): { readonly digits: bigint; readonly decimals: number } => {
  const found = isDecimal(text) ? DECIMAL_TEXT.exec(text) : null
  if (found === null) throw new TypeError('Not a decimal number')
  const [, whole = '', fraction = '', exponent = '0'] = found
  return { digits: BigInt(whole + fraction), decimals: fraction.length - Number(exponent) }
}
