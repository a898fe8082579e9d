import type { ReactElement } from 'react'
import type { JournalEvent } from '../../core/journal-event.ts'
import type { Column } from '../parts/data-table.tsx'
import { matches } from '../parts/filter-field.tsx'
import { StateMark, type Tone } from '../parts/state-mark.tsx'
import { clockText } from '../texts.ts'
import { EventList } from './event-panels.tsx'

/** What the kernel and its plugins log. */
export const LogsPanel = (): ReactElement => (
  <EventList
    what="lines"
    columns={columns}
    rowsOf={rowsOf}
    emptyTitle="Nothing logged yet"
    emptyText={
      <p>
        The kernel and its plugins write here what they do and what goes wrong, without secrets. Quiet is
        good.
      </p>
    }
  />
)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const rowsOf = (events: readonly JournalEvent[], filter: string): readonly JournalEvent[] =>
  events
    .filter(
      ({ hook, data }) =>
        hook === 'logged' && matches(filter, [textOf(data.text), textOf(data.source), textOf(data.level)])
    )
    .reverse()

const tones: Readonly<Record<string, Tone>> = { error: 'bad', warn: 'warn' }

const columns: readonly Column<JournalEvent>[] = [
  { title: 'Time', width: '112px', cell: ({ at }) => <span className="mono soft">{clockText(at)}</span> },
  {
    title: 'Level',
    width: '76px',
    cell: ({ data }) => <StateMark tone={tones[textOf(data.level)] ?? 'idle'}>{textOf(data.level)}</StateMark>
  },
  { title: 'Source', width: '110px', rank: 'minor', cell: ({ data }) => textOf(data.source) },
  { title: 'Text', cell: ({ data }) => textOf(data.text), hint: ({ data }) => textOf(data.text) }
]
