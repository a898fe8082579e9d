import type { ReactElement, ReactNode } from 'react'
import { usePanel } from '../panel-state.ts'
import { visibleText } from '../texts.ts'

/** What is told of the chosen row, beside or below the table. */
export const Side = (props: { readonly title: string; readonly children: ReactNode }): ReactElement => {
  const { go, location } = usePanel()
  return (
    <aside className="side" aria-label={props.title}>
      <div className="side-head">
        <h2>{visibleText(props.title)}</h2>
        <button
          type="button"
          className="button plain"
          onClick={event => {
            // This button goes away: the focus goes back to the row that it was about.
            const root = event.currentTarget.getRootNode() as ShadowRoot
            root.querySelector<HTMLElement>('[data-chosen="true"] [data-row]')?.focus()
            go({ panel: location.panel, filter: location.filter })
          }}
        >
          Close
        </button>
      </div>
      {props.children}
    </aside>
  )
}

/** One part of what is told. */
export const Section = (props: { readonly title?: string; readonly children: ReactNode }): ReactElement => (
  <section className="section" aria-label={props.title}>
    {props.title === undefined ? null : <h3>{props.title}</h3>}
    {props.children}
  </section>
)
