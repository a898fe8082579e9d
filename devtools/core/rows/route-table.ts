import {
  HALF_AGE_SECONDS,
  HOP_COST,
  INVERTED_HOP_COST,
  isStale,
  type RouteHopSnapshot,
  type RouteSnapshot,
  rateAge
} from '../../../kernel/index.ts'
import type { Slice, View } from '../slices.ts'

/** One hop of a route with the terms of its cost. */
export interface RouteRow extends RouteHopSnapshot {
  /** From 1 on. */
  readonly step: number
  /** How old the rate is at the time of the table, in seconds. */
  readonly ageNow: number
  readonly isStale: boolean
  /** What the age costs: 0 to 1. */
  readonly ageCost: number
  /** What the step itself costs: 1, or 1.1 against the direction of its pair. */
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

/** What a hop costs at a time, in Unix seconds: its age, the bias of its source, and the step (specification §9; pure). */
export const costOf = (hop: RouteHopSnapshot, now: number): number =>
  ageCostOf(rateAge(hop.at, now)) + hop.bias + hopCostOf(hop)

/** What the age of a rate adds to the cost of a hop: 0 when it is new, a half at 30 seconds (specification §9; pure). */
export const ageCostOf = (ageSeconds: number): number => ageSeconds / (HALF_AGE_SECONDS + ageSeconds)

/** The routes of the newest conversions, newest first as they were first asked for (pure). */
export const routeList = (view: View): readonly RouteSnapshot[] => [...view.routes.values()].reverse()
