import {
  type CurrencyInfo,
  type Denomination,
  fromDenomination,
  type NativeAmount,
  nativeAmount,
  toDenomination
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'

/** An amount as JSON carries it: never a number. */
export interface AmountJson {
  readonly native: string
  readonly display: string
  readonly code: string
  readonly decimals: number
  readonly [key: string]: string | number
}

/** The denomination that amounts are shown in. */
const mainDenomination = ({ denominations, currencyCode }: CurrencyInfo): Denomination =>
  denominations[0] ?? { name: currencyCode, multiplier: '1' }

/** An amount for scripts. */
export const amountJson = (amount: NativeAmount, info: CurrencyInfo): AmountJson => {
  const { multiplier } = mainDenomination(info)
  return {
    native: amount,
    display: toDenomination(amount, multiplier),
    code: info.currencyCode,
    decimals: multiplier.length - 1
  }
}

/** An amount for people: `0.01 BTC`. */
export const amountText = (amount: NativeAmount, info: CurrencyInfo): string => {
  const { name, multiplier } = mainDenomination(info)
  return `${toDenomination(amount, multiplier)} ${name}`
}

/**
 * Reads an amount that a person typed: `0.01 BTC`, `250 sats`, `1000000 native`, or `0.01` alone, which is in the
 * first denomination.
 *
 * @throws AMOUNT_INVALID for more decimals than there are, CliError USAGE for an unknown unit
 */
export const parseAmount = (text: string, info: CurrencyInfo): NativeAmount => {
  const match = /^\s*([^A-Za-z\s]+)\s*([A-Za-z]\S*)?\s*$/.exec(text)
  const [, number = '', unit] = match ?? []
  if (unit?.toLowerCase() === 'native') return nativeAmount(number)
  const denomination =
    unit === undefined
      ? mainDenomination(info)
      : info.denominations.find(({ name }) => name.toLowerCase() === unit.toLowerCase())
  if (denomination === undefined) {
    const names = info.denominations.map(({ name }) => name).join(', ')
    throw new CliError('USAGE', `"${unit}" is no unit of ${info.displayName}`, {
      hint: `Use one of ${names}, or native.`
    })
  }
  return fromDenomination(number, denomination.multiplier)
}

/** True for the word that asks for everything there is. */
export const isMax = (text: string): boolean => text.trim().toLowerCase() === 'max'
