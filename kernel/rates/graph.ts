import { isRecord } from '../base/json.ts'
import type { PluginId } from '../types/ids.ts'
import type { RatePair } from '../types/rates.ts'
import type { RateSnapshot } from '../types/snapshots.ts'

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
  #updatedAt: number | undefined

  get currencyCount(): number {
    return this.#currencies.size
  }

  get pairCount(): number {
    return this.#pairCount
  }

  /** When the newest pair of the last {@link putAll} came, in Unix seconds. */
  get updatedAt(): number | undefined {
    return this.#updatedAt
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

  /** Takes pairs, then leaves each source its newest 10,000. */
  putAll(pairs: Iterable<RateSnapshot>): void {
    let newest: number | undefined
    for (const pair of pairs) {
      this.put(pair)
      newest = Math.max(newest ?? pair.at, pair.at)
    }
    // Of what came last: a clock that ran ahead and was set right leaves later times behind.
    this.#updatedAt = newest ?? this.#updatedAt
    this.#keepNewest(MAX_PAIRS)
  }

  #keepNewest(limit: number): void {
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

  /** As {@link pairs}, as plain data. */
  *snapshots(): Generator<RateSnapshot> {
    for (const pair of this.pairs()) yield snapshotOf(pair)
  }

  #currencyOf(code: string): Currency {
    const known = this.#currencies.get(code)
    if (known !== undefined) return known
    const made: Currency = { code, id: this.#currencies.size, pairs: [], touchesFiat: false }
    this.#currencies.set(code, made)
    return made
  }

  #sourceOf(id: PluginId): Source {
    const known = this.#sources.get(id)
    if (known !== undefined) return known
    const made: Source = { id, index: this.#sources.size, pairs: new Map() }
    this.#sources.set(id, made)
    return made
  }
}

const snapshotOf = ({ from, to, source, rate, at }: Pair): RateSnapshot =>
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

/** The time from one round of rates to the next (specification §9). */
export const REFRESH_MS = 30_000

/** The time after which a round publishes the answers that have come (specification §9). */
export const CUT_OFF_MS = 5000

/** The age at which a pair has cost half of what age can cost, in seconds (specification §9). */
export const HALF_AGE_SECONDS = 30

/** The cost of a hop besides age and bias, and its cost against the direction of its pair (specification §9). */
export const HOP_COST = 1
export const INVERTED_HOP_COST = 1.1

/**
 * Returns the age of a rate in seconds; never negative. The age of a rate from the future, left by a clock that was
 * set back, is its distance from now.
 *
 * @param at - Unix seconds, as in {@link RateSnapshot}
 *
 * @example
 * ```ts
 * import { isStale, rateAge } from 'holdfast'
 *
 * const now = io.clock.now() / 1000
 * for (const { source, at } of context.rates.pairs()) if (isStale(rateAge(at, now))) console.log(source)
 * ```
 */
export const rateAge = (at: number, now: number): number => Math.abs(now - at)

/**
 * Returns true for a rate of at least 300 s, which is ten missed rounds; this limit is Holdfast's own.
 *
 * @example
 * ```ts
 * import { isStale } from 'holdfast'
 *
 * isStale(299) // false
 * isStale(300) // true
 * ```
 */
export const isStale = (ageSeconds: number): boolean => ageSeconds >= STALE_SECONDS

const STALE_SECONDS = 300

/** The most pairs of one provider that are kept, and that are accepted in one round. */
export const MAX_PAIRS = 10_000

/** The most pairs that are asked for in one round. */
export const MAX_WANTED = 10_000

const MAX_CODE = 64

/** Checks if something names two currencies, whatever their codes are. */
export const isPair = (pair: unknown): pair is RatePair =>
  isRecord(pair) && typeof pair.fromCurrency === 'string' && typeof pair.toCurrency === 'string'

/** Reads what a provider offers as a pair, each field once; nothing of what cannot be read. */
export const fieldsOfPair = (
  pair: unknown
): { readonly fromCurrency?: unknown; readonly toCurrency?: unknown; readonly date?: unknown } => {
  try {
    const { fromCurrency, toCurrency, date } = (pair ?? {}) as Record<string, unknown>
    return { fromCurrency, toCurrency, date }
  } catch {
    return {}
  }
}

/** Checks if something can be a currency code: 1 to 64 characters, none of them a control character. */
export const isCurrencyCode = (code: unknown): code is string =>
  typeof code === 'string' && code.length > 0 && code.length <= MAX_CODE && !CONTROL.test(code)

/** Checks if a rate can be reckoned with: finite and above zero, and turned around, too. */
export const isRate = (rate: unknown): rate is number =>
  typeof rate === 'number' && isFactor(rate) && isFactor(1 / rate)

/** Says what is wrong with an offered price that is refused, in a clause for its author. */
export const refusedOffer = (
  { fromCurrency, toCurrency }: ReturnType<typeof fieldsOfPair>,
  rate: unknown
): string => {
  if (!isCurrencyCode(fromCurrency)) return 'fromCurrency of the pair is no code'
  if (!isCurrencyCode(toCurrency)) return 'toCurrency of the pair is no code'
  return isRate(rate)
    ? 'the pair has no date'
    : `the rate is ${typeof rate === 'number' ? rate : `a ${typeof rate === 'string' ? 'text' : typeof rate}`}, and no number above zero`
}

/** Checks if a number can be multiplied with: the rates of many hops together may lead out of the range of numbers. */
export const isFactor = (rate: number): boolean => rate > 0 && rate < Number.POSITIVE_INFINITY

/** Checks if a code is of a fiat currency (specification §3). */
export const isFiat = (code: string): boolean => code.startsWith('iso:')

/** A bias leaves every hop a cost above zero, so that a longer route is never the cheaper for its length. */
export const isBias = (bias: unknown): bias is number =>
  typeof bias === 'number' && bias > -HOP_COST && bias < Number.POSITIVE_INFINITY

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f]/

/** Pairs without repeats, in the order in which they came, up to a limit. */
export class RatePairSet {
  readonly #pairs = new Map<string, RatePair>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#pairs.size
  }

  /** Adds a pair if its codes are valid and differ; returns whether it is new. */
  add({ fromCurrency, toCurrency }: RatePair): boolean {
    if (this.#pairs.size >= this.#limit || fromCurrency === toCurrency) return false
    if (!isCurrencyCode(fromCurrency) || !isCurrencyCode(toCurrency)) return false
    // Codes hold no control characters.
    const key = `${fromCurrency}\n${toCurrency}`
    if (this.#pairs.has(key)) return false
    this.#pairs.set(key, Object.freeze({ fromCurrency, toCurrency }))
    return true
  }

  has({ fromCurrency, toCurrency }: RatePair): boolean {
    return this.#pairs.has(`${fromCurrency}\n${toCurrency}`)
  }

  clear(): void {
    this.#pairs.clear()
  }

  list(): readonly RatePair[] {
    return Object.freeze([...this.#pairs.values()])
  }

  [Symbol.iterator](): Iterator<RatePair> {
    return this.#pairs.values()
  }
}

/**
 * Returns the pair for two typed codes: codes in any case, as they are known, or else in capital letters (pure).
 *
 * @param known - pairs whose codes are known
 *
 * @example
 * ```ts
 * import { typedPair } from 'holdfast'
 *
 * typedPair(context.rates.pairs(), 'btc', 'iso:eur') // { fromCurrency: 'BTC', toCurrency: 'iso:EUR' }
 * ```
 */
export const typedPair = (known: Iterable<RatePair>, from: string, to: string): RatePair => {
  const codes = new Set<string>()
  for (const { fromCurrency, toCurrency } of known) codes.add(fromCurrency).add(toCurrency)
  return { fromCurrency: codeOf(codes, from), toCurrency: codeOf(codes, to) }
}

const codeOf = (known: ReadonlySet<string>, typed: string): string => {
  const text = typed.trim()
  if (/^iso:/i.test(text)) return `iso:${text.slice(4).toUpperCase()}`
  if (known.has(text)) return text
  const same = [...known].filter(code => code.toLowerCase() === text.toLowerCase())
  return same.length === 1 ? (same[0] ?? text) : text.toUpperCase()
}
