import type { ReactElement } from 'react'
import type { SpendRequest } from '../../../app/actions/spend-review.ts'
import type { CurrencySnapshot, WalletId } from '../../../kernel/index.ts'
import type { View } from '../../core/model/slices.ts'
import { ChoiceField, TextField } from './fields.tsx'
import { visibleText } from './texts.ts'

/** The fee of a form: a level, or numbers that were typed, by the keys of the currency. */
export interface TypedFee {
  readonly level: Level
  readonly numbers: Readonly<Record<string, string>>
}

type Level = NonNullable<SpendRequest['fee']> | 'custom'

/** The numbers of a custom fee of a wallet's currency; none where it takes levels only. */
export type FeeTemplate = NonNullable<CurrencySnapshot['customFeeTemplate']>

/** A fee at a level (pure). */
export const feeAt = (level: Level): TypedFee => ({ level, numbers: {} })

/** Returns the numbers that a custom fee of a wallet consists of (pure). */
export const feeTemplateOf = (view: View, walletId: WalletId): FeeTemplate =>
  view.plugins.get(view.wallets.get(walletId)?.pluginId ?? '')?.currency?.customFeeTemplate ?? []

/** Returns the fee for an action; undefined while a number is missing or is none (pure). */
export const readFee = (
  { level, numbers }: TypedFee,
  template: FeeTemplate
): Pick<SpendRequest, 'customFee' | 'fee'> | undefined => {
  if (level !== 'custom') return { fee: level }
  const typed = template.map(({ key }): [string, string] => [key, numbers[key]?.trim() ?? ''])
  if (typed.length === 0 || typed.some(([, number]) => !isFeeNumber(number))) return undefined
  return { customFee: Object.fromEntries(typed) }
}

/** The currency judges the number itself. */
const isFeeNumber = (text: string): boolean => /^\d{1,30}(\.\d{1,30})?$/.test(text) && /[1-9]/.test(text)

/** A list to choose the level of a network fee from; below it the numbers of one's own, where the currency takes some. */
export const FeeFields = (props: {
  readonly label?: string
  readonly value: TypedFee
  readonly template: FeeTemplate
  readonly onChange: (value: TypedFee) => void
  /** Why the wallet refuses the typed numbers. */
  readonly error?: string | undefined
}): ReactElement => {
  const { label = 'Fee', value, template, onChange, error } = props
  const { level, numbers } = value
  const choices = template.length === 0 && level !== 'custom' ? levels : [...levels, CUSTOM]
  const change = (key: string, number: string): void =>
    onChange({ level, numbers: { ...numbers, [key]: number } })
  return (
    <>
      <ChoiceField
        label={label}
        value={level}
        choices={choices}
        onChange={chosen =>
          onChange({ level: choices.find(([known]) => known === chosen)?.[0] ?? 'standard', numbers })
        }
      />
      {level !== 'custom'
        ? null
        : template.map(({ key, displayName, unit }, at) => {
            const typed = numbers[key] ?? ''
            const isWrong = typed.trim() !== '' && !isFeeNumber(typed.trim())
            return (
              <TextField
                key={key}
                label={visibleText(displayName)}
                unit={visibleText(unit)}
                inputMode="decimal"
                value={typed}
                onChange={number => change(key, number)}
                error={isWrong ? WRONG : at === template.length - 1 ? error : undefined}
              />
            )
          })}
    </>
  )
}

const WRONG = 'Type a number above zero, such as 12.5.'

const CUSTOM: readonly [Level, string] = ['custom', 'Custom']

const levels: readonly (readonly [Level, string])[] = [
  ['low', 'Low'],
  ['standard', 'Standard'],
  ['high', 'High']
]
