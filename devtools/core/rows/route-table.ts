import {
  HALF_AGE_SECONDS,
  HOP_COST,
  INVERTED_HOP_COST,
  isStale,
  type RouteHopSnapshot,
  type RouteSnapshot,
  rateAge
} from '../../../kernel/index.ts'
import type { View } from '../slices.ts'

/** One hop of a route with the terms of its cost. */
export interface RouteRow extends RouteHopSnapshot {
  /** From 1 on. */
  readonly step: number
  /** How old the rate is by now, in seconds; `ageSeconds` is of when the route was found. */
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
    ageCost: ageCostOf(hop.ageSeconds),
    hopCost: hop.isInverted ? INVERTED_HOP_COST : HOP_COST
  }))

/** What the age of a rate adds to the cost of a hop: 0 when it is new, a half at 30 seconds (specification §9; pure). */
export const ageCostOf = (ageSeconds: number): number => ageSeconds / (HALF_AGE_SECONDS + ageSeconds)

/** The routes of the newest conversions, newest first as they were first asked for (pure). */
export const routeList = (view: View): readonly RouteSnapshot[] => [...view.routes.values()].reverse()
