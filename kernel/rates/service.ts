import { multiply, type NativeAmount, nativeAmount, toDenomination } from '../base/amount.ts'
import { requireFlags, requireObject, requireTexts } from '../base/arguments.ts'
import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import { Observable, type Readable } from '../base/observable.ts'
import { secondsOf } from '../base/time.ts'
import type { Services } from '../plugins/services.ts'
import type { RatePair } from '../types/rates.ts'
import type { RateProviderSnapshot, RateSnapshot, RouteSnapshot } from '../types/snapshots.ts'
import { isBias, RateGraph } from './graph.ts'
import { type HintSource, RateHints } from './hints.ts'
import { HistoricRates } from './history.ts'
import { PairCache } from './pair-cache.ts'
import { RateRounds } from './rounds.ts'
import { describeRoute, type FoundRoute, missingPairOf, type RateQuery, RouteFinder } from './search.ts'

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
  /** Replaces the biases of providers, by plugin id; each above −1. */
  readonly biases?: Readonly<Record<string, number>>
}

/** Options of a route search. */
export interface RouteOptions extends ConvertOptions {
  /** The number of next cheapest routes to return as well; at most 20. */
  readonly alternatives?: number
  /** If true, a missing pair is not kept as a hint, and so no provider is asked for it. */
  readonly isLookOnly?: boolean
}

/** The cheapest route, and the next ones if they were asked for. */
export type FoundRoutes = RouteSnapshot & { readonly alternatives: readonly RouteSnapshot[] }

/** The hints of pairs, as applications may see and change them. */
export type RateHintList = Pick<RateHints, 'list' | 'add' | 'clear'>

/**
 * Exchange rates: fetched from every rate plugin while a consumer wants them, and the routes through them (specification §9).
 *
 * @example
 * ```ts
 * const { rates } = context
 * const unwant = rates.want([{ fromCurrency: 'BTC', toCurrency: 'iso:EUR' }])
 * await rates.refresh()
 * console.log(rates.convertCurrency('BTC', 'iso:EUR', 0.5))
 * unwant()
 * ```
 */
export class RateService implements Readable<RateServiceSnapshot> {
  /** The pairs that are fetched besides those that consumers want. */
  readonly hints: RateHintList
  readonly #services: Services
  readonly #hints: RateHints
  readonly #rounds: RateRounds
  readonly #graph = new RateGraph()
  readonly #finder: RouteFinder
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
    this.#services = services
    this.#hints = new RateHints(services)
    this.hints = this.#hints
    this.#rounds = new RateRounds(services, this.#hints, {
      onPairs: pairs => this.#onPairs(pairs),
      onRunning: () => this.#publishState()
    })
    const { providers } = this.#rounds
    this.#finder = new RouteFinder(this.#graph, providers)
    this.#cache = new PairCache(services, this.#graph)
    this.#historic = new HistoricRates(services, providers)
    this.#state = new Observable<RateServiceSnapshot>(this.#snapshotNow(), undefined, error =>
      services.report('rates', error)
    )
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  readonly getSnapshot = (): RateServiceSnapshot => this.#state.getSnapshot()

  /**
   * Converts an amount by the cheapest route; returns 0 without a route, and then keeps the pair as a hint.
   *
   * @throws OPTION_INVALID for a bias that is not a number above −1
   */
  convertCurrency(from: string, to: string, amount = 1, { biases }: ConvertOptions = {}): number {
    requireTexts({ from, to })
    if (typeof amount !== 'number')
      throw new WalletError('OPTION_INVALID', { option: 'amount', rule: 'must be a number' })
    return amount * (this.#find(from, to, this.#queryOf(biases))?.rate ?? 0)
  }

  /**
   * Returns the cheapest route from one currency to another, hop by hop; undefined if there is none.
   *
   * @throws OPTION_INVALID for a bias that is not a number above −1, or a count of alternatives that is not 0 to 20
   *
   * @example
   * ```ts
   * const route = context.rates.findRoute('LTC', 'iso:EUR', { alternatives: 2 })
   * for (const { fromCurrency, toCurrency, rate, source } of route?.hops ?? []) {
   *   console.log(`${fromCurrency} = ${rate} ${toCurrency} (${source})`)
   * }
   * ```
   */
  findRoute(from: string, to: string, options: RouteOptions = {}): FoundRoutes | undefined {
    requireTexts({ from, to })
    requireObject('options', options)
    const { alternatives: count = 0, biases, isLookOnly = false } = options
    if (!Number.isInteger(count) || count < 0 || count > MAX_ALTERNATIVES) {
      throw new WalletError('OPTION_INVALID', { option: 'alternatives', rule: `is 0 to ${MAX_ALTERNATIVES}` })
    }
    const query = this.#queryOf(biases)
    const found = this.#find(from, to, query, { isLookOnly })
    const [best, ...others] = found === undefined ? [] : this.#finder.explain(found, query, count)
    return best && Object.freeze({ ...best, alternatives: Object.freeze(others) })
  }

  /**
   * Returns the value of a native amount as decimal text: exact for the rate of the route, which is an estimate. No digit
   * is cut.
   *
   * @param multiplier - native units in one `from`, a power of ten
   * @returns undefined without a route
   * @throws AMOUNT_INVALID
   *
   * @example
   * ```ts
   * const found = context.rates.valueOf(wallet.balanceOf(null), '100000000', 'BTC', 'iso:EUR')
   * console.log(found?.value)
   * ```
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

  /** Lists every known pair, provider by provider; a silent provider keeps its pairs. */
  pairs(): Iterable<RateSnapshot> {
    return this.#graph.snapshots()
  }

  /**
   * Keeps rates fresh, every 30 s, until the returned function is called; the list may be empty. Pairs without a fresh rate
   * are fetched at once.
   *
   * @throws OPTION_INVALID for anything but a list of pairs of codes, CONTEXT_CLOSED
   */
  want(pairs: Iterable<RatePair> = []): () => void {
    return this.#rounds.want(pairs)
  }

  /** Asks every provider now; resolves when all have answered, or after 5 s. @throws CONTEXT_CLOSED */
  refresh(): Promise<void> {
    return this.#rounds.runNow()
  }

  /**
   * Fetches the price of a pair on a date: within a day of it from the provider of the lowest
   * bias, else the nearest within a week. `at` is the time of the price.
   *
   * @returns undefined if no provider has it
   * @throws OPTION_INVALID, CONTEXT_CLOSED
   *
   * @example
   * ```ts
   * const pair = { fromCurrency: 'BTC', toCurrency: 'iso:EUR' }
   * const price = await context.rates.historicRate(pair, new Date('2026-01-31'))
   * ```
   */
  async historicRate(pair: RatePair, date: Date): Promise<RateSnapshot | undefined> {
    requireObject('pair', pair)
    return this.#historic.fetchRates(pair, date)
  }

  /** Asks `source` before each round, until the returned function is called. */
  addHintSource(source: HintSource): () => void {
    return this.#hints.addSource(source)
  }

  /** Pauses or resumes; while paused, no round is scheduled. */
  changePaused(isPaused: boolean): void {
    requireFlags({ isPaused })
    this.#rounds.isPaused = isPaused
  }

  /** Ends all rounds and writes the unsaved pairs and hints. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#rounds.close()
    this.#historic.close()
    await Promise.all([this.#hints.close(), this.#cache.close()])
  }

  async #readPairs(): Promise<void> {
    this.#put(await this.#cache.read())
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

  /** Also remembers what was missed, for the next round to ask for. */
  #find(from: string, to: string, query: RateQuery, { isLookOnly = false } = {}): FoundRoute | undefined {
    const found = this.#finder.find(from, to, query)
    if (found?.isNew === true) this.#notifyRoute(found)
    const missing = isLookOnly ? undefined : missingPairOf(from, to, found)
    if (missing !== undefined) this.#hints.remember(missing)
    return found
  }

  #put(pairs: readonly RateSnapshot[]): void {
    this.#graph.putAll(pairs)
    this.#finder.clear()
  }

  #onPairs(pairs: readonly RateSnapshot[]): void {
    if (this.#isClosed) return
    if (pairs.length > 0) {
      this.#put(pairs)
      this.#cache.markChanged()
    }
    this.#publishState()
    const { ratesChanged } = this.#services.hooks
    if (ratesChanged.taps.length === 0) return
    ratesChanged.call(Object.freeze({ pairs: Object.freeze(pairs), providers: this.getSnapshot().providers }))
  }

  #publishState(): void {
    this.#state.set(this.#snapshotNow())
  }

  #snapshotNow(): RateServiceSnapshot {
    const { pairCount, updatedAt } = this.#graph
    const { providers, isRunning } = this.#rounds
    return {
      providers: providers.snapshots(),
      pairCount,
      ...compact({ updatedAt }),
      isRefreshing: isRunning
    }
  }

  #notifyRoute({ search, from }: FoundRoute): void {
    const { routeFound } = this.#services.hooks
    if (routeFound.taps.length === 0) return
    routeFound.call(describeRoute(search, from, search.routeFrom(from) ?? []))
  }
}

const MAX_ALTERNATIVES = 20

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
