import { type ReactElement, useMemo, useState } from 'react'
import { costText, rateText } from '../../../app/format/routes.ts'
import type { RouteSnapshot } from '../../../kernel/index.ts'
import { matchesText } from '../../core/model/derive.ts'
import { type RouteEdge, routeAt, routeGraph, routeList, routeTable } from '../../core/rows/route-rows.ts'
import { ChoiceField, FilterField } from '../parts/fields.tsx'
import { EmptyState, StateMark } from '../parts/marks.tsx'
import { type RequestedRoute, useNow, usePanel, useView } from '../state/panel-state.ts'
import { NoRoute, RouteForm, requestedRouteIdOf, routeIdOf } from './route-form.tsx'
import { drawnEdges, RouteDrawing, RouteLegend } from './route-graph.tsx'
import { EdgeTable, HopTable, RateProvidersTable } from './route-tables.tsx'

/** Shows the route of rates from one currency to another: as a graph, as tables, and with its sources. */
export const RatesPanel = (): ReactElement => {
  const view = useView()
  const { go, location, memory } = usePanel()
  const { requested } = memory
  const known = routeList(view)
  // Who comes back finds the answer that was shown last.
  const place = location.id ?? (requested === undefined ? undefined : requestedRouteIdOf(requested))
  const shown = useMemo(() => shownRoutes(routeList(view), requested, place), [view, requested, place])
  const providers = [...view.rateProviders.values()]
  return (
    <>
      <div className="tools">
        <RouteForm
          sources={providers}
          place={place ?? routeIdOf(known[0])}
          onAnswer={given => go({ id: requestedRouteIdOf(given) })}
        />
      </div>
      <div className="body">
        <div className="main">
          {shown.some(({ hops }) => hops.length > MOST_HOPS) ? (
            <EmptyState title="This route is too long">
              <p>No kernel finds a route of more than {MOST_HOPS} rates, so the panel does not draw it.</p>
            </EmptyState>
          ) : shown.length === 0 ? (
            <NoRoute pairCount={view.pairs.size} place={place} />
          ) : (
            <Routes
              routes={shown}
              others={known.length < 2 ? [] : known.map(routeIdOf)}
              place={place ?? routeIdOf(shown[0])}
            />
          )}
          <RateProvidersTable providers={providers} />
        </div>
      </div>
    </>
  )
}

// A recording can say anything, and the layout of thousands would take minutes.
const MOST_HOPS = 50

// As many currencies as a picture shows without becoming a thicket.
const MARKET = 14

/** The route that was asked for with its alternatives, or the newest one of a place. */
const shownRoutes = (
  known: readonly RouteSnapshot[],
  requested: RequestedRoute | undefined,
  id: string | undefined
): readonly RouteSnapshot[] => {
  if (requested !== undefined && requested.answer.route !== null && id === requestedRouteIdOf(requested)) {
    return [requested.answer.route, ...requested.answer.alternatives]
  }
  const found = id === undefined ? known[0] : known.find(route => routeIdOf(route) === id)
  return found === undefined ? [] : [found]
}

const Routes = (props: {
  /** The chosen one first. */
  readonly routes: readonly RouteSnapshot[]
  readonly others: readonly string[]
  readonly place: string
}): ReactElement | null => {
  const view = useView()
  const { go, location } = usePanel()
  const [isWide, setWide] = useState(false)
  const now = Math.floor(useNow() / 1000)
  const routes = useMemo(
    () => props.routes.map(found => routeAt(view.pairs, found, now)),
    [view.pairs, props.routes, now]
  )
  const [route, ...alternatives] = routes
  const graph = useMemo(
    () =>
      route === undefined
        ? undefined
        : routeGraph(view, { route, alternatives: routes.slice(1), now, limit: isWide ? MARKET : 1 }),
    [view, route, routes, now, isWide]
  )
  const drawn = useMemo(() => drawnEdges(graph?.edges ?? [], routes), [graph, routes])
  if (route === undefined || graph === undefined) return null
  const sources = [...new Set([...view.rateProviders.keys(), ...graph.edges.map(({ source }) => source)])]
  const edges = graph.edges
    .filter(({ fromCurrency, toCurrency, source }) =>
      matchesText(location.filter.trim(), [fromCurrency, toCurrency, source])
    )
    .sort((one, other) => placeInTable(one) - placeInTable(other))
  return (
    <>
      <div className="tools">
        <RouteHead route={route} alternatives={alternatives} />
        <span className="spacer" />
        {props.others.length === 0 ? null : (
          <ChoiceField
            label="Earlier routes"
            value={props.place}
            onChange={id => go({ id })}
            choices={props.others.map(id => [id, id.replace(' ', ' → ')] as const)}
          />
        )}
        <button type="button" className="button" aria-pressed={isWide} onClick={() => setWide(!isWide)}>
          Market around it
        </button>
      </div>
      <RouteDrawing nodes={graph.nodes} edges={drawn} sources={sources} />
      <RouteLegend graph={graph} sources={sources} />
      <HopTable hops={routeTable(route, now)} />
      <div className="tools">
        <h2>Rates in the picture</h2>
        <FilterField what="rates" />
      </div>
      <EdgeTable edges={edges} />
    </>
  )
}

/** The chosen ones first, then the alternatives. */
const placeInTable = ({ isChosen, isAlternative }: RouteEdge): number =>
  isChosen ? 0 : isAlternative ? 1 : 2

const RouteHead = (props: {
  readonly route: RouteSnapshot
  readonly alternatives: readonly RouteSnapshot[]
}): ReactElement => {
  const { route, alternatives } = props
  const isCheapest = alternatives.every(({ cost }) => route.cost <= cost)
  return (
    <p>
      <span className="big">
        1 {route.fromCurrency} = {rateText(route.rate)} {route.toCurrency}
      </span>{' '}
      <span className="soft">
        by {route.hops.length === 1 ? 'one rate' : `${route.hops.length} rates`}, cost {costText(route.cost)}
        {alternatives.length === 0
          ? ''
          : isCheapest
            ? `, the cheapest of ${alternatives.length + 1}`
            : `, which was the cheapest of ${alternatives.length + 1} and is no longer: find the route again`}
      </span>{' '}
      {route.isStale ? <StateMark tone="warn">stale: it may mislead</StateMark> : null}
    </p>
  )
}
