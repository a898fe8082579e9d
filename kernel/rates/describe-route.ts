import type { RouteHopSnapshot, RouteSnapshot } from '../types/snapshots.ts'
import { currenciesOf } from './alternative-routes.ts'
import type { Currency, Pair } from './rate-graph.ts'
import { isStale, rateAge } from './rate-limits.ts'
import type { RouteSearch } from './route-search.ts'

/** A route with every hop explained, as plain data. */
export const describeRoute = (search: RouteSearch, from: Currency, pairs: readonly Pair[]): RouteSnapshot => {
  const passed = currenciesOf(from, pairs)
  const hops = pairs.map((pair, at) => describeHop(search, passed[at] ?? from, pair))
  return Object.freeze({
    fromCurrency: from.code,
    toCurrency: search.target.code,
    rate: rateOf(from, pairs),
    hops: Object.freeze(hops),
    cost: hops.reduceRight((sum, { cost }) => sum + cost, 0),
    isStale: hops.some(({ ageSeconds }) => isStale(ageSeconds))
  })
}

const describeHop = (search: RouteSearch, from: Currency, pair: Pair): RouteHopSnapshot => {
  const isInverted = pair.from !== from
  return Object.freeze({
    fromCurrency: from.code,
    toCurrency: (isInverted ? pair.from : pair.to).code,
    rate: isInverted ? 1 / pair.rate : pair.rate,
    source: pair.source.id,
    at: pair.at,
    ageSeconds: rateAge(pair.at, search.now),
    bias: search.biasOf(pair),
    isInverted,
    cost: search.costOf(pair, from)
  })
}

// From the end on, as the search reckons.
const rateOf = (from: Currency, pairs: readonly Pair[]): number => {
  const passed = currenciesOf(from, pairs)
  return pairs.reduceRight(
    (rest, pair, at) => (pair.from === passed[at] ? pair.rate * rest : rest / pair.rate),
    1
  )
}
