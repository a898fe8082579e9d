import { type ReactElement, type ReactNode, useMemo } from 'react'
import { durationText } from '../../../app/format/times.ts'
import type { JournalEvent } from '../../core/model/facts.ts'
import { type HookTableRow, hookRows } from '../../core/rows/hook-rows.ts'
import { useStore } from '../../use-store.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { CorrelationLink, Detail, DetailList, DetailsPane, Section } from '../parts/details.tsx'
import { FilterField } from '../parts/fields.tsx'
import { EmptyState, NoMatch } from '../parts/marks.tsx'
import { clockText, dateText } from '../parts/texts.ts'
import { usePanel, useStatus } from '../state/panel-state.ts'

/** A row that stands for one event. */
export interface EventRow {
  readonly seq: number
}

/** Properties of a list of events. */
export interface EventListProps<R extends EventRow> {
  readonly what: string
  readonly columns: readonly Column<R>[]
  readonly rowsOf: (events: readonly JournalEvent[], filter: string) => readonly R[]
  readonly emptyTitle: string
  readonly emptyText: ReactElement
  /** More to choose by, beside the filter. */
  readonly tools?: ReactNode
}

/** Events, the newest first; the panel can be paused to read them. */
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
  const { recorded, pausedAt, togglePause } = usePanel().displayed
  if (recorded !== undefined) return null
  return (
    <button type="button" className="button" aria-pressed={pausedAt !== undefined} onClick={togglePause}>
      Pause view
    </button>
  )
}

const titleOf = ({ hook, data }: JournalEvent): string => {
  if (hook === 'pluginCalled') return String(data.call)
  return hook === 'tapRan' ? String(data.hook) : hook
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
    <DetailsPane title={`${titleOf(event)} ${event.seq}`}>
      <DetailList>
        <Detail name="At">
          <span className="mono">{clockText(event.at)}</span>{' '}
          <span className="soft">{dateText(event.at)}</span>
        </Detail>
        <Detail name="About" look="mono">
          {event.subject}
        </Detail>
        <Detail name="Action" look="mono">
          {correlationId}
        </Detail>
      </DetailList>
      <CorrelationLink id={correlationId ?? event.subject} />
      {kin.length < 2 ? null : (
        <Section title="All events of this action">
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
    </DetailsPane>
  )
}

/** Every call of one action below each other, each where its time lies between the first and the last. */
const ActionTimeline = ({ rows }: { readonly rows: readonly HookTableRow[] }): ReactElement => {
  const { go, location } = usePanel()
  // A tap is reported at its end, but listed at its start.
  const shown = [...rows].sort((one, other) => one.at - other.at).slice(-MOST)
  const start = Math.min(...shown.map(({ at }) => at))
  const span = Math.max(1, ...shown.map(({ at, durationMs = 0 }) => at + durationMs - start))
  return (
    <ol className="timeline">
      {shown.map(row => (
        <li key={row.seq} aria-current={String(row.seq) === location.id ? 'true' : undefined}>
          <button type="button" className="row-open" onClick={() => go({ ...location, id: String(row.seq) })}>
            {row.hook} <span className="soft">{row.pluginId ?? row.outcome}</span>
          </button>
          <span className="track" aria-hidden="true">
            <span
              className={row.outcome === 'failed' ? 'bad' : undefined}
              style={{
                insetInlineStart: percent((row.at - start) / span),
                inlineSize: percent((row.durationMs ?? 0) / span)
              }}
            />
          </span>
          <span className="soft">+{durationText(row.at - start)}</span>
        </li>
      ))}
    </ol>
  )
}

// As many as can be read beside a list; the filter of Hooks shows them all.
const MOST = 40

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`
