import type { ReactElement } from 'react'
import type { RateProviderSnapshot } from '../../../kernel/index.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { StateMark, type Tone } from '../parts/state-mark.tsx'
import { agoText } from '../texts.ts'
import { useNow } from '../use-now.ts'

/** Who gives rates, and how they did last. */
export const RateProviders = (props: {
  readonly providers: readonly RateProviderSnapshot[]
}): ReactElement | null => {
  const now = useNow() / 1000
  if (props.providers.length === 0) return null
  return (
    <>
      <h2 className="tools">Sources</h2>
      <DataTable
        label="Sources of rates"
        isShort
        columns={columnsAt(now)}
        rows={props.providers}
        keyOf={({ pluginId }) => pluginId}
      />
    </>
  )
}

const columnsAt = (now: number): readonly Column<RateProviderSnapshot>[] => [
  {
    title: 'Source',
    isProse: true,
    cell: ({ displayName }) => displayName,
    hint: ({ pluginId }) => pluginId
  },
  { title: 'State', width: '112px', cell: ({ state }) => <StateMark tone={tones[state]}>{state}</StateMark> },
  { title: 'Pairs', width: '80px', isNumber: true, cell: ({ pairCount }) => pairCount },
  { title: 'Bias', width: '72px', isNumber: true, rank: 'slight', cell: ({ bias }) => bias },
  {
    title: 'Answered',
    width: '100px',
    isNumber: true,
    rank: 'slight',
    cell: ({ answeredAt }) => (answeredAt === undefined ? 'never' : agoText(answeredAt, now))
  },
  {
    title: 'Says',
    isProse: true,
    width: '34%',
    rank: 'minor',
    cell: ({ message }) => <span className="soft">{message ?? ''}</span>,
    hint: ({ message }) => message ?? ''
  }
]

const tones: Readonly<Record<RateProviderSnapshot['state'], Tone>> = {
  idle: 'idle',
  asked: 'busy',
  answered: 'good',
  silent: 'warn',
  failed: 'bad',
  retired: 'idle'
}
