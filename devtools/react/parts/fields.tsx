import { type HTMLInputTypeAttribute, type ReactElement, type ReactNode, type RefObject, useId } from 'react'
import { readAmount } from '../../../app/format/amounts.ts'
import { type AmountUnits, mainDenomination } from '../../../kernel/index.ts'
import { usePanel } from '../state/panel-state.ts'
import { visibleText } from './texts.ts'

/** A line of text with its name; what is wrong with it is said below. */
export const TextField = (props: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: HTMLInputTypeAttribute
  readonly placeholder?: string
  readonly autoComplete?: string
  /** The keyboard that a phone shows. */
  readonly inputMode?: 'decimal' | 'numeric' | 'text'
  /** The unit of the value, beside it. */
  readonly unit?: string
  readonly error?: string | undefined
  /** It has a line of its own. */
  readonly isWide?: boolean
}): ReactElement => {
  const { label, value, unit, error } = props
  const errorId = useId()
  return (
    <div className={props.isWide === true ? 'field wide' : 'field'}>
      <label className="field">
        <span>{label}</span>
        <span className="in-unit">
          <input
            type={props.type ?? 'text'}
            value={value}
            placeholder={props.placeholder}
            autoComplete={props.autoComplete ?? 'off'}
            inputMode={props.inputMode}
            spellCheck={false}
            autoCapitalize="off"
            aria-invalid={error === undefined ? undefined : true}
            aria-describedby={error === undefined ? undefined : errorId}
            onChange={event => props.onChange(event.target.value)}
          />
          {unit === undefined ? null : <span>{unit}</span>}
        </span>
      </label>
      <p id={errorId} className="field-error" aria-live="polite">
        {error}
      </p>
    </div>
  )
}

/** A line of secret text, which only the element of the page holds: read it from there. */
export const SecretField = (props: {
  readonly label: string
  readonly field: RefObject<HTMLInputElement | null>
  /** Says after each change if there is a text. */
  readonly onType: (isTyped: boolean) => void
}): ReactElement => (
  <label className="field wide">
    <span>{props.label}</span>
    <input
      ref={props.field}
      type="password"
      autoComplete="off"
      spellCheck={false}
      autoCapitalize="off"
      onChange={event => props.onType(event.target.value.trim() !== '')}
    />
  </label>
)

/** A list to choose one from. */
export const ChoiceField = (props: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly choices: readonly (readonly [value: string, label: ReactNode])[]
}): ReactElement => (
  <label className="field">
    <span>{props.label}</span>
    <select value={props.value} onChange={event => props.onChange(event.target.value)}>
      {props.choices.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  </label>
)

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

/** Keeps the rows that contain a text; `/` leads here. */
export const FilterField = (props: { readonly what: string }): ReactElement => {
  const { go, location } = usePanel()
  return (
    <label className="filter">
      <span className="hidden-text">Filter {props.what}</span>
      <input
        type="search"
        data-filter
        placeholder={`Filter ${props.what}`}
        value={location.filter}
        spellCheck={false}
        autoComplete="off"
        onChange={event => go({ ...location, filter: event.target.value })}
      />
    </label>
  )
}
