import { type Currency, otherEnd, type Pair } from './rate-graph.ts'
import type { Blocked, RouteSearch } from './route-search.ts'

/** A route as pairs, from where it begins. */
interface Candidate {
  readonly hops: readonly Pair[]
  readonly cost: number
}

/** What other routes are sought with. */
export interface AlternativesOptions {
  readonly from: Currency
  /** The cheapest route. */
  readonly best: readonly Pair[]
  readonly count: number
  /** Makes a search that keeps away from some pairs and currencies; ages and biases as in the best. */
  searchAside(blocked: Blocked): RouteSearch
}

/**
 * The next cheapest routes, without rings, cheapest first: another provider of a hop counts as another route (Yen's
 * algorithm).
 */
export const findAlternatives = (options: AlternativesOptions): readonly (readonly Pair[])[] => {
  const found: (readonly Pair[])[] = [options.best]
  const waiting: Candidate[] = []
  while (found.length <= options.count) {
    const last = found.at(-1) ?? []
    for (const at of last.keys()) {
      const candidate = detourAt(options, found, last.slice(0, at))
      if (candidate !== undefined && !waiting.some(({ hops }) => isSame(hops, candidate.hops))) {
        waiting.push(candidate)
      }
    }
    waiting.sort((left, right) => left.cost - right.cost)
    const next = waiting.shift()
    if (next === undefined) break
    found.push(next.hops)
  }
  return found.slice(1)
}

/** The cheapest route that begins with these hops and then goes where no known one goes. */
const detourAt = (
  { from, searchAside }: AlternativesOptions,
  found: readonly (readonly Pair[])[],
  root: readonly Pair[]
): Candidate | undefined => {
  const passed = currenciesOf(from, root)
  const fork = passed.pop() ?? from
  const pairs = found.flatMap(hops =>
    root.every((hop, at) => hop === hops[at]) ? (hops[root.length] ?? []) : []
  )
  const search = searchAside({ currencies: new Set(passed), pairs: new Set(pairs) })
  const rest = search.routeFrom(fork)
  if (rest === undefined) return undefined
  const hops = [...root, ...rest]
  return { hops, cost: costOf(search, from, hops) }
}

/** Where a route passes, from its beginning to its end. */
export const currenciesOf = (from: Currency, hops: readonly Pair[]): Currency[] => {
  const passed = [from]
  let at = from
  for (const hop of hops) {
    at = otherEnd(hop, at)
    passed.push(at)
  }
  return passed
}

/** What a route costs, added up from its end, as the search does. */
const costOf = (search: RouteSearch, from: Currency, hops: readonly Pair[]): number => {
  const passed = currenciesOf(from, hops)
  return hops.reduceRight((sum, hop, at) => sum + search.costOf(hop, passed[at] ?? from), 0)
}

const isSame = (left: readonly Pair[], right: readonly Pair[]): boolean =>
  left.length === right.length && left.every((hop, at) => hop === right[at])
