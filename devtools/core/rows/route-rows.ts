import {
  HALF_AGE_SECONDS,
  HOP_COST,
  INVERTED_HOP_COST,
  isStale,
  type RateSnapshot,
  type RouteHopSnapshot,
  type RouteSnapshot,
  rateAge
} from '../../../kernel/index.ts'
import type { Slice, View } from '../model/slices.ts'

/** One hop of a route with the terms of its cost. */
export interface RouteRow extends RouteHopSnapshot {
  /** The position in the route, from 1 on. */
  readonly step: number
  /** The age of the rate at the time of the table, in seconds. */
  readonly ageNow: number
  readonly isStale: boolean
  /** The cost of the age: 0 to 1. */
  readonly ageCost: number
  /** The cost of the step itself: 1, or 1.1 against the direction of its pair. */
  readonly hopCost: number
}

/** The hops of a route, in order. `now`: Unix seconds (pure). */
export const routeTable = (route: RouteSnapshot, now: number): readonly RouteRow[] =>
  route.hops.map((hop, at) => ({
    ...hop,
    step: at + 1,
    ageNow: rateAge(hop.at, now),
    isStale: isStale(rateAge(hop.at, now)),
    ageCost: ageCostOf(rateAge(hop.at, now)),
    hopCost: hopCostOf(hop),
    cost: costOf(hop, now)
  }))

/**
 * A route as it stands at a time: the same hops with the newest rates of their sources, and with what they cost by then.
 * What was found stays as old as it was, so that beside other rates of the same age it would look cheaper. `now`: Unix
 * seconds (pure).
 */
export const routeAt = (pairs: Slice<'pairs'>, route: RouteSnapshot, now: number): RouteSnapshot => {
  const hops = route.hops.map(found => {
    const hop = newestOf(pairs, found)
    return { ...hop, ageSeconds: rateAge(hop.at, now), cost: costOf(hop, now) }
  })
  const isSame = hops.every(({ rate }, at) => rate === route.hops[at]?.rate)
  return {
    ...route,
    hops,
    rate: isSame ? route.rate : hops.reduce((rate, hop) => rate * hop.rate, 1),
    cost: hops.reduce((sum, { cost }) => sum + cost, 0),
    isStale: hops.some(({ ageSeconds }) => isStale(ageSeconds))
  }
}

const newestOf = (pairs: Slice<'pairs'>, hop: RouteHopSnapshot): RouteHopSnapshot => {
  const { fromCurrency, toCurrency, source, isInverted, at } = hop
  const pair = pairs.get(
    `${isInverted ? `${toCurrency} ${fromCurrency}` : `${fromCurrency} ${toCurrency}`} ${source}`
  )
  if (pair === undefined || pair.at <= at) return hop
  return { ...hop, at: pair.at, rate: isInverted ? 1 / pair.rate : pair.rate }
}

const hopCostOf = ({ isInverted }: RouteHopSnapshot): number => (isInverted ? INVERTED_HOP_COST : HOP_COST)

/**
 * Returns the cost of a hop at a time in Unix seconds: its age, the bias of its source, and the step (specification
 * §9; pure).
 */
const costOf = (hop: RouteHopSnapshot, now: number): number =>
  ageCostOf(rateAge(hop.at, now)) + hop.bias + hopCostOf(hop)

/** Returns the cost that a rate's age adds to a hop: 0 for a new rate, a half at 30 seconds (specification §9; pure). */
const ageCostOf = (ageSeconds: number): number => ageSeconds / (HALF_AGE_SECONDS + ageSeconds)

/** The routes of the newest conversions, newest first as they were first asked for (pure). */
export const routeList = (view: View): readonly RouteSnapshot[] => [...view.routes.values()].reverse()

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
  /** The number of other sources of the same pair that are not drawn. */
  readonly otherSources: number
}

/** The part of a market that is drawn. */
export interface RouteGraph {
  readonly nodes: readonly RouteNode[]
  readonly edges: readonly RouteEdge[]
  /** The number of currencies and pairs that are left out. */
  readonly hiddenNodes: number
  readonly hiddenEdges: number
}

/** Options of {@link routeGraph}. */
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
