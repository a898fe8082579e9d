import type { RateSnapshot } from '../types/snapshots.ts'
import { isFiat } from './rate-limits.ts'

/** A currency that some pair names. `id` counts from 0, so that searches can use arrays. */
export interface Currency {
  readonly code: string
  readonly id: number
  /** Every pair that leads from it or to it. */
  readonly pairs: Pair[]
  /** Some pair joins it to a fiat currency. */
  touchesFiat: boolean
}

/** A pair of the graph: an edge that can be gone both ways. The newest rate stands in place of the one before. */
export interface Pair {
  readonly from: Currency
  readonly to: Currency
  readonly source: Source
  rate: number
  /** Unix seconds. */
  at: number
}

/** A provider of pairs. `index` counts from 0. */
export interface Source {
  readonly id: string
  readonly index: number
  /** By the ids of both currencies, see {@link keyOf}. */
  readonly pairs: Map<number, Pair>
}

/**
 * Every pair that is known, as a graph of currencies that changes in place by source, from and to.
 *
 * Made for much reading: a route is searched in it thousands of times between two rounds. Codes and rates were checked
 * where they came in.
 */
export class RateGraph {
  readonly #currencies = new Map<string, Currency>()
  readonly #sources = new Map<string, Source>()
  #pairCount = 0

  get currencyCount(): number {
    return this.#currencies.size
  }

  get pairCount(): number {
    return this.#pairCount
  }

  /** In the order in which they came first. */
  get sources(): readonly Source[] {
    return [...this.#sources.values()]
  }

  find(code: string): Currency | undefined {
    return this.#currencies.get(code)
  }

  /** Takes a pair, in the place of an earlier one of its source; a pair of one currency with itself says nothing. */
  put({ fromCurrency, toCurrency, rate, source: sourceId, at }: RateSnapshot): void {
    if (fromCurrency === toCurrency) return
    const from = this.#currencyOf(fromCurrency)
    const to = this.#currencyOf(toCurrency)
    const source = this.#sourceOf(sourceId)
    const key = keyOf(from, to)
    const known = source.pairs.get(key)
    if (known !== undefined) {
      known.rate = rate
      known.at = at
      return
    }
    const pair: Pair = { from, to, source, rate, at }
    source.pairs.set(key, pair)
    this.#pairCount += 1
    from.pairs.push(pair)
    to.pairs.push(pair)
    if (isFiat(fromCurrency)) to.touchesFiat = true
    if (isFiat(toCurrency)) from.touchesFiat = true
  }

  /** Leaves each source its newest pairs, as many as the limit says. */
  keepNewest(limit: number): void {
    if (this.sources.every(({ pairs }) => pairs.size <= limit)) return
    const kept = this.sources.flatMap(({ pairs }) => newestOf([...pairs.values()], limit).map(snapshotOf))
    this.#currencies.clear()
    this.#sources.clear()
    this.#pairCount = 0
    for (const pair of kept) this.put(pair)
  }

  /** Every pair, source by source, in the order in which each came first. */
  *pairs(): Generator<Pair> {
    for (const { pairs } of this.#sources.values()) yield* pairs.values()
  }

  #currencyOf(code: string): Currency {
    const known = this.#currencies.get(code)
    if (known !== undefined) return known
    const made: Currency = { code, id: this.#currencies.size, pairs: [], touchesFiat: false }
    this.#currencies.set(code, made)
    return made
  }

  #sourceOf(id: string): Source {
    const known = this.#sources.get(id)
    if (known !== undefined) return known
    const made: Source = { id, index: this.#sources.size, pairs: new Map() }
    this.#sources.set(id, made)
    return made
  }
}

/** What a pair says, apart from the graph. */
export const snapshotOf = ({ from, to, source, rate, at }: Pair): RateSnapshot =>
  Object.freeze({ fromCurrency: from.code, toCurrency: to.code, rate, source: source.id, at })

/** The end of a pair that is not this one. */
export const otherEnd = (pair: Pair, currency: Currency): Currency =>
  pair.from === currency ? pair.to : pair.from

/** The newest of some pairs, in the order in which they stand. */
export const newestOf = <P extends { readonly at: number }>(
  pairs: readonly P[],
  limit: number
): readonly P[] => {
  if (pairs.length <= limit) return pairs
  const newest = new Set([...pairs].sort((left, right) => right.at - left.at).slice(0, limit))
  return pairs.filter(pair => newest.has(pair))
}

// Two ids in one whole number that a double holds exactly.
const keyOf = (from: Currency, to: Currency): number => from.id * MAX_CURRENCIES + to.id
const MAX_CURRENCIES = 2 ** 26
