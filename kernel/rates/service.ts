import { multiply, type NativeAmount, nativeAmount, toDenomination } from '../base/amount.ts'
import { requireObject, requireTexts } from '../base/arguments.ts'
import { WalletError } from '../base/errors.ts'
import { compact } from '../base/json.ts'
import { Observable, type Readable } from '../base/observable.ts'
import { secondsOf } from '../base/time.ts'
import type { Services } from '../plugins/services.ts'
import type { RatePair } from '../types/rates.ts'
import type { RateProviderSnapshot, RateSnapshot, RouteSnapshot } from '../types/snapshots.ts'
import { isBias, isFactor, isFiat, MAX_PAIRS, RateGraph, snapshotOf } from './graph.ts'
import { type HintSource, RateHints } from './hints.ts'
import { HistoricRates } from './history.ts'
import { PairCache } from './pair-cache.ts'
import { RateProviders } from './providers.ts'
import { RateRefresh, RateRounds } from './rounds.ts'
import { describeRoute, type FoundRoute, findAlternatives, type RateQuery, RouteFinder } from './search.ts'

/** The state of the rates. */
export interface RateServiceSnapshot {
  readonly providers: readonly RateProviderSnapshot[]
  readonly pairCount: number
  /** When the newest pair came, in Unix seconds. */
  readonly updatedAt?: number
  readonly isRefreshing: boolean
}

/** Options of a conversion. */
export interface ConvertOptions {
  /** The biases of providers that shall be other than their own, by plugin id; each above −1. */
  readonly biases?: Readonly<Record<string, number>>
}

/** Options of a route search. */
export interface RouteOptions extends ConvertOptions {
  /** The number of next cheapest routes to return as well; at most 20. */
  readonly alternatives?: number
  /** Only look: a pair that is missing is not remembered as a hint, and so no provider is asked for it. */
  readonly isLookOnly?: boolean
}

/** The cheapest route, and the next ones if they were asked for. */
export type FoundRoutes = RouteSnapshot & { readonly alternatives: readonly RouteSnapshot[] }

/** The hints of pairs, as applications may see and change them. */
export type RateHintList = Pick<RateHints, 'list' | 'add' | 'clear'>

/** Exchange rates: fetched from every rate plugin while a consumer wants them, and the routes through them (specification §9). */
export class RateService implements Readable<RateServiceSnapshot> {
  /** The pairs that are fetched besides those that consumers want. */
  readonly hints: RateHintList
  readonly #services: Services
  readonly #hints: RateHints
  readonly #providers: RateProviders
  readonly #rounds: RateRounds
  readonly #refresh: RateRefresh
  readonly #table: RateTable
  readonly #cache: PairCache
  readonly #historic: HistoricRates
  readonly #state: Observable<RateServiceSnapshot>
  #isClosed = false

  /** Reads what the device remembers. */
  static async open(services: Services): Promise<RateService> {
    const service = new RateService(services)
    await Promise.all([service.#hints.read(), service.#readPairs()])
    return service
  }

  private constructor(services: Services) {
    const hints = new RateHints(services)
    this.#services = services
    this.#hints = hints
    this.hints = Object.freeze({
      list: () => hints.list(),
      add: (pair: RatePair) => hints.add(pair),
      clear: () => hints.clear()
    })
    this.#providers = new RateProviders(() => services.plugins.ratePlugins)
    this.#table = new RateTable(pluginId => this.#providers.biasOf(pluginId), {
      onFound: found => this.#notifyRoute(found),
      onMissed: (from, to) => hints.remember(from, to)
    })
    this.#cache = new PairCache(services, () => this.#table.pairs())
    this.#historic = new HistoricRates({ services, providers: this.#providers })
    this.#rounds = new RateRounds({
      services,
      providers: this.#providers,
      publish: pairs => this.#publish(pairs)
    })
    this.#refresh = new RateRefresh({
      services,
      // Rates do not depend on a plugin that is missing.
      ready: () => services.plugins.ready().catch(() => {}),
      gather: wanted => hints.gather(wanted),
      ask: wanted => this.#rounds.ask(wanted),
      changed: () => this.#publishState()
    })
    this.#state = new Observable<RateServiceSnapshot>(this.#snapshotNow(false), undefined, error =>
      services.report('rates', error)
    )
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): RateServiceSnapshot => this.#state.getSnapshot()

  /**
   * Converts an amount by the cheapest route; returns 0 if there is none, and then remembers the pair as a hint.
   *
   * @throws OPTION_INVALID for a bias that is no number above −1
   */
  convertCurrency(from: string, to: string, amount = 1, { biases }: ConvertOptions = {}): number {
    requireTexts({ from, to })
    if (typeof amount !== 'number')
      throw new WalletError('OPTION_INVALID', { option: 'amount', rule: 'must be a number' })
    return amount * (this.#table.rateOf(from, to, this.#queryOf(biases)) ?? 0)
  }

  /**
   * The cheapest route from one currency to another, hop by hop.
   *
   * @throws OPTION_INVALID for a bias that is no number above −1, or a count of alternatives that is not 0 to 20
   */
  findRoute(from: string, to: string, options: RouteOptions = {}): FoundRoutes | undefined {
    requireTexts({ from, to })
    requireObject('options', options)
    const { alternatives: count = 0, biases, isLookOnly = false } = options
    if (!Number.isInteger(count) || count < 0 || count > MAX_ALTERNATIVES) {
      throw new WalletError('OPTION_INVALID', { option: 'alternatives', rule: `is 0 to ${MAX_ALTERNATIVES}` })
    }
    const routes = this.#table.routesOf(from, to, { ...this.#queryOf(biases), count, isLookOnly })
    const [best, ...others] = routes ?? []
    return best && Object.freeze({ ...best, alternatives: Object.freeze(others) })
  }

  /**
   * Returns the value of a native amount as decimal text, exact for the rate of the route, which is an estimate. No digit
   * is cut.
   *
   * @param multiplier - native units in one `from`, a power of ten
   * @returns undefined if there is no route
   * @throws AMOUNT_INVALID
   */
  valueOf(
    nativeAmount: string,
    multiplier: string,
    from: string,
    to: string
  ): { readonly value: string; readonly route: FoundRoutes } | undefined {
    requireTexts({ nativeAmount, multiplier })
    const route = this.findRoute(from, to)
    return route && { value: valueAtRate(nativeAmount, multiplier, route.rate), route }
  }

  /** Every pair that is known, provider by provider; a provider that is silent keeps its pairs. */
  pairs(): Iterable<RateSnapshot> {
    return this.#table.pairs()
  }

  /**
   * Keeps rates fresh, every 30 s, until the returned function is called; none may be named. Pairs that were not asked
   * for just now are asked for at once.
   *
   * @throws OPTION_INVALID for what is no list of pairs of codes, CONTEXT_CLOSED
   */
  want(pairs: Iterable<RatePair> = []): () => void {
    return this.#refresh.want(pairs)
  }

  /** Asks every provider now; resolves when all have answered, or after 5 s. @throws CONTEXT_CLOSED */
  refresh(): Promise<void> {
    return this.#refresh.now()
  }

  /**
   * The price of a pair on a date, from a provider that knows the past: within a day of it from the one of the lowest
   * bias, else the nearest within a week. `at` is when it was so.
   *
   * @returns undefined if no provider has it
   * @throws OPTION_INVALID, CONTEXT_CLOSED
   */
  async historicRate(pair: RatePair, date: Date): Promise<RateSnapshot | undefined> {
    requireObject('pair', pair)
    return this.#historic.ask(pair, date)
  }

  /** Asks `source` before each round, until the returned function is called. */
  addHintSource(source: HintSource): () => void {
    return this.#hints.addSource(source)
  }

  /** While paused, no round is scheduled. */
  changePaused(isPaused: boolean): void {
    this.#refresh.isPaused = isPaused
  }

  /** Ends everything, and writes what is new. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#refresh.close()
    this.#rounds.close()
    this.#historic.close()
    await Promise.all([this.#hints.close(), this.#cache.close()])
  }

  async #readPairs(): Promise<void> {
    this.#table.put(await this.#cache.read())
    this.#publishState()
  }

  #queryOf(biases: ConvertOptions['biases']): RateQuery {
    const now = secondsOf(this.#services.io.clock.now())
    if (biases === undefined) return { now }
    if (!Object.values(biases).every(isBias)) {
      throw new WalletError('OPTION_INVALID', { option: 'biases', rule: 'are numbers above −1' })
    }
    return { now, biases }
  }

  #publish(pairs: readonly RateSnapshot[]): void {
    if (this.#isClosed) return
    if (pairs.length > 0) {
      this.#table.put(pairs)
      this.#cache.markChanged()
    }
    this.#publishState()
    const { ratesChanged } = this.#services.hooks
    if (ratesChanged.taps.length === 0) return
    ratesChanged.call(Object.freeze({ pairs: Object.freeze(pairs), providers: this.getSnapshot().providers }))
  }

  #publishState(): void {
    this.#state.set(this.#snapshotNow(this.#refresh.isRunning))
  }

  #snapshotNow(isRefreshing: boolean): RateServiceSnapshot {
    const { pairCount, updatedAt } = this.#table
    return {
      providers: this.#providers.snapshots(),
      pairCount,
      ...compact({ updatedAt }),
      isRefreshing
    }
  }

  #notifyRoute({ search, from }: FoundRoute): void {
    const { routeFound } = this.#services.hooks
    if (routeFound.taps.length === 0) return
    routeFound.call(describeRoute(search, from, search.routeFrom(from) ?? []))
  }
}

const MAX_ALTERNATIVES = 20

/** Receives what conversions find and miss. */
export interface RateTableListener {
  /** A conversion was computed, and not just looked up. */
  onFound(found: FoundRoute): void
  /** A pair would have helped, or would help next time. */
  onMissed(fromCurrency: string, toCurrency: string): void
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

  /** Returns the price of one `from` in `to` by the cheapest route; undefined if there is none. */
  rateOf(from: string, to: string, query: RateQuery): number | undefined {
    return this.#find(from, to, query)?.rate
  }

  /** The cheapest route and the next ones; undefined if there is none. `isLookOnly`: a missing pair is not reported. */
  routesOf(
    from: string,
    to: string,
    query: RateQuery & { readonly count: number; readonly isLookOnly?: boolean }
  ): RouteSnapshot[] | undefined {
    const found = this.#find(from, to, query)
    if (found === undefined) return undefined
    const { search, from: start } = found
    const best = search.routeFrom(start) ?? []
    const { biases } = query
    const others = findAlternatives({
      from: start,
      best,
      count: query.count,
      newSearch: blocked =>
        this.#finder.newSearch({
          target: search.target,
          now: search.now,
          blocked,
          ...compact({ biases })
        })
    })
    return [best, ...others]
      .map(pairs => describeRoute(search, start, pairs))
      .filter(({ rate }) => isFactor(rate))
  }

  #find(
    from: string,
    to: string,
    { isLookOnly = false, ...query }: RateQuery & { readonly isLookOnly?: boolean }
  ): FoundRoute | undefined {
    const found = this.#finder.find(from, to, query)
    if (found === undefined) {
      if (!isLookOnly) this.#listener.onMissed(from, to)
      return undefined
    }
    if (!found.search.isFirst(found.from)) return found
    this.#listener.onFound(found)
    // A coin that is far from every fiat currency: a price of what stands next to it shortens the way (protocol §6.2).
    const { code, pairs, touchesFiat } = found.from
    if (isLookOnly || isFiat(code) || touchesFiat) return found
    const neighbours = pairs.map(pair => (pair.from === found.from ? pair.to : pair.from))
    const [nearest] = neighbours
    if (nearest !== undefined && !neighbours.some(next => next.touchesFiat)) {
      this.#listener.onMissed(nearest.code, 'iso:USD')
    }
    return found
  }
}

/**
 * Returns the value of an amount at a rate, as decimal text: exact for the rate as it is written, however small the coin or the
 * rate. No digit is cut; callers round it for display.
 *
 * @param multiplier - native units in one of the currency, a power of ten
 * @throws AMOUNT_INVALID
 */
export const valueAtRate = (amount: string, multiplier: string, rate: number): string => {
  const { digits, decimals } = decimalOf(rate)
  return toDenomination(multiply(nativeAmount(amount), digits), multiplier + '0'.repeat(decimals))
}

// The shortest decimal that names the number: `6.5e-7` is 65 with eight decimals.
const decimalOf = (rate: number): { readonly digits: NativeAmount; readonly decimals: number } => {
  const [mantissa = '0', exponent = '0'] = String(rate).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const decimals = fraction.length - Number(exponent)
  const zeros = '0'.repeat(Math.max(0, -decimals))
  return { digits: (whole + fraction + zeros) as NativeAmount, decimals: Math.max(0, decimals) }
}
