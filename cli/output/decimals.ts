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
