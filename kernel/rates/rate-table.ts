import type { RateSnapshot, RouteSnapshot } from '../types/snapshots.ts'
import { findAlternatives } from './alternative-routes.ts'
import { describeRoute } from './describe-route.ts'
import { RateGraph, snapshotOf } from './rate-graph.ts'
import { isFactor, isFiat, MAX_PAIRS } from './rate-limits.ts'
import { type FoundRoute, RouteFinder, type RouteWish } from './route-finder.ts'

/** What is told of a conversion. */
export interface RateTableListener {
  /** A conversion was computed, and not just looked up. */
  found(found: FoundRoute): void
  /** A pair would have helped, or would help next time. */
  missed(fromCurrency: string, toCurrency: string): void
}

/** Every pair that is known, and the routes through them. */
export class RateTable {
  readonly #graph = new RateGraph()
  readonly #finder: RouteFinder
  readonly #listener: RateTableListener
  #updatedAt: number | undefined

  constructor(biasOf: (sourceId: string) => number, listener: RateTableListener) {
    this.#finder = new RouteFinder(this.#graph, biasOf)
    this.#listener = listener
  }

  get pairCount(): number {
    return this.#graph.pairCount
  }

  /** When the newest pair came, in Unix seconds. */
  get updatedAt(): number | undefined {
    return this.#updatedAt
  }

  /** Takes pairs, each in the place of an earlier one of its source, from and to. */
  put(pairs: Iterable<RateSnapshot>): void {
    let newest: number | undefined
    for (const pair of pairs) {
      this.#graph.put(pair)
      newest = Math.max(newest ?? pair.at, pair.at)
    }
    // Of what came last: a clock that ran ahead and was set right leaves later times behind.
    this.#updatedAt = newest ?? this.#updatedAt
    this.#graph.keepNewest(MAX_PAIRS)
    this.#finder.clear()
  }

  /** Every pair, source by source. */
  *pairs(): Generator<RateSnapshot> {
    for (const pair of this.#graph.pairs()) yield snapshotOf(pair)
  }

  /** What one `from` is in `to` by the cheapest route; undefined if there is none. */
  rateOf(from: string, to: string, wish: RouteWish): number | undefined {
    return this.#find(from, to, wish)?.rate
  }

  /** The cheapest route and the next ones; undefined if there is none. `isLookOnly`: nobody hears of what was missed. */
  routesOf(
    from: string,
    to: string,
    wish: RouteWish & { readonly count: number; readonly isLookOnly?: boolean }
  ): RouteSnapshot[] | undefined {
    const found = this.#find(from, to, wish)
    if (found === undefined) return undefined
    const { search, from: start } = found
    const best = search.routeFrom(start) ?? []
    const { biases } = wish
    const others = findAlternatives({
      from: start,
      best,
      count: wish.count,
      searchAside: blocked =>
        this.#finder.searchAside({
          target: search.target,
          now: search.now,
          blocked,
          ...(biases === undefined ? {} : { biases })
        })
    })
    return [best, ...others]
      .map(pairs => describeRoute(search, start, pairs))
      .filter(({ rate }) => isFactor(rate))
  }

  #find(
    from: string,
    to: string,
    { isLookOnly = false, ...wish }: RouteWish & { readonly isLookOnly?: boolean }
  ): FoundRoute | undefined {
    const found = this.#finder.find(from, to, wish)
    if (found === undefined) {
      if (!isLookOnly) this.#listener.missed(from, to)
      return undefined
    }
    if (!found.search.isFirst(found.from)) return found
    this.#listener.found(found)
    // A coin that is far from every fiat currency: a price of what stands next to it shortens the way (protocol §6.2).
    const { code, pairs, touchesFiat } = found.from
    if (isLookOnly || isFiat(code) || touchesFiat) return found
    const neighbours = pairs.map(pair => (pair.from === found.from ? pair.to : pair.from))
    const [nearest] = neighbours
    if (nearest !== undefined && !neighbours.some(next => next.touchesFiat)) {
      this.#listener.missed(nearest.code, 'iso:USD')
    }
    return found
  }
}
