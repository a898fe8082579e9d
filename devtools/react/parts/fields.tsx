import type { HTMLInputTypeAttribute, ReactElement, ReactNode } from 'react'

/** A line of text with its name. */
export const TextField = (props: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: HTMLInputTypeAttribute
  readonly placeholder?: string
  readonly autoComplete?: string
  /** Which keys a phone shows. */
  readonly inputMode?: 'decimal' | 'numeric' | 'text'
}): ReactElement => (
  <label className="field">
    <span>{props.label}</span>
    <input
      type={props.type ?? 'text'}
      value={props.value}
      placeholder={props.placeholder}
      autoComplete={props.autoComplete ?? 'off'}
      inputMode={props.inputMode}
      spellCheck={false}
      autoCapitalize="off"
      onChange={event => props.onChange(event.target.value)}
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

/** Whether text is a native amount above zero. */
export const isNativeAmount = (text: string): boolean => /^[1-9]\d*$/.test(text)
