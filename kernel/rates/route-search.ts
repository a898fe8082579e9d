import TinyQueue from 'tinyqueue'
import { type Currency, otherEnd, type Pair, type RateGraph } from './rate-graph.ts'
import { HALF_AGE_SECONDS, HOP_COST, INVERTED_HOP_COST, isFactor, rateAge } from './rate-limits.ts'

/** What a search reckons with. */
export interface SearchOptions {
  readonly graph: RateGraph
  readonly target: Currency
  /** Unix seconds: when ages are counted. */
  readonly now: number
  /** The bias of a provider by its id. */
  biasOf(sourceId: string): number
  /** What may not be used. */
  readonly blocked?: Blocked
}

/** Currencies and pairs that a search keeps away from. */
export interface Blocked {
  readonly currencies: ReadonlySet<Currency>
  readonly pairs: ReadonlySet<Pair>
}

/**
 * The cheapest routes to one currency, from as many others as were asked for (Dijkstra's algorithm, from the target).
 *
 * It goes on where it stopped: what one question has found is there for the next. It is of no use once the graph has
 * changed.
 */
export class RouteSearch {
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
  readonly #isAsked: Uint8Array

  constructor({ graph, target, now, biasOf, blocked }: SearchOptions) {
    const count = graph.currencyCount
    this.now = now
    this.target = target
    this.#biases = Float64Array.from(graph.sources, ({ id }) => biasOf(id))
    this.#blocked = blocked
    this.#costs = new Float64Array(count).fill(Number.POSITIVE_INFINITY)
    this.#rates = new Float64Array(count)
    this.#hops = new Array<Pair | undefined>(count)
    this.#isDone = new Uint8Array(count)
    this.#isAsked = new Uint8Array(count)
    this.#costs[target.id] = 0
    this.#rates[target.id] = 1
    this.#queue = new TinyQueue([], cheaperFirst(this.#reached, this.#reachedAt))
    this.#push(target, 0)
  }

  /** What one unit is in the target's; undefined where no route leads. */
  rateFrom(from: Currency): number | undefined {
    return this.#reach(from) ? this.#rates[from.id] : undefined
  }

  /** Whether nobody has asked for this currency before. */
  isFirst(from: Currency): boolean {
    if (this.#isAsked[from.id] === 1) return false
    this.#isAsked[from.id] = 1
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

  /** What it costs to go from a currency by one of its pairs. */
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

// Of two that cost the same the one that was heard of first, so that the answer does not hang on the heap.
const cheaperFirst =
  (reached: readonly Currency[], costs: readonly number[]) =>
  (left: number, right: number): number =>
    (costs[left] as number) - (costs[right] as number) ||
    (reached[left] as Currency).id - (reached[right] as Currency).id
