import type { JsonObject, RouteHopSnapshot, RouteSnapshot } from '../../kernel/index.ts'
import { decimalText } from '../output/decimals.ts'
import { ageText } from '../output/times.ts'
import type { Cell, CellLike, Column } from '../output/view.ts'

/** A route for scripts (ecosystem 1.8). Rates are decimal text; costs are what the search adds up. */
export const routeJson = ({ rate, hops, cost, isStale }: RouteSnapshot): JsonObject => ({
  rate: decimalText(rate),
  totalCost: cost,
  stale: isStale,
  hops: hops.map(hopJson)
})

const hopJson = (hop: RouteHopSnapshot): JsonObject => ({
  from: hop.fromCurrency,
  to: hop.toCurrency,
  rate: decimalText(hop.rate),
  inverted: hop.isInverted,
  source: hop.source,
  at: isoTime(hop.at),
  ageSeconds: Math.round(hop.ageSeconds),
  bias: hop.bias,
  cost: hop.cost
})

/** Unix seconds as ISO text. */
export const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString()

/** How old a route is, which is as old as its oldest rate, and who it comes from; for scripts. A route of no hop has no time. */
export const originJson = (route: RouteSnapshot): JsonObject => ({
  rateAt: route.hops.length === 0 ? null : isoTime(Math.min(...route.hops.map(({ at }) => at))),
  ageSeconds: Math.round(ageOf(route)),
  source: sourcesOf(route),
  stale: route.isStale
})

/** The age of the oldest rate of a route, in seconds; 0 where there is no hop. */
export const ageOf = ({ hops }: RouteSnapshot): number =>
  hops.reduce((most, { ageSeconds }) => Math.max(most, ageSeconds), 0)

/** The providers on a route, in its order: `coinbase, ecb`. */
const sourcesOf = ({ hops }: RouteSnapshot): string =>
  [...new Set(hops.map(({ source }) => source))].join(', ')

/** How old a route is, for people: never a colour alone. */
export const ageCell = (route: RouteSnapshot): Cell => {
  if (route.hops.length === 0) return { text: 'the same currency' }
  const age = ageText(ageOf(route))
  return route.isStale ? { text: `${age}, stale`, tone: 'warn' } : { text: age }
}

/** A route in one line: `LTC > USD (kraken) > EUR (ecb)`. */
export const pathText = ({ fromCurrency, hops }: RouteSnapshot): string =>
  [fromCurrency, ...hops.map(({ toCurrency, source }) => `${toCurrency} (${source})`)].join(' > ')

/** The columns of {@link hopCells}. */
export const hopColumns: readonly Column[] = [
  { title: 'FROM' },
  { title: 'TO' },
  { title: 'RATE', align: 'right' },
  { title: 'SOURCE', canShrink: true },
  { title: 'AGE', align: 'right' },
  { title: 'BIAS', align: 'right' },
  { title: 'COST', align: 'right' },
  { title: 'WAY' }
]

/** A hop as the row of a table. */
export const hopCells = (hop: RouteHopSnapshot): readonly CellLike[] => [
  hop.fromCurrency,
  hop.toCurrency,
  decimalText(hop.rate),
  hop.source,
  ageText(hop.ageSeconds),
  String(hop.bias),
  costText(hop.cost),
  hop.isInverted ? 'turned' : ''
]

/** A cost for people. */
export const costText = (cost: number): string => cost.toFixed(3)
