import type { Currency, RateGraph } from './rate-graph.ts'
import { isFactor } from './rate-limits.ts'
import { type Blocked, RouteSearch } from './route-search.ts'

/** What routes depend on besides the pairs. */
export interface RouteWish {
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
}

/**
 * Finds routes, and keeps each search for whoever asks next: one for each target and set of biases, until pairs change
 * or the ages in it are {@link MAX_AGEING_SECONDS} old.
 */
export class RouteFinder {
  readonly #graph: RateGraph
  readonly #usualBias: (sourceId: string) => number
  /** By the biases, see {@link biasKey}, and the target. */
  readonly #kept = new Map<string, Map<Currency, RouteSearch>>()
  #keptCount = 0

  constructor(graph: RateGraph, usualBias: (sourceId: string) => number) {
    this.#graph = graph
    this.#usualBias = usualBias
  }

  /** Forgets every search; to be called when pairs have changed. */
  clear(): void {
    this.#kept.clear()
    this.#keptCount = 0
  }

  /** The cheapest route; undefined if an end is unknown or no route leads. */
  find(from: string, to: string, wish: RouteWish): FoundRoute | undefined {
    const start = this.#graph.find(from)
    const target = this.#graph.find(to)
    if (start === undefined || target === undefined) return undefined
    const search = this.#searchFor(target, wish)
    const rate = search.rateFrom(start)
    return rate !== undefined && isFactor(rate) ? { search, from: start, rate } : undefined
  }

  /** A search that is not kept. */
  searchAside({ biases, ...options }: RouteWish & { target: Currency; blocked?: Blocked }): RouteSearch {
    return new RouteSearch({ graph: this.#graph, ...options, biasOf: this.#biasOf(biases) })
  }

  #searchFor(target: Currency, { biases, now }: RouteWish): RouteSearch {
    const key = biasKey(biases)
    const known = this.#kept.get(key)?.get(target)
    if (known !== undefined && Math.abs(now - known.now) <= MAX_AGEING_SECONDS) return known
    const made = this.searchAside({ target, now, ...(biases === undefined ? {} : { biases }) })
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

  #biasOf(biases: RouteWish['biases']): (sourceId: string) => number {
    if (biases === undefined) return this.#usualBias
    return sourceId =>
      (Object.hasOwn(biases, sourceId) ? biases[sourceId] : undefined) ?? this.#usualBias(sourceId)
  }
}

/** For how long a search stands for the present. */
const MAX_AGEING_SECONDS = 5
/** How many currencies all kept searches together may hold; each takes some 25 bytes. */
const MAX_CELLS = 1_000_000

const biasKey = (biases: RouteWish['biases']): string =>
  biases === undefined
    ? ''
    : JSON.stringify(Object.entries(biases).sort(([left], [right]) => (left < right ? -1 : 1)))
