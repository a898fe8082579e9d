import { roundedText } from './decimals.ts'

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
