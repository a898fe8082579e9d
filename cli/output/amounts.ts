import { type AmountUnits, mainDenomination, type NativeAmount, toDenomination } from '../../kernel/index.ts'

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
