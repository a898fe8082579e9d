import {
  HOP_COST,
  isStale,
  type RateSnapshot,
  type RouteHopSnapshot,
  type RouteSnapshot,
  rateAge
} from '../../../kernel/index.ts'
import type { View } from '../slices.ts'
import { ageCostOf, costOf } from './route-table.ts'

/** A currency. */
export interface RouteNode {
  readonly code: string
  readonly isFiat: boolean
  readonly isOnRoute: boolean
}

/** A pair of one source, or the best of several that say the same. */
export interface RouteEdge {
  /** `from to source`, as in the table of pairs. */
  readonly id: string
  readonly fromCurrency: string
  readonly toCurrency: string
  readonly rate: number
  readonly source: string
  /** Unix seconds. */
  readonly at: number
  readonly ageSeconds: number
  readonly isStale: boolean
  readonly bias: number
  /** At the time of the picture: of a hop in the direction of its route, of another pair in its own. */
  readonly cost: number
  readonly isChosen: boolean
  /** Part of an alternative. */
  readonly isAlternative: boolean
  /** How many other sources of the same pair are not drawn. */
  readonly otherSources: number
}

/** What can be drawn of a market. */
export interface RouteGraph {
  readonly nodes: readonly RouteNode[]
  readonly edges: readonly RouteEdge[]
  /** How many currencies and pairs are left out. */
  readonly hiddenNodes: number
  readonly hiddenEdges: number
}

/** What is asked of {@link routeGraph}. */
export interface RouteGraphOptions {
  readonly route?: RouteSnapshot
  readonly alternatives?: readonly RouteSnapshot[]
  /** Unix seconds. */
  readonly now: number
  /** The most currencies that are drawn; 60. A route that has more is drawn whole. */
  readonly limit?: number
}

/**
 * A route among its neighbours: its own currencies, those of the alternatives, and then the ones that are joined to the
 * most of what is drawn. Without a route, the currencies with the most pairs (pure).
 */
export const routeGraph = (view: View, options: RouteGraphOptions): RouteGraph => {
  const { route, alternatives = [], limit = 60 } = options
  const onRoute = codesOf(route === undefined ? [] : [route])
  const degrees = degreesOf(view.pairs.values())
  const shown = new Set([...onRoute, ...codesOf(alternatives)])
  if (shown.size === 0) for (const code of busiest(degrees, limit)) shown.add(code)
  while (shown.size < limit) {
    const next = neighboursOf(view.pairs.values(), shown)
    if (next.size === 0) break
    for (const code of busiest(next, limit - shown.size)) shown.add(code)
  }
  const edges = edgesAmong(view, shown, options)
  const total = new Set([...degrees.keys(), ...shown]).size
  return {
    nodes: [...shown].map(code => ({
      code,
      isFiat: code.startsWith('iso:'),
      isOnRoute: onRoute.has(code)
    })),
    edges,
    hiddenNodes: total - shown.size,
    hiddenEdges: Math.max(0, view.pairs.size - edges.length)
  }
}

const codesOf = (routes: readonly RouteSnapshot[]): ReadonlySet<string> =>
  new Set(
    routes.flatMap(({ fromCurrency, toCurrency, hops }) => [
      fromCurrency,
      ...hops.map(hop => hop.toCurrency),
      toCurrency
    ])
  )

const degreesOf = (pairs: Iterable<RateSnapshot>): ReadonlyMap<string, number> => {
  const degrees = new Map<string, number>()
  for (const { fromCurrency, toCurrency } of pairs) {
    degrees.set(fromCurrency, (degrees.get(fromCurrency) ?? 0) + 1)
    degrees.set(toCurrency, (degrees.get(toCurrency) ?? 0) + 1)
  }
  return degrees
}

/** The currencies that are joined to some that are drawn, and by how many pairs. */
const neighboursOf = (
  pairs: Iterable<RateSnapshot>,
  shown: ReadonlySet<string>
): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const { fromCurrency, toCurrency } of pairs) {
    const isFromShown = shown.has(fromCurrency)
    if (isFromShown === shown.has(toCurrency)) continue
    const code = isFromShown ? toCurrency : fromCurrency
    found.set(code, (found.get(code) ?? 0) + 1)
  }
  return found
}

const busiest = (counts: ReadonlyMap<string, number>, limit: number): readonly string[] =>
  [...counts]
    .sort(([code, count], [other, than]) => than - count || (code < other ? -1 : 1))
    .slice(0, limit)
    .map(([code]) => code)

const edgesAmong = (
  view: View,
  shown: ReadonlySet<string>,
  { route, alternatives = [], now }: RouteGraphOptions
): readonly RouteEdge[] => {
  const onRoutes = new Map<string, RouteEdge>()
  for (const hop of alternatives.flatMap(({ hops }) => hops)) {
    const edge = edgeOfHop(hop, now, 'isAlternative')
    onRoutes.set(edge.id, edge)
  }
  for (const hop of route?.hops ?? []) {
    const edge = edgeOfHop(hop, now, 'isChosen')
    onRoutes.set(edge.id, edge)
  }
  const best = new Map<string, RouteEdge>()
  for (const [id, pair] of view.pairs) {
    const { fromCurrency, toCurrency } = pair
    if (onRoutes.has(id) || !shown.has(fromCurrency) || !shown.has(toCurrency)) continue
    const key = `${fromCurrency} ${toCurrency}`
    const known = best.get(key)
    const edge = edgeOfPair(view, id, pair, now)
    if (known === undefined) best.set(key, edge)
    else best.set(key, { ...cheaper(known, edge), otherSources: known.otherSources + 1 })
  }
  return [...onRoutes.values(), ...best.values()]
}

/** A hop, in the direction of its pair: it is drawn even if the pair has left the table since. */
const edgeOfHop = (hop: RouteHopSnapshot, now: number, role: 'isChosen' | 'isAlternative'): RouteEdge => {
  const { isInverted, source, at, bias } = hop
  const [fromCurrency, toCurrency, rate] = isInverted
    ? [hop.toCurrency, hop.fromCurrency, 1 / hop.rate]
    : [hop.fromCurrency, hop.toCurrency, hop.rate]
  const ageSeconds = rateAge(at, now)
  return {
    id: `${fromCurrency} ${toCurrency} ${source}`,
    ...{ fromCurrency, toCurrency, rate, source, at, ageSeconds, bias, cost: costOf(hop, now) },
    isStale: isStale(ageSeconds),
    isChosen: role === 'isChosen',
    isAlternative: role === 'isAlternative',
    otherSources: 0
  }
}

const edgeOfPair = (view: View, id: string, pair: RateSnapshot, now: number): RouteEdge => {
  const bias = view.rateProviders.get(pair.source)?.bias ?? 0
  const ageSeconds = rateAge(pair.at, now)
  return {
    id,
    ...pair,
    ageSeconds,
    isStale: isStale(ageSeconds),
    bias,
    cost: ageCostOf(ageSeconds) + bias + HOP_COST,
    isChosen: false,
    isAlternative: false,
    otherSources: 0
  }
}

const cheaper = (one: RouteEdge, other: RouteEdge): RouteEdge => (other.cost < one.cost ? other : one)
