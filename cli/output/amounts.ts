import {
  type AmountUnits,
  type CurrencyInfo,
  mainDenomination,
  type NativeAmount,
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

/** An amount for scripts. */
export const amountJson = (amount: NativeAmount, units: AmountUnits): AmountJson => {
  const { multiplier } = mainDenomination(units)
  return {
    native: amount,
    display: toDenomination(amount, multiplier),
    code: units.currencyCode,
    decimals: multiplier.length - 1
  }
}

/** True for the word that asks for everything there is. */
export const isMax = (text: string): boolean => text.trim().toLowerCase() === 'max'

/** One thing that a wallet can hold. */
export interface Asset extends AmountUnits {
  /** null: the chain's own coin. */
  readonly tokenId: string | null
}

/** An asset of a wallet; a token that nobody knows (any more) is told by its id, in native units. */
export const assetOf = (info: CurrencyInfo, tokens: TokenMap, tokenId: string | null): Asset => {
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

/** A currency's code for people: `EUR` for `iso:EUR`. */
export const codeText = (code: string): string => code.replace(/^iso:/, '')

/** True for the code of a state's money, which has two decimals for people. */
const isFiat = (code: string): boolean => code.startsWith('iso:')

/** A value that was worked out through rates, for people: `812.40 EUR`, `0.00042 BTC`. */
export const valueText = (value: string, code: string): string =>
  `${roundedValue(value, code)} ${codeText(code)}`

/** Such a value rounded: a rate knows no more digits. */
export const roundedValue = (value: string, code: string): string =>
  roundedText(value, isFiat(code) ? { least: 2, most: 2, digits: 2 } : { least: 0, most: 8, digits: 6 })

/** A number as plain decimal text: all its digits, and no exponent. It is no amount that moves. */
export const decimalText = (value: number): string => {
  const [, sign = '', digits = '', exponent = ''] = SCIENTIFIC.exec(String(value)) ?? []
  if (exponent === '') return String(value)
  const [whole = '', fraction = ''] = digits.split('.')
  return sign + withPoint(whole + fraction, whole.length + Number(exponent))
}

const SCIENTIFIC = /^(-?)(\d+(?:\.\d+)?)e([+-]\d+)$/

/** Digits with the point behind the first `place` of them; zeros are added where there are too few. */
const withPoint = (digits: string, place: number): string => {
  if (place <= 0) return `0.${'0'.repeat(-place)}${digits}`
  if (place >= digits.length) return digits.padEnd(place, '0')
  return `${digits.slice(0, place)}.${digits.slice(place)}`
}

/** Rounds decimal text for people, half away from zero. */
export const roundedText = (text: string, { least, most, digits }: Rounding): string => {
  const [, sign = '', whole = '0', fraction = ''] = DECIMAL.exec(text) ?? []
  const zeros = leadingZeros(whole, fraction)
  const kept = zeros === undefined ? most : Math.max(most, zeros + digits)
  const scaled = BigInt(whole + fraction.slice(0, kept).padEnd(kept, '0'))
  const isUp = (fraction[kept] ?? '0') >= '5'
  const shown = String(isUp ? scaled + 1n : scaled).padStart(kept + 1, '0')
  const decimals = withoutZeros(shown.slice(shown.length - kept), least)
  return `${sign}${shown.slice(0, shown.length - kept)}${decimals === '' ? '' : `.${decimals}`}`
}

/** How much of a number people are shown. */
export interface Rounding {
  /** Decimals that are always there. */
  readonly least: number
  /** The most decimals of a number above 1. */
  readonly most: number
  /** How many digits of a number below 1 are to be seen. */
  readonly digits: number
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/** How many zeros stand behind the point of a number below 1; undefined for zero and what is larger. */
const leadingZeros = (whole: string, fraction: string): number | undefined => {
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0
  return /^0+$/.test(whole) && zeros < fraction.length ? zeros : undefined
}

/** Zeros behind the decimals that are always there say nothing. */
const withoutZeros = (fraction: string, least: number): string => {
  const zeros = /0*$/.exec(fraction)?.[0].length ?? 0
  return fraction.slice(0, Math.max(least, fraction.length - zeros))
}

/** The product of two decimal texts, exactly. */
export const productText = (a: string, b: string): string => {
  const [left, right] = [scaledOf(a), scaledOf(b)]
  return textOf(left.digits * right.digits, left.decimals + right.decimals)
}

/** The sum of decimal texts, exactly; `0` of none. */
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
