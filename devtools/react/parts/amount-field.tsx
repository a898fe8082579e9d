import type { ReactElement } from 'react'
import { type AmountUnits, mainDenomination } from '../../../kernel/index.ts'
import { readAmount } from '../../core/amount-in-units.ts'
import { visibleText } from '../texts.ts'
import { TextField } from './fields.tsx'

/** An amount with its unit beside it; another unit can be typed behind the number. What is wrong with it is said below. */
export const AmountField = (props: {
  readonly label: string
  readonly units: AmountUnits
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error?: string | undefined
}): ReactElement => {
  const { label, units, value, onChange, error } = props
  const wrong = value.trim() === '' ? undefined : readAmount(value, units).error
  return (
    <TextField
      {...{ label, value, onChange }}
      unit={visibleText(mainDenomination(units).name)}
      error={wrong ?? error}
      // Units can be typed, too.
      inputMode="text"
    />
  )
}
