import { fromDenomination, type NativeAmount, nativeAmount, toDenomination } from './amount.ts'
import { WalletError } from './errors/wallet-error.ts'
import type { AmountUnits, Denomination } from './types/currency.ts'

/**
 * The denomination that amounts are shown in, and that an amount is read in which names none: the first; the native unit
 * where there is none, or where it is no power of ten.
 */
export const mainDenomination = ({
  denominations: [first]
}: Pick<AmountUnits, 'denominations'>): Denomination =>
  first === undefined || !isPowerOfTen(first) ? NATIVE : first

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
  const known = units.denominations.filter(isPowerOfTen)
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

const isPowerOfTen = ({ multiplier }: Denomination): boolean => /^10*$/.test(multiplier)
