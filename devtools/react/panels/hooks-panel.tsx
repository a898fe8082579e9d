import type { ReactElement } from 'react'
import type { JournalEvent } from '../../core/journal-event.ts'
import type { Column } from '../parts/data-table.tsx'
import { matches } from '../parts/filter-field.tsx'
import { StateMark, type Tone } from '../parts/state-mark.tsx'
import { clockText, durationText } from '../texts.ts'
import { EventList } from './event-panels.tsx'

/** Every run of a tap and every call of a telling hook, with who ran, how long and how it ended. */
export const HooksPanel = (): ReactElement => (
  <EventList
    what="calls"
    columns={columns}
    rowsOf={rowsOf}
    emptyTitle="No hook has fired yet"
    emptyText={
      <p>
        Plugins tap the kernel’s hooks. As soon as something happens, such as a login, a sync or a round of
        rates, each tap shows up here with its duration and outcome.
      </p>
    }
  />
)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const hookOf = ({ hook, data }: JournalEvent): string => (hook === 'tapRan' ? textOf(data.hook) : hook)
const pluginOf = ({ data }: JournalEvent): string => textOf(data.pluginId)
const outcomeOf = ({ hook, data }: JournalEvent): string =>
  hook === 'tapRan' ? textOf(data.outcome) : 'told'

const rowsOf = (events: readonly JournalEvent[], filter: string): readonly JournalEvent[] =>
  events
    .filter(
      event =>
        event.hook !== 'logged' &&
        matches(filter, [hookOf(event), pluginOf(event), outcomeOf(event), event.subject])
    )
    .reverse()

const tones: Readonly<Record<string, Tone>> = { done: 'good', answered: 'good', failed: 'bad' }

const columns: readonly Column<JournalEvent>[] = [
  { title: 'Hook', width: '30%', cell: hookOf },
  {
    title: 'Time',
    width: '104px',
    rank: 'slight',
    cell: ({ at }) => <span className="mono soft">{clockText(at)}</span>
  },
  { title: 'Plugin', width: '120px', rank: 'minor', cell: pluginOf },
  {
    title: 'Outcome',
    width: '104px',
    cell: event => <StateMark tone={tones[outcomeOf(event)] ?? 'idle'}>{outcomeOf(event)}</StateMark>
  },
  {
    title: 'Took',
    width: '90px',
    isNumber: true,
    cell: ({ data }) => (typeof data.durationMs === 'number' ? durationText(data.durationMs) : '–')
  },
  {
    title: 'About',
    rank: 'minor',
    cell: ({ subject }) => <span className="soft mono">{subject ?? ''}</span>,
    hint: ({ subject }) => subject ?? ''
  }
]
