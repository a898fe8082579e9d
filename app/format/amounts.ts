import {
  type AmountUnits,
  amountText,
  type BalanceDetails,
  type CurrencyInfo,
  isNativeAmount,
  isWalletError,
  mainDenomination,
  type NativeAmount,
  parseAmount,
  type Token,
  type TokenId,
  type TokenMap,
  toDenomination
} from '../../kernel/index.ts'

/** An amount as JSON carries it: never a number. */
export interface AmountJson {
  readonly native: string
  readonly display: string
  readonly code: string
  readonly decimals: number
  readonly [key: string]: string | number | null
}

/** An amount as JSON. */
export const amountJson = (amount: NativeAmount, units: AmountUnits): AmountJson => {
  const { multiplier } = mainDenomination(units)
  return {
    native: amount,
    display: toDenomination(amount, multiplier),
    code: units.currencyCode,
    decimals: multiplier.length - 1
  }
}

/** Returns true for the word `max`, which means the whole balance. */
export const isMax = (text: string): boolean => text.trim().toLowerCase() === 'max'

/** An asset that a wallet can hold: its coin or a token. */
export interface Asset extends AmountUnits {
  /** null: the chain's own coin. */
  readonly tokenId: TokenId | null
}

/** Returns an asset of a wallet; an unknown token is named by its id, in native units. */
export const shownAssetOf = (info: CurrencyInfo, tokens: TokenMap, tokenId: TokenId | null): Asset => {
  if (tokenId === null) return { ...unitsOf(info), tokenId }
  const token = Object.hasOwn(tokens, tokenId) ? tokens[tokenId] : undefined
  if (token !== undefined) return { ...unitsOf(token), tokenId }
  const denominations = [{ name: tokenId, multiplier: '1' }]
  return { tokenId, currencyCode: tokenId, displayName: tokenId, denominations }
}

const unitsOf = ({ currencyCode, displayName, denominations }: AmountUnits): AmountUnits => ({
  currencyCode,
  displayName,
  denominations
})

/** Returns the contract address of a token, if it has one (pure). */
export const contractOf = ({ networkLocation }: Pick<Token, 'networkLocation'>): string | undefined => {
  const address = networkLocation?.contractAddress
  return typeof address === 'string' ? address : undefined
}

/** Shortens a currency code for display: `EUR` for `iso:EUR`. */
export const codeText = (code: string): string => code.replace(/^iso:/, '')

/** Returns true for the code of a fiat currency, which is shown with two decimals. */
const isFiat = (code: string): boolean => code.startsWith('iso:')

/** Formats a converted value for display: `812.40 EUR`, `0.00042 BTC`. */
export const valueText = (value: string, code: string): string =>
  `${roundedValue(value, code)} ${codeText(code)}`

/** Rounds a converted value to the digits that a rate can have. */
export const roundedValue = (value: string, code: string): string =>
  roundedText(value, isFiat(code) ? { least: 2, most: 2, digits: 2 } : { least: 0, most: 8, digits: 6 })

/** Formats a number as plain decimal text: all digits, and no exponent. Never used for amounts that are paid. */
export const decimalText = (value: number): string => {
  const [, sign = '', digits = '', exponent = ''] = SCIENTIFIC.exec(String(value)) ?? []
  if (exponent === '') return String(value)
  const [whole = '', fraction = ''] = digits.split('.')
  return sign + withPoint(whole + fraction, whole.length + Number(exponent))
}

const SCIENTIFIC = /^(-?)(\d+(?:\.\d+)?)e([+-]\d+)$/

/** Puts the point after the first `place` digits; zeros are added where there are too few. */
const withPoint = (digits: string, place: number): string => {
  if (place <= 0) return `0.${'0'.repeat(-place)}${digits}`
  if (place >= digits.length) return digits.padEnd(place, '0')
  return `${digits.slice(0, place)}.${digits.slice(place)}`
}

/** Rounds decimal text for display, half away from zero. */
export const roundedText = (text: string, { least, most, digits }: ShownRounding): string => {
  const [, sign = '', whole = '0', fraction = ''] = DECIMAL.exec(text) ?? []
  const zeros = leadingZeros(whole, fraction)
  const kept = zeros === undefined ? most : Math.max(most, zeros + digits)
  const scaled = BigInt(whole + fraction.slice(0, kept).padEnd(kept, '0'))
  const isUp = (fraction[kept] ?? '0') >= '5'
  const shown = String(isUp ? scaled + 1n : scaled).padStart(kept + 1, '0')
  const decimals = withoutZeros(shown.slice(shown.length - kept), least)
  return `${sign}${shown.slice(0, shown.length - kept)}${decimals === '' ? '' : `.${decimals}`}`
}

/** The digits of a number that are shown. */
export interface ShownRounding {
  /** The decimals that are always shown. */
  readonly least: number
  /** The most decimals of a number above 1. */
  readonly most: number
  /** The significant digits of a number below 1. */
  readonly digits: number
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/** Counts the zeros after the point of a number below 1; undefined for zero and for larger numbers. */
const leadingZeros = (whole: string, fraction: string): number | undefined => {
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0
  return /^0+$/.test(whole) && zeros < fraction.length ? zeros : undefined
}

/** Removes trailing zeros beyond the decimals that are always shown. */
const withoutZeros = (fraction: string, least: number): string => {
  const zeros = /0*$/.exec(fraction)?.[0].length ?? 0
  return fraction.slice(0, Math.max(least, fraction.length - zeros))
}

/** Multiplies two decimal texts exactly. */
export const productText = (a: string, b: string): string => {
  const [left, right] = [scaledOf(a), scaledOf(b)]
  return textOf(left.digits * right.digits, left.decimals + right.decimals)
}

/** Adds decimal texts exactly; `0` without any. */
export const sumText = (texts: readonly string[]): string => {
  const terms = texts.map(scaledOf)
  const decimals = terms.reduce((most, term) => Math.max(most, term.decimals), 0)
  const total = terms.reduce(
    (sum, { digits, decimals: own }) => sum + digits * 10n ** BigInt(decimals - own),
    0n
  )
  return textOf(total, decimals)
}

interface Scaled {
  /** All digits, without the point. */
  readonly digits: bigint
  readonly decimals: number
}

const scaledOf = (text: string): Scaled => {
  const [, sign = '', whole = '0', fraction = ''] = DECIMAL.exec(text) ?? []
  return { digits: BigInt(`${sign}${whole}${fraction}`), decimals: fraction.length }
}

const textOf = (scaled: bigint, decimals: number): string => {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = withoutZeros(digits.slice(digits.length - decimals), 0)
  return `${scaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** Whole native units, for an asset that no table lists. */
export const NATIVE_UNITS: AmountUnits = {
  currencyCode: 'native',
  displayName: 'native units',
  denominations: []
}

/** An amount as people write it, such as `0.5 BTC`; text that is no amount stays as it is (pure). */
export const amountIn = (native: string, units: AmountUnits): string =>
  isNativeAmount(native) ? amountText(native, units) : native

/** An amount that was typed: what it is, or what is wrong with it. */
export type TypedAmount =
  | { readonly native: NativeAmount; readonly error?: undefined }
  | { readonly native?: undefined; readonly error: string }

/** Reads an amount above zero as the command line does: `0.5`, `0.5 BTC` or `50000000 native`. Never throws (pure). */
export const readAmount = (text: string, units: AmountUnits): TypedAmount => {
  try {
    const native = parseAmount(text, units)
    return native === '0' ? { error: 'The amount must be above zero' } : { native }
  } catch (error) {
    return { error: isWalletError(error, 'AMOUNT_INVALID') ? error.message : 'This is not an amount' }
  }
}

/** Tells how well a balance is known, such as `claimed (payments proven)`; '' if its engine does not say (pure). */
export const balanceGradeText = ({
  grade,
  paymentsGrade
}: Pick<BalanceDetails, 'grade' | 'paymentsGrade'>): string => {
  if (grade === undefined) return ''
  return paymentsGrade === undefined || paymentsGrade === grade
    ? grade
    : `${grade} (payments ${paymentsGrade})`
}
