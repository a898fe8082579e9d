import {
  type Denomination,
  fromDenomination,
  type NativeAmount,
  nativeAmount,
  toDenomination
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { AmountUnits } from './assets.ts'

/** An amount as JSON carries it: never a number. */
export interface AmountJson {
  readonly native: string
  readonly display: string
  readonly code: string
  readonly decimals: number
  readonly [key: string]: string | number | null
}

/** The denomination that amounts are shown in. */
const mainDenomination = ({ denominations, currencyCode }: AmountUnits): Denomination =>
  denominations[0] ?? { name: currencyCode, multiplier: '1' }

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

/** An amount for people: `0.01 BTC`. */
export const amountText = (amount: NativeAmount, units: AmountUnits): string => {
  const { name, multiplier } = mainDenomination(units)
  return `${toDenomination(amount, multiplier)} ${name}`
}

/**
 * Reads an amount that a person typed: `0.01 BTC`, `250 sats`, `1000000 native`, or `0.01` alone, which is in the
 * first denomination.
 *
 * @throws AMOUNT_INVALID for more decimals than there are, CliError USAGE for an unknown unit
 */
export const parseAmount = (text: string, units: AmountUnits): NativeAmount => {
  const match = /^\s*([^A-Za-z\s]+)\s*([A-Za-z]\S*)?\s*$/.exec(text)
  const [, number = '', unit] = match ?? []
  if (unit?.toLowerCase() === 'native') return nativeAmount(number)
  const denomination =
    unit === undefined
      ? mainDenomination(units)
      : units.denominations.find(({ name }) => name.toLowerCase() === unit.toLowerCase())
  if (denomination === undefined) {
    const names = units.denominations.map(({ name }) => name).join(', ')
    throw new CliError('USAGE', `"${unit}" is no unit of ${units.displayName}`, {
      hint: `Use one of ${names}, or native.`
    })
  }
  return fromDenomination(number, denomination.multiplier)
}

/** True for the word that asks for everything there is. */
export const isMax = (text: string): boolean => text.trim().toLowerCase() === 'max'
