import { type ReactElement, useCallback, useState } from 'react'
import type { LogLevel } from '../../../kernel/index.ts'
import type { JournalEvent } from '../../core/model/facts.ts'
import { type LogRow, logRows } from '../../core/rows/log-rows.ts'
import type { Column } from '../parts/data-table.tsx'
import { ChoiceField } from '../parts/fields.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { clockText, dateText } from '../parts/texts.ts'
import { EventList } from './event-list.tsx'

const levels: readonly (readonly [LogLevel, string])[] = [
  ['debug', 'debug and above'],
  ['info', 'info and above'],
  ['warn', 'warnings and errors'],
  ['error', 'errors']
]

/** Lists the log lines of the kernel and its plugins, the faults of plugins, and the actions. */
export const LogsPanel = (): ReactElement => {
  const [level, setLevel] = useState<LogLevel>('debug')
  const rowsOf = useCallback(
    (events: readonly JournalEvent[], text: string) => [...logRows(events, { text, level })].reverse(),
    [level]
  )
  return (
    <EventList
      what="lines"
      columns={columns}
      rowsOf={rowsOf}
      tools={
        <ChoiceField
          label="Level"
          value={level}
          choices={levels}
          onChange={value => setLevel(levels.find(([known]) => known === value)?.[0] ?? 'debug')}
        />
      }
      emptyTitle="Nothing logged yet"
      emptyText={
        <p>
          The kernel and its plugins log their work and their failures here, without secrets. Each action also
          has a line.
        </p>
      }
    />
  )
}

const tones: Readonly<Record<LogLevel, Tone>> = { error: 'bad', warn: 'warn', info: 'idle', debug: 'idle' }

const columns: readonly Column<LogRow>[] = [
  {
    title: 'Time',
    width: '112px',
    cell: ({ at }) => <span className="mono soft">{clockText(at)}</span>,
    hint: ({ at }) => dateText(at)
  },
  { title: 'Level', width: '76px', cell: ({ level }) => <StateMark tone={tones[level]}>{level}</StateMark> },
  { title: 'Source', isProse: true, width: '110px', rank: 'minor', cell: ({ source }) => source },
  { title: 'Text', isProse: true, cell: ({ text }) => text, hint: ({ text }) => text }
]
