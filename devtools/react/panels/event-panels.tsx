import { type ReactElement, type ReactNode, useMemo } from 'react'
import type { JournalEvent } from '../../core/journal-event.ts'
import { hookRows } from '../../core/rows/hook-rows.ts'
import { useStore } from '../../use-store.ts'
import { usePanel, useStatus } from '../panel-state.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState, NoMatch } from '../parts/empty-state.tsx'
import { Everything } from '../parts/everything.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { FilterField } from '../parts/filter-field.tsx'
import { Section, Side } from '../parts/side.tsx'
import { clockText, dateText } from '../texts.ts'
import { ActionTimeline } from './action-timeline.tsx'

/** A row that stands for one event. */
export interface EventRow {
  readonly seq: number
}

/** What a list of events is drawn from. */
export interface EventListProps<R extends EventRow> {
  readonly what: string
  readonly columns: readonly Column<R>[]
  readonly rowsOf: (events: readonly JournalEvent[], filter: string) => readonly R[]
  readonly emptyTitle: string
  readonly emptyText: ReactElement
  /** More to choose by, beside the filter. */
  readonly tools?: ReactNode
}

/** Events, the newest first; the panel can be held still to read them. */
export const EventList = <R extends EventRow>(props: EventListProps<R>): ReactElement => {
  const { client, go, location } = usePanel()
  const events = useStore(client.events)
  const { missed } = useStatus()
  const { rowsOf } = props
  const filter = location.filter.trim()
  const all = useMemo(() => rowsOf(events, ''), [rowsOf, events])
  const rows = useMemo(() => (filter === '' ? all : rowsOf(events, filter)), [all, rowsOf, events, filter])
  const chosen = events.find(({ seq }) => String(seq) === location.id)
  return (
    <>
      <div className="tools">
        <FilterField what={props.what} />
        {props.tools}
        <HoldButton />
        <span className="soft">
          {rows.length === all.length ? `${all.length}` : `${rows.length} of ${all.length}`} {props.what}
          {missed > 0 ? `, ${missed} events left out` : ''}
        </span>
      </div>
      <div className={chosen === undefined ? 'body' : 'body has-side'}>
        <div className="main">
          {rows.length > 0 ? (
            <DataTable
              label={props.what}
              columns={props.columns}
              rows={rows}
              keyOf={({ seq }) => String(seq)}
              chosen={location.id}
              onOpen={({ seq }) => go({ id: String(seq) })}
            />
          ) : all.length > 0 ? (
            <NoMatch filter={location.filter} onClear={() => go({ ...location, filter: '' })} />
          ) : (
            <EmptyState title={props.emptyTitle}>{props.emptyText}</EmptyState>
          )}
        </div>
        {chosen === undefined ? null : <EventSide event={chosen} />}
      </div>
    </>
  )
}

const HoldButton = (): ReactElement | null => {
  const { film, heldAt, toggleHold } = usePanel().shown
  if (film !== undefined) return null
  return (
    <button type="button" className="button" aria-pressed={heldAt !== undefined} onClick={toggleHold}>
      Hold still
    </button>
  )
}

const EventSide = ({ event }: { readonly event: JournalEvent }): ReactElement => {
  const { client, copy } = usePanel()
  const { correlationId } = event
  const all = useStore(client.events)
  const kin = useMemo(
    () => (correlationId === undefined ? [] : hookRows(all, { correlationId })),
    [all, correlationId]
  )
  return (
    <Side title={`${event.hook === 'tapRan' ? String(event.data.hook) : event.hook} ${event.seq}`}>
      <Facts>
        <Fact name="At">
          <span className="mono">{clockText(event.at)}</span>{' '}
          <span className="soft">{dateText(event.at)}</span>
        </Fact>
        <Fact name="About" look="mono">
          {event.subject}
        </Fact>
        <Fact name="Action" look="mono">
          {correlationId}
        </Fact>
      </Facts>
      <Everything id={correlationId ?? event.subject} />
      {kin.length < 2 ? null : (
        <Section title="All of this action">
          <ActionTimeline rows={kin} />
        </Section>
      )}
      <Section title="Data">
        <pre>{JSON.stringify(event.data, undefined, 2)}</pre>
        <div className="acts">
          <button type="button" className="button" onClick={() => copy(JSON.stringify(event, undefined, 2))}>
            Copy as JSON
          </button>
        </div>
      </Section>
    </Side>
  )
}
