import type { ReactElement } from 'react'
import { usePanel } from '../panel-state.ts'

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
