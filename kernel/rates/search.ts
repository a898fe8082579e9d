import TinyQueue from 'tinyqueue'
import { compact } from '../base/compact.ts'
import type { PluginId } from '../types/ids.ts'
import type { RatePair } from '../types/rates.ts'
import type { RouteHopSnapshot, RouteSnapshot } from '../types/snapshots.ts'
import {
  type Currency,
  HALF_AGE_SECONDS,
  HOP_COST,
  INVERTED_HOP_COST,
  isFactor,
  isFiat,
  isStale,
  otherEnd,
  type Pair,
  type RateGraph,
  rateAge
} from './graph.ts'
import type { RateProviders } from './providers.ts'

/** The inputs of a route besides the pairs. */
export interface RateQuery {
  /** The biases that are other than usual, by provider. */
  readonly biases?: Readonly<Record<string, number>>
  /** Unix seconds. */
  readonly now: number
}

/** Both ends of a conversion, and the search that knows the way. */
export interface FoundRoute {
  readonly search: RouteSearch
  readonly from: Currency
  readonly rate: number
  /** The rate was computed, and not just looked up. */
  readonly isNew: boolean
}

/**
 * Finds routes, and keeps each search for later queries: one for each target and set of biases, until pairs change
 * or the ages in it are {@link MAX_AGEING_SECONDS} old.
 */
export class RouteFinder {
  readonly #graph: RateGraph
  readonly #providers: Pick<RateProviders, 'biasOf'>
  /** By the biases, see {@link biasKey}, and the target. */
  readonly #kept = new Map<string, Map<Currency, RouteSearch>>()
  #keptCount = 0

  constructor(graph: RateGraph, providers: Pick<RateProviders, 'biasOf'>) {
    this.#graph = graph
    this.#providers = providers
  }

  /** Forgets every search; to be called when pairs have changed. */
  clear(): void {
    this.#kept.clear()
    this.#keptCount = 0
  }

  /** The cheapest route; undefined if an end is unknown or no route leads. */
  find(from: string, to: string, query: RateQuery): FoundRoute | undefined {
    const start = this.#graph.find(from)
    const target = this.#graph.find(to)
    if (start === undefined || target === undefined) return undefined
    const search = this.#searchFor(target, query)
    const rate = search.rateFrom(start)
    if (rate === undefined || !isFactor(rate)) return undefined
    return { search, from: start, rate, isNew: search.isFirst(start) }
  }

  /** Explains a route that {@link find} found for this query, and as many of the next cheapest ones as `count` says. */
  explain({ search, from }: FoundRoute, { biases }: RateQuery, count: number): readonly RouteSnapshot[] {
    const best = search.routeFrom(from) ?? []
    const { target, now } = search
    const others = findAlternatives({
      ...{ from, best, count },
      newSearch: blocked => this.#newSearch({ target, now, blocked, ...compact({ biases }) })
    })
    return [best, ...others]
      .map(pairs => describeRoute(search, from, pairs))
      .filter(({ rate }) => isFactor(rate))
  }

  #newSearch({ biases, ...options }: RateQuery & { target: Currency; blocked?: Blocked }): RouteSearch {
    return new RouteSearch({ graph: this.#graph, ...options, biasOf: this.#biasOf(biases) })
  }

  #searchFor(target: Currency, { biases, now }: RateQuery): RouteSearch {
    const key = biasKey(biases)
    const known = this.#kept.get(key)?.get(target)
    if (known !== undefined && Math.abs(now - known.now) <= MAX_AGEING_SECONDS) return known
    const made = this.#newSearch({ target, now, ...compact({ biases }) })
    this.#keep(key, made)
    return made
  }

  #keep(key: string, search: RouteSearch): void {
    if (this.#keptCount >= Math.max(4, MAX_CELLS / Math.max(1, this.#graph.currencyCount))) this.clear()
    const searches = this.#kept.get(key) ?? new Map<Currency, RouteSearch>()
    this.#kept.set(key, searches)
    if (!searches.has(search.target)) this.#keptCount += 1
    searches.set(search.target, search)
  }

  #biasOf(biases: RateQuery['biases']): (sourceId: PluginId) => number {
    return sourceId =>
      (biases !== undefined && Object.hasOwn(biases, sourceId) ? biases[sourceId] : undefined) ??
      this.#providers.biasOf(sourceId)
  }
}

/**
 * Returns the pair that would have helped a conversion, or would help the next one (pure): without a route the pair itself;
 * for a coin that is far from every fiat currency, a price of the coin beside it (protocol §6.2).
 *
 * @param found - the route of the conversion, if there is one
 */
export const missingPairOf = (
  fromCurrency: string,
  toCurrency: string,
  found: FoundRoute | undefined
): RatePair | undefined => {
  if (found === undefined) return { fromCurrency, toCurrency }
  const { from, isNew } = found
  if (!isNew || isFiat(from.code) || from.touchesFiat) return undefined
  const neighbours = from.pairs.map(pair => otherEnd(pair, from))
  const [nearest] = neighbours
  return nearest === undefined || neighbours.some(next => next.touchesFiat)
    ? undefined
    : { fromCurrency: nearest.code, toCurrency: 'iso:USD' }
}

/** For how long a search stands for the present. */
const MAX_AGEING_SECONDS = 5
/** The number of currencies that all kept searches together may hold; each takes some 25 bytes. */
const MAX_CELLS = 1_000_000

const biasKey = (biases: RateQuery['biases']): string =>
  biases === undefined
    ? ''
    : JSON.stringify(Object.entries(biases).sort(([left], [right]) => (left < right ? -1 : 1)))

/** The inputs of a search. */
export interface RouteSearchOptions {
  readonly graph: RateGraph
  readonly target: Currency
  /** Unix seconds: when ages are counted. */
  readonly now: number
  /** The bias of a provider by its id. */
  biasOf(sourceId: PluginId): number
  /** Currencies and pairs to avoid. */
  readonly blocked?: Blocked
}

/** Currencies and pairs that a search keeps away from. */
interface Blocked {
  readonly currencies: ReadonlySet<Currency>
  readonly pairs: ReadonlySet<Pair>
}

/**
 * The cheapest routes to one currency, from as many others as were asked for (Dijkstra's algorithm, from the target).
 *
 * It goes on where it stopped: what one question has found is there for the next. It is of no use once the graph has
 * changed.
 */
class RouteSearch {
  readonly now: number
  readonly target: Currency
  readonly #biases: Float64Array
  readonly #blocked: Blocked | undefined
  /**
   * Numbers of entries: what was reached, and at which cost. Entries are no objects: there is one for each pair of a
   * currency that thousands of pairs lead to.
   */
  readonly #queue: TinyQueue<number>
  readonly #reached: Currency[] = []
  readonly #reachedAt: number[] = []
  /** By currency id: the least cost so far, the pair to go by, and the rate into the target. */
  readonly #costs: Float64Array
  readonly #rates: Float64Array
  readonly #hops: (Pair | undefined)[]
  readonly #isDone: Uint8Array
  readonly #isRequested: Uint8Array

  constructor({ graph, target, now, biasOf, blocked }: RouteSearchOptions) {
    const count = graph.currencyCount
    this.now = now
    this.target = target
    this.#biases = Float64Array.from(graph.sources, ({ id }) => biasOf(id))
    this.#blocked = blocked
    this.#costs = new Float64Array(count).fill(Number.POSITIVE_INFINITY)
    this.#rates = new Float64Array(count)
    this.#hops = new Array<Pair | undefined>(count)
    this.#isDone = new Uint8Array(count)
    this.#isRequested = new Uint8Array(count)
    this.#costs[target.id] = 0
    this.#rates[target.id] = 1
    this.#queue = new TinyQueue([], cheaperFirst(this.#reached, this.#reachedAt))
    this.#push(target, 0)
  }

  /** Returns the price of one unit in the target's currency; undefined without a route. */
  rateFrom(from: Currency): number | undefined {
    return this.#reach(from) ? this.#rates[from.id] : undefined
  }

  /** Returns true on the first call for this currency. */
  isFirst(from: Currency): boolean {
    if (this.#isRequested[from.id] === 1) return false
    this.#isRequested[from.id] = 1
    return true
  }

  /** The pairs to go by, from `from` on; undefined where no route leads. */
  routeFrom(from: Currency): Pair[] | undefined {
    if (!this.#reach(from)) return undefined
    const route: Pair[] = []
    let at = from
    for (let hop = this.#hops[at.id]; hop !== undefined; hop = this.#hops[at.id]) {
      route.push(hop)
      at = otherEnd(hop, at)
    }
    return route
  }

  /** Returns the cost of a hop from a currency by one of its pairs. */
  costOf(pair: Pair, from: Currency): number {
    const age = rateAge(pair.at, this.now)
    const own = pair.from === from ? HOP_COST : INVERTED_HOP_COST
    return age / (HALF_AGE_SECONDS + age) + this.biasOf(pair) + own
  }

  biasOf(pair: Pair): number {
    return this.#biases[pair.source.index] ?? 0
  }

  #reach(from: Currency): boolean {
    while (this.#isDone[from.id] === 0) {
      const next = this.#queue.pop()
      if (next === undefined) return false
      const currency = this.#reached[next] as Currency
      if (this.#isDone[currency.id] === 0) this.#settle(currency, this.#reachedAt[next] as number)
    }
    return true
  }

  #settle(currency: Currency, cost: number): void {
    this.#finish(currency)
    const isDone = this.#isDone
    const costs = this.#costs
    const rest = this.#rates[currency.id] as number
    for (const pair of currency.pairs) {
      const from = otherEnd(pair, currency)
      const { id } = from
      if (isDone[id] === 1 || (this.#blocked !== undefined && this.#isBlocked(pair, from))) continue
      const total = cost + this.costOf(pair, from)
      if (total >= (costs[id] as number)) continue
      // Rates of many hops may lead out of the range of numbers; a dearer route may not.
      if (!isFactor(pair.from === from ? pair.rate * rest : rest / pair.rate)) continue
      costs[id] = total
      this.#hops[id] = pair
      // Only this pair leads to it, and it leads nowhere else: most coins that one provider prices are such.
      if (from.pairs.length === 1) this.#finish(from)
      else this.#push(from, total)
    }
  }

  #finish(currency: Currency): void {
    this.#isDone[currency.id] = 1
    const hop = this.#hops[currency.id]
    if (hop === undefined) return
    const rest = this.#rates[otherEnd(hop, currency).id] ?? 0
    this.#rates[currency.id] = hop.from === currency ? hop.rate * rest : rest / hop.rate
  }

  #push(currency: Currency, cost: number): void {
    this.#reachedAt.push(cost)
    this.#queue.push(this.#reached.push(currency) - 1)
  }

  #isBlocked(pair: Pair, from: Currency): boolean {
    return (
      this.#blocked !== undefined && (this.#blocked.currencies.has(from) || this.#blocked.pairs.has(pair))
    )
  }
}

// Of two currencies with the same cost, the one known first comes first, so that the result does not depend on the heap.
const cheaperFirst =
  (reached: readonly Currency[], costs: readonly number[]) =>
  (left: number, right: number): number =>
    (costs[left] as number) - (costs[right] as number) ||
    (reached[left] as Currency).id - (reached[right] as Currency).id

/** A route as pairs, from where it begins. */
interface Candidate {
  readonly hops: readonly Pair[]
  readonly cost: number
}

/** The inputs of a search for alternative routes. */
interface AlternativesOptions {
  readonly from: Currency
  /** The cheapest route. */
  readonly best: readonly Pair[]
  readonly count: number
  /** Makes a search that keeps away from some pairs and currencies; ages and biases as in the best. */
  newSearch(blocked: Blocked): RouteSearch
}

/**
 * The next cheapest routes, without rings, cheapest first: another provider of a hop counts as another route (Yen's
 * algorithm).
 */
const findAlternatives = (options: AlternativesOptions): readonly (readonly Pair[])[] => {
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
  { from, newSearch: searchAside }: AlternativesOptions,
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

/** Returns the currencies of a route, from its beginning to its end. */
const currenciesOf = (from: Currency, hops: readonly Pair[]): Currency[] => {
  const passed = [from]
  let at = from
  for (const hop of hops) {
    at = otherEnd(hop, at)
    passed.push(at)
  }
  return passed
}

/** Returns the cost of a route, added up from its end, as the search does. */
const costOf = (search: RouteSearch, from: Currency, hops: readonly Pair[]): number => {
  const passed = currenciesOf(from, hops)
  return hops.reduceRight((sum, hop, at) => sum + search.costOf(hop, passed[at] ?? from), 0)
}

const isSame = (left: readonly Pair[], right: readonly Pair[]): boolean =>
  left.length === right.length && left.every((hop, at) => hop === right[at])

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
