import type { ReactElement, ReactNode } from 'react'
import { costText, rateText } from '../../../app/format/routes.ts'
import { ageText } from '../../../app/format/times.ts'
import type { RateProviderSnapshot } from '../../../kernel/index.ts'
import type { RouteEdge, RouteRow } from '../../core/rows/route-rows.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { agoText } from '../parts/texts.ts'
import { useNow } from '../state/panel-state.ts'

/** The hops of a route with what each of them costs, and why. */
export const HopTable = ({ hops }: { readonly hops: readonly RouteRow[] }): ReactElement => (
  <DataTable
    label="Hops of the route"
    isShort
    columns={hopColumns}
    rows={hops}
    keyOf={({ step }) => String(step)}
  />
)

const hopColumns: readonly Column<RouteRow>[] = [
  {
    title: 'Hop',
    width: '190px',
    cell: ({ step, fromCurrency, toCurrency }) => `${step}. ${fromCurrency} → ${toCurrency}`
  },
  { title: 'Source', cell: ({ source }) => source },
  { title: 'Rate', width: '110px', isNumber: true, cell: ({ rate }) => rateText(rate) },
  {
    title: 'Age now',
    width: '82px',
    isNumber: true,
    rank: 'slight',
    cell: ({ ageNow, isStale }) => <Age seconds={ageNow} isStale={isStale} />
  },
  {
    title: 'Age cost',
    width: '72px',
    isNumber: true,
    rank: 'minor',
    cell: ({ ageCost }) => `${ageCost.toFixed(3)} +`
  },
  { title: 'Bias', width: '82px', isNumber: true, rank: 'minor', cell: ({ bias }) => `${bias.toFixed(3)} +` },
  {
    title: 'Direction',
    width: '116px',
    isNumber: true,
    rank: 'minor',
    cell: ({ isInverted, hopCost }) => `${isInverted ? 'inverted' : 'as given'} ${hopCost} =`
  },
  {
    title: 'Cost',
    width: '76px',
    isNumber: true,
    rank: 'slight',
    cell: ({ cost }) => <strong>{costText(cost)}</strong>
  }
]

/** All rates that the picture shows. */
export const EdgeTable = ({ edges }: { readonly edges: readonly RouteEdge[] }): ReactElement => (
  <DataTable label="Rates in the picture" isShort columns={edgeColumns} rows={edges} keyOf={({ id }) => id} />
)

const edgeColumns: readonly Column<RouteEdge>[] = [
  { title: 'Pair', width: '24%', cell: ({ fromCurrency, toCurrency }) => `${fromCurrency} → ${toCurrency}` },
  {
    title: 'Source',
    cell: ({ source, otherSources }) => (
      <>
        {source}
        {otherSources === 0 ? null : <span className="soft"> and {otherSources} more</span>}
      </>
    )
  },
  { title: 'Route', width: '116px', rank: 'slight', cell: edge => <Role edge={edge} /> },
  { title: 'Rate', width: '120px', isNumber: true, cell: ({ rate }) => rateText(rate) },
  {
    title: 'Age',
    width: '84px',
    isNumber: true,
    rank: 'slight',
    cell: ({ ageSeconds, isStale }) => <Age seconds={ageSeconds} isStale={isStale} />
  },
  { title: 'Bias', width: '72px', isNumber: true, rank: 'minor', cell: ({ bias }) => bias.toFixed(3) },
  { title: 'Cost', width: '76px', isNumber: true, rank: 'minor', cell: ({ cost }) => costText(cost) }
]

const Role = ({ edge }: { readonly edge: RouteEdge }): ReactElement => {
  if (edge.isChosen) return <StateMark tone="good">chosen</StateMark>
  return <StateMark tone="idle">{edge.isAlternative ? 'alternative' : 'not taken'}</StateMark>
}

const Age = (props: { readonly seconds: number; readonly isStale: boolean }): ReactNode =>
  props.isStale ? <StateMark tone="warn">{ageText(props.seconds)}</StateMark> : ageText(props.seconds)

/** Lists the rate sources and their last results. */
export const RateProvidersTable = (props: {
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
