import { type ReactElement, useCallback, useMemo, useState } from 'react'
import type { JournalEvent } from '../../core/model/facts.ts'
import type { View } from '../../core/model/slices.ts'
import { type HookTableRow, hookRows } from '../../core/rows/hook-rows.ts'
import type { Column } from '../parts/data-table.tsx'
import { ChoiceField } from '../parts/fields.tsx'
import { DurationBar, StateMark, type Tone } from '../parts/marks.tsx'
import { clockText, dateText, shortId } from '../parts/texts.ts'
import { nameOfId } from '../parts/wallet.tsx'
import { useView } from '../state/panel-state.ts'
import { EventList } from './event-list.tsx'

type Kind = HookTableRow['kind'] | 'all'

const kinds: readonly (readonly [Kind, string])[] = [
  ['all', 'all'],
  ['tap', 'taps'],
  ['call', 'calls into cells'],
  ['notified', 'snapshots'],
  ['action', 'actions of panels']
]

/** Every run of a tap and every call of an observer hook, with its owner, duration and outcome. */
export const HooksPanel = (): ReactElement => {
  const [kind, setKind] = useState<Kind>('all')
  const view = useView()
  const columns = useMemo(() => columnsOf(view), [view])
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
          Plugins tap the kernel’s hooks. After an event such as a login, a sync or a round of rates, each tap
          appears here with its duration and outcome.
        </p>
      }
    />
  )
}

const tones: Readonly<Record<string, Tone>> = { done: 'good', answered: 'good', failed: 'bad' }

const columnsOf = (view: View): readonly Column<HookTableRow>[] => [
  { title: 'Hook', width: '26%', cell: ({ hook }) => hook },
  {
    title: 'Time',
    width: '104px',
    rank: 'slight',
    cell: ({ at }) => <span className="mono soft">{clockText(at)}</span>,
    hint: ({ at }) => dateText(at)
  },
  { title: 'Plugin', isProse: true, width: '120px', rank: 'minor', cell: ({ pluginId }) => pluginId ?? '' },
  {
    title: 'Outcome',
    width: '104px',
    cell: ({ outcome = 'notified' }) => <StateMark tone={tones[outcome] ?? 'idle'}>{outcome}</StateMark>
  },
  {
    title: 'Took',
    width: '146px',
    isNumber: true,
    cell: ({ durationMs }) => <DurationBar durationMs={durationMs} share={shareOf(durationMs ?? 0)} />
  },
  {
    title: 'About',
    isProse: true,
    rank: 'minor',
    cell: ({ subject = '' }) => {
      const name = nameOfId(view, subject)
      return name === subject ? (
        <span className="soft mono">{shortId(name)}</span>
      ) : (
        <span className="soft">{name}</span>
      )
    },
    hint: ({ subject }) => subject ?? ''
  }
]

/** The bar grows tenfold slower than the time: 1 s fills it, 1 ms a quarter. */
const shareOf = (durationMs: number): number => (Math.log10(Math.max(durationMs, 0.01)) + 2) / 5
