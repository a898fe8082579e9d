import bigInt from 'big-integer'
import { WalletError } from './errors.ts'

declare const brand: unique symbol

/** An integer count of a currency's smallest unit, as decimal text of at most 100 digits. */
export type NativeAmount = string & { readonly [brand]: 'NativeAmount' }

const INTEGER = /^-?\d{1,100}$/
const DECIMAL = /^\d{1,100}(\.\d{1,100})?$/

/**
 * Takes decimal text for an amount, in its one normal form (no leading zeros, no `-0`).
 *
 * @throws AMOUNT_INVALID for anything but an optional minus and 1 to 100 digits
 */
export const nativeAmount = (text: string): NativeAmount => {
  if (!INTEGER.test(text))
    throw new WalletError('AMOUNT_INVALID', { rule: 'must be an integer of native units' })
  return bigInt(text).toString() as NativeAmount
}

/** Tells whether text is a native amount already, without throwing. */
export const isNativeAmount = (text: unknown): text is NativeAmount =>
  typeof text === 'string' && INTEGER.test(text)

/** No amount at all. */
export const ZERO: NativeAmount = '0' as NativeAmount

/** The sum of two amounts. */
export const add = (a: NativeAmount, b: NativeAmount): NativeAmount =>
  bigInt(a).add(bigInt(b)).toString() as NativeAmount

/** The first amount less the second. */
export const subtract = (a: NativeAmount, b: NativeAmount): NativeAmount =>
  bigInt(a).subtract(bigInt(b)).toString() as NativeAmount

/** The product of two amounts. */
export const multiply = (a: NativeAmount, b: NativeAmount): NativeAmount =>
  bigInt(a).multiply(bigInt(b)).toString() as NativeAmount

/** Integer division, towards zero. @throws AMOUNT_INVALID when dividing by zero */
export const divide = (a: NativeAmount, b: NativeAmount): NativeAmount => {
  if (bigInt(b).isZero()) throw new WalletError('AMOUNT_INVALID', { rule: 'cannot be divided by zero' })
  return bigInt(a).divide(bigInt(b)).toString() as NativeAmount
}

/** Negative, zero or positive, like a sort comparator. */
export const compare = (a: NativeAmount, b: NativeAmount): number => bigInt(a).compare(bigInt(b))

/** The amount with the other sign. */
export const negate = (a: NativeAmount): NativeAmount => bigInt(a).negate().toString() as NativeAmount

/** The amount without its sign. */
export const abs = (a: NativeAmount): NativeAmount => bigInt(a).abs().toString() as NativeAmount

/** The sum of all amounts; {@link ZERO} of none. */
export const sum = (amounts: Iterable<NativeAmount>): NativeAmount => {
  let total = bigInt.zero
  for (const amount of amounts) total = total.add(bigInt(amount))
  return total.toString() as NativeAmount
}

/**
 * Reads an amount that a person typed in a denomination, exactly.
 *
 * @param multiplier - native units in one of the denomination, mostly a power of ten such as `100000000`
 * @throws AMOUNT_INVALID for signs, exponents and spaces, for what comes to a fraction of a native unit, and for a
 * multiplier that is no whole number above zero
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
 * It is exact wherever the quotient has an end, as with every power of ten. Other quotients are cut after as many
 * decimals as the multiplier has digits, so that less than one native unit is left out.
 *
 * @throws AMOUNT_INVALID for a multiplier that is no whole number above zero
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

/** Returns the number of decimals of a denomination. @throws AMOUNT_INVALID if the multiplier is no power of ten */
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
 * The denomination that amounts are shown in, and that an amount is read in which names none: the first; the native unit
 * where there is none, or where it is no power of ten.
 */
export const mainDenomination = ({
  denominations: [first]
}: Pick<AmountUnits, 'denominations'>): Denomination =>
  first === undefined || !hasPowerOfTen(first) ? NATIVE : first

/** An amount for people, exactly: `0.01 BTC`. */
export const amountText = (amount: NativeAmount, units: Pick<AmountUnits, 'denominations'>): string => {
  const { name, multiplier } = mainDenomination(units)
  return `${toDenomination(amount, multiplier)} ${name}`
}

/**
 * Reads an amount that a person typed: `0.01 BTC`, `250 sats`, `1000000 native`, or `0.01` alone, which is in the
 * first denomination.
 *
 * @throws AMOUNT_INVALID for more decimals than there are, and for a unit that there is not
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

/** One way to write amounts of a currency. `multiplier`: native units in one of it, a decimal integer text. */
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

/** Tells whether text is a decimal number that is zero or more, of a length that an amount can have. */
export const isDecimal = (text: string): boolean => {
  const found = DECIMAL_TEXT.exec(text)
  return found !== null && Math.abs(Number(found[3] ?? 0)) <= MAX_EXPONENT
}

/**
 * Converts a decimal number of coins to native units, exactly; what is finer than a native unit is rounded.
 *
 * @example `fromDecimal('2.5E+3', '100', 'down')` is `'250000'`
 * @param multiplier - native units in one coin, a power of ten
 * @param rate - a decimal number that the coins are multiplied by before
 * @throws TypeError for what {@link isDecimal} does not accept; AMOUNT_INVALID for more than 100 digits
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

/** Converts an amount from units of 10^-`from` to units of 10^-`to`. @example `rescale(15n, 1, 0, 'up')` is `2n` */
export const rescale = (amount: bigint, from: number, to: number, rounding: Rounding): bigint =>
  shift(amount, to - from, rounding)

/** Divides whole numbers that are not negative, and rounds. @example `divideRounded(10n, 4n, 'up')` is `3n` */
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
