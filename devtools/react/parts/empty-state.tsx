import type { ReactElement, ReactNode } from 'react'

/** What stands where nothing is yet: why, and what to do. */
export const EmptyState = (props: { readonly title: string; readonly children: ReactNode }): ReactElement => (
  <div className="empty">
    <h2>{props.title}</h2>
    {props.children}
  </div>
)

/** What stands where the filter leaves nothing. */
export const NoMatch = (props: { readonly filter: string; readonly onClear: () => void }): ReactElement => (
  <EmptyState title="Nothing matches">
    <p>
      Nothing here contains <code>{props.filter}</code>.
    </p>
    <button type="button" className="button" onClick={props.onClear}>
      Clear the filter
    </button>
  </EmptyState>
)
