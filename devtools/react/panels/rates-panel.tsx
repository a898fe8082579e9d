import { type ReactElement, useState } from 'react'
import type { RouteSnapshot } from '../../../kernel/index.ts'
import type { Actions } from '../../core/actions.ts'
import type { View } from '../../core/slices.ts'
import { usePanel, useView } from '../panel-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ChoiceField } from '../parts/fields.tsx'
import { matches } from '../parts/filter-field.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { rateText, spanText } from '../texts.ts'
import { AskRoute } from './ask-route.tsx'
import { RateProviders } from './rate-providers.tsx'
import { graphOf, keyOf, type RouteEdge, RouteGraph } from './route-graph.tsx'

type Answer = Actions['rates.route']['out']

/** Which rates one currency turns into another by: a graph, the same as a table, and who gave the rates. */
export const RatesPanel = (): ReactElement => {
  const view = useView()
  const { go, location } = usePanel()
  const [answer, setAnswer] = useState<Answer | undefined>()
  const ids = [...view.routes.keys()]
  const shown = shownRoutes(view, answer, location.id)
  const [route] = shown
  const graph = graphOf(shown)
  const sources = [...new Set([...view.rateProviders.keys(), ...graph.edges.map(({ hop }) => hop.source)])]
  return (
    <>
      <div className="tools">
        <AskRoute
          sources={[...view.rateProviders.values()]}
          onAnswer={(from, to, given) => {
            setAnswer(given)
            go({ id: `${from} ${to}` })
          }}
        />
      </div>
      <div className="body">
        <div className="main">
          {route === undefined ? (
            <NoRoute view={view} asked={answer === undefined ? undefined : location.id} />
          ) : (
            <>
              <div className="tools">
                <RouteHead route={route} />
                {ids.length < 2 ? null : (
                  <ChoiceField
                    label="Routes found before"
                    value={location.id ?? ids.at(-1) ?? ''}
                    onChange={id => go({ id })}
                    choices={ids.map(id => [id, id.replace(' ', ' → ')] as const)}
                  />
                )}
              </div>
              <RouteGraph graph={graph} sources={sources} />
              <Legend
                sources={sources.filter(source => graph.edges.some(({ hop }) => hop.source === source))}
                all={sources}
              />
              <DataTable
                label="Rates of these routes"
                isShort
                columns={columns}
                rows={graph.edges.filter(({ hop }) =>
                  matches(location.filter, [hop.fromCurrency, hop.toCurrency, hop.source])
                )}
                keyOf={keyOf}
              />
            </>
          )}
          <RateProviders providers={[...view.rateProviders.values()]} />
        </div>
      </div>
    </>
  )
}

/** The route that was asked for with its alternatives, or the one that the kernel found last. */
const shownRoutes = (
  view: View,
  answer: Answer | undefined,
  id: string | undefined
): readonly RouteSnapshot[] => {
  const asked = answer?.route
  if (
    answer !== undefined &&
    asked != null &&
    (id === undefined || id === `${asked.fromCurrency} ${asked.toCurrency}`)
  ) {
    return [asked, ...answer.alternatives]
  }
  const known = id === undefined ? [...view.routes.values()].at(-1) : view.routes.get(id)
  return known === undefined ? [] : [known]
}

const RouteHead = ({ route }: { readonly route: RouteSnapshot }): ReactElement => (
  <p>
    <span className="big">
      1 {route.fromCurrency} = {rateText(route.rate)} {route.toCurrency}
    </span>{' '}
    <span className="soft">
      by {route.hops.length === 1 ? 'one rate' : `${route.hops.length} rates`}, cost {route.cost.toFixed(3)}
    </span>{' '}
    {route.isStale ? <StateMark tone="warn">stale: it may mislead</StateMark> : null}
  </p>
)

const Legend = (props: {
  readonly sources: readonly string[]
  readonly all: readonly string[]
}): ReactElement => (
  <p className="legend">
    {props.sources.map(source => (
      <span key={source} className={`source-${props.all.indexOf(source) % 8}`}>
        <svg viewBox="0 0 22 8" aria-hidden="true">
          <path d="M0 4h22" stroke="currentColor" strokeWidth="3" />
        </svg>
        {source}
      </span>
    ))}
    <span>
      <svg viewBox="0 0 22 8" aria-hidden="true">
        <path d="M0 4h22" stroke="currentColor" strokeWidth="4" />
      </svg>
      chosen
    </span>
    <span>
      <svg viewBox="0 0 22 8" aria-hidden="true">
        <path d="M0 4h22" stroke="currentColor" strokeWidth="1.5" strokeDasharray="5 3" />
      </svg>
      stale
    </span>
  </p>
)

const columns: readonly Column<RouteEdge>[] = [
  { title: 'From → to', width: '22%', cell: ({ hop }) => `${hop.fromCurrency} → ${hop.toCurrency}` },
  {
    title: 'Chosen',
    width: '92px',
    cell: ({ isChosen }) =>
      isChosen ? <StateMark tone="good">chosen</StateMark> : <StateMark tone="idle">other</StateMark>
  },
  { title: 'Source', cell: ({ hop }) => hop.source },
  { title: 'Rate', width: '120px', isNumber: true, cell: ({ hop }) => rateText(hop.rate) },
  {
    title: 'Age',
    width: '76px',
    isNumber: true,
    rank: 'slight',
    cell: ({ hop, isStale }) => <span className={isStale ? 'warn' : ''}>{spanText(hop.ageSeconds)}</span>
  },
  {
    title: 'Age cost',
    width: '80px',
    isNumber: true,
    rank: 'minor',
    cell: ({ hop }) => (hop.ageSeconds / (30 + hop.ageSeconds)).toFixed(3)
  },
  { title: 'Bias', width: '72px', isNumber: true, rank: 'minor', cell: ({ hop }) => hop.bias.toFixed(3) },
  {
    title: 'Direction',
    width: '108px',
    rank: 'minor',
    cell: ({ hop }) => (hop.isInverted ? 'inverted 1.1' : 'as given 1')
  },
  { title: 'Cost', width: '72px', isNumber: true, rank: 'slight', cell: ({ hop }) => hop.cost.toFixed(3) }
]

const NoRoute = (props: { readonly view: View; readonly asked: string | undefined }): ReactElement =>
  props.asked === undefined ? (
    <EmptyState title="No route yet">
      <p>
        {props.view.pairs.size === 0
          ? 'No source has given a rate yet. Ask the sources, then ask for a pair above.'
          : `${props.view.pairs.size} rates are known. Ask for a pair above, such as BTC to iso:EUR, and see by which of them it is reached.`}
      </p>
      <div className="acts">
        <ActButton name="rates.refresh" input={{}}>
          Ask the sources
        </ActButton>
      </div>
      <p>
        In the terminal: <code>holdfast rates route</code>
      </p>
    </EmptyState>
  ) : (
    <EmptyState title="No route leads there">
      <p>
        The known rates do not connect <code>{props.asked.replace(' ', ' → ')}</code>. Ask the sources for
        newer ones, or look whether a source failed below.
      </p>
      <div className="acts">
        <ActButton name="rates.refresh" input={{}}>
          Ask the sources
        </ActButton>
      </div>
    </EmptyState>
  )
