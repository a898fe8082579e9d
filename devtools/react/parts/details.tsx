import type { ReactElement, ReactNode } from 'react'
import type { View } from '../../core/model/slices.ts'
import type { PanelLocation } from '../state/location.ts'
import { usePanel, useView } from '../state/panel-state.ts'
import { visibleText } from './texts.ts'

/** The pane with the details of the chosen row, beside or below the table. */
export const DetailsPane = (props: {
  readonly title: string
  readonly children: ReactNode
}): ReactElement => {
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

/** One part of the details. */
export const Section = (props: { readonly title?: string; readonly children: ReactNode }): ReactElement => (
  <section className="section" aria-label={props.title}>
    {props.title === undefined ? null : <h3>{props.title}</h3>}
    {props.children}
  </section>
)

/** Names and values, one a line. */
export const DetailList = ({ children }: { readonly children: ReactNode }): ReactElement => (
  <dl className="facts">{children}</dl>
)

/** One line; left out without a value. `look` sets off ids, codes and errors. */
export const Detail = (props: {
  readonly name: string
  readonly look?: 'bad' | 'mono'
  readonly children?: ReactNode
}): ReactElement | null => {
  const { name, look, children } = props
  if (children === undefined || children === '' || children === null) return null
  return (
    <>
      <dt>{name}</dt>
      <dd className={look}>{typeof children === 'string' ? visibleText(children) : children}</dd>
    </>
  )
}

/** Leads to all that hooks and plugins did about an id: of an action, wallet, payment, round, repo or plugin. */
export const CorrelationLink = ({ id }: { readonly id: string | undefined }): ReactElement | null => {
  const { go } = usePanel()
  const view = useView()
  if (id === undefined) return null
  return (
    <button type="button" className="link" onClick={() => go(correlationLocation(view, id))}>
      Show everything for this id
    </button>
  )
}

/**
 * Returns the location of all events of an id. A payment is followed by its correlation id, which it has before its
 * txid (pure).
 */
export const correlationLocation = (view: View, id: string): PanelLocation => {
  const spend = [...view.spends.values()].find(({ txid }) => txid === id)
  return { panel: 'hooks', filter: spend?.correlationId ?? id }
}

/**
 * Shows the transaction of the newest payment that was approved here for a wallet or a quote; nothing before the
 * first.
 */
export const SentTransaction = (props: {
  /** The id of the wallet, or of the quote. */
  readonly of: string | undefined
  /** The words before the transaction id, such as `Sent as`. */
  readonly words: string
}): ReactElement | null => {
  const { sent } = usePanel().memory
  if (props.of === undefined || !sent.has(props.of)) return null
  const txid = sent.get(props.of)
  return txid === undefined ? (
    <p className="warn" role="status">
      The connection was lost before the answer to your approval came: nobody knows whether it was sent. The
      open payments of the wallet tell.
    </p>
  ) : (
    <>
      <p role="status">
        {props.words}{' '}
        <span className="mono" style={{ overflowWrap: 'anywhere' }}>
          {txid}
        </span>
      </p>
      <CorrelationLink id={txid} />
    </>
  )
}
