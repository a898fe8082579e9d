import type { JsonObject, PluginId, RouteHopSnapshot, RouteSnapshot } from '../../kernel/index.ts'
import { codeText, decimalText } from './amounts.ts'

/** A route as JSON (ecosystem 1.8). Rates are decimal text; costs are those of the route search. */
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

/** Converts Unix seconds to ISO text. */
export const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString()

/** The age of a route, which is that of its oldest rate, and its sources as JSON. A route without a hop has no time. */
export const originJson = (route: RouteSnapshot): JsonObject => ({
  rateAt: route.hops.length === 0 ? null : isoTime(Math.min(...route.hops.map(({ at }) => at))),
  ageSeconds: Math.round(ageOf(route)),
  source: sourcesOf(route).join(', '),
  stale: route.isStale
})

/** Returns the age of the oldest rate of a route in seconds; 0 without a hop. */
export const ageOf = ({ hops }: RouteSnapshot): number =>
  hops.reduce((most, { ageSeconds }) => Math.max(most, ageSeconds), 0)

/** The providers on a route, in its order (pure). */
export const sourcesOf = ({ hops }: RouteSnapshot): readonly PluginId[] => [
  ...new Set(hops.map(({ source }) => source))
]

/** Formats a route in one line: `LTC > USD (kraken) > EUR (ecb)`. */
export const pathText = ({ fromCurrency, hops }: RouteSnapshot): string =>
  [fromCurrency, ...hops.map(({ toCurrency, source }) => `${toCurrency} (${source})`)].join(' > ')

/** Formats a cost. */
export const costText = (cost: number): string => cost.toFixed(3)

/** Sums up a route in a line: `1 LTC = 83.42 EUR, cost 2.311`. */
export const sumLine = ({ fromCurrency, toCurrency, rate, cost }: RouteSnapshot): string =>
  `1 ${codeText(fromCurrency)} = ${rateText(rate)} ${codeText(toCurrency)}, cost ${costText(cost)}`

/** The formula of specification §9 with the figures of a hop: `0.286 age 12/(30+12), -0.1 bias, 1 hop` (pure). */
export const hopCostText = ({ ageSeconds, bias, isInverted }: RouteHopSnapshot): string => {
  const age = Math.round(ageSeconds)
  const share = (ageSeconds / (30 + ageSeconds)).toFixed(3)
  return `${share} age ${age}/(30+${age}), ${bias} bias, ${isInverted ? '1.1 turned hop' : '1 hop'}`
}

/** A rate for a person, in at most seven significant digits and never in powers of ten (pure). */
export const rateText = (rate: number): string => decimalText(Number(rate.toPrecision(7)))
