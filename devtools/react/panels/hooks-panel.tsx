import { type ReactElement, useCallback, useState } from 'react'
import type { JournalEvent } from '../../core/journal-event.ts'
import { type HookRow, hookRows } from '../../core/rows/hook-rows.ts'
import type { Column } from '../parts/data-table.tsx'
import { ChoiceField } from '../parts/fields.tsx'
import { StateMark, type Tone } from '../parts/state-mark.tsx'
import { clockText, durationText } from '../texts.ts'
import { EventList } from './event-panels.tsx'

type Kind = HookRow['kind'] | 'all'

const kinds: readonly (readonly [Kind, string])[] = [
  ['all', 'all'],
  ['tap', 'taps'],
  ['told', 'what is told'],
  ['action', 'actions of panels']
]

/** Every run of a tap and every call of a telling hook, with who ran, how long and how it ended. */
export const HooksPanel = (): ReactElement => {
  const [kind, setKind] = useState<Kind>('all')
  const rowsOf = useCallback(
    (events: readonly JournalEvent[], text: string) =>
      hookRows(events, kind === 'all' ? { text } : { text, kind })
        .filter(({ hook }) => hook !== 'logged')
        .reverse(),
    [kind]
  )
  return (
    <EventList
      what="calls"
      columns={columns}
      rowsOf={rowsOf}
      tools={
        <ChoiceField
          label="Show"
          value={kind}
          choices={kinds}
          onChange={value => setKind(kinds.find(([known]) => known === value)?.[0] ?? 'all')}
        />
      }
      emptyTitle="No hook has fired yet"
      emptyText={
        <p>
          Plugins tap the kernel’s hooks. As soon as something happens, such as a login, a sync or a round of
          rates, each tap shows up here with its duration and outcome.
        </p>
      }
    />
  )
}

const tones: Readonly<Record<string, Tone>> = { done: 'good', answered: 'good', failed: 'bad' }

const columns: readonly Column<HookRow>[] = [
  { title: 'Hook', width: '26%', cell: ({ hook }) => hook },
  {
    title: 'Time',
    width: '104px',
    rank: 'slight',
    cell: ({ at }) => <span className="mono soft">{clockText(at)}</span>
  },
  { title: 'Plugin', width: '120px', rank: 'minor', cell: ({ pluginId }) => pluginId ?? '' },
  {
    title: 'Outcome',
    width: '104px',
    cell: ({ kind, outcome = 'told' }) => (
      <StateMark tone={tones[outcome] ?? 'idle'}>{kind === 'told' ? 'told' : outcome}</StateMark>
    )
  },
  { title: 'Took', width: '130px', isNumber: true, cell: row => <Took row={row} /> },
  {
    title: 'About',
    rank: 'minor',
    cell: ({ subject }) => <span className="soft mono">{subject ?? ''}</span>,
    hint: ({ subject }) => subject ?? ''
  }
]

/** A duration, with a bar that grows tenfold slower than it: 1 s fills it, 1 ms a quarter. */
const Took = ({ row }: { readonly row: HookRow }): ReactElement => {
  if (row.durationMs === undefined) return <span className="soft">–</span>
  const share = Math.min(1, Math.max(0.04, (Math.log10(Math.max(row.durationMs, 0.01)) + 2) / 5))
  return (
    <>
      <span className="bar quiet" aria-hidden="true">
        <span style={{ inlineSize: `${Math.round(share * 100)}%` }} />
      </span>
      <span className="took">{durationText(row.durationMs)}</span>
    </>
  )
}
