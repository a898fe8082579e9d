import { type Abort, makeAbort, withDeadline } from '../base/deadline.ts'
import { failureLine, WalletError } from '../base/errors.ts'
import { Mutex } from '../base/mutex.ts'
import { secondsOf } from '../base/time.ts'
import type { Scoped } from '../plugins/dispatch.ts'
import type { Services } from '../plugins/services.ts'
import type { PluginId } from '../types/ids.ts'
import type { DatedPair, HistoricRateContext, RatePair } from '../types/rates.ts'
import type { RateSnapshot } from '../types/snapshots.ts'
import { CUT_OFF_MS, fieldsOfPair, isCurrencyCode, isRate, MAX_PAIRS, refusedOffer } from './graph.ts'
import type { RateProviders } from './providers.ts'
import { reportFault } from './rounds.ts'

/**
 * Prices of the past, from providers that have them. Questions of one moment go out together, a hundred at a time; the last
 * thousand answers are remembered.
 */
export class HistoricRates {
  readonly #services: Services
  readonly #providers: RateProviders
  readonly #mutex = new Mutex()
  readonly #answers = new Map<string, RateSnapshot>()
  readonly #open = new Map<string, HistoricQuery>()
  #waiting: HistoricQuery[] = []
  /** Providers that still answer an earlier query. */
  readonly #requested = new Map<string, Abort>()
  #isClosed = false

  constructor(services: Services, providers: RateProviders) {
    this.#services = services
    this.#providers = providers
  }

  /** The price of a pair on a date, or the nearest within a week; undefined if no provider has it. @throws OPTION_INVALID, CONTEXT_CLOSED */
  async fetchRates(pair: RatePair, date: Date): Promise<RateSnapshot | undefined> {
    if (this.#isClosed) throw new WalletError('CONTEXT_CLOSED', {})
    const dated = checkPair(pair, date)
    const key = `${dated.fromCurrency}\n${dated.toCurrency}\n${dated.date.getTime()}`
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    const query = this.#open.get(key) ?? this.#put(key, dated)
    return query.answer
  }

  /** Ends every open query. */
  close(): void {
    this.#isClosed = true
    for (const query of this.#open.values()) query.close()
    for (const abort of this.#requested.values()) abort.abort()
  }

  #put(key: string, pair: DatedPair): HistoricQuery {
    const query = new HistoricQuery(pair)
    this.#open.set(key, query)
    this.#waiting.push(query)
    void query.answer.then(answer => this.#remember(key, answer))
    if (this.#waiting.length === 1) {
      this.#services.inBackground(
        'rates',
        this.#mutex.run(() => this.#queryWaiting())
      )
    }
    return query
  }

  #remember(key: string, answer: RateSnapshot | undefined): void {
    this.#open.delete(key)
    if (answer === undefined) return
    this.#answers.set(key, answer)
    const [oldest] = this.#answers.keys()
    if (this.#answers.size > MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest)
  }

  async #queryWaiting(): Promise<void> {
    await this.#services.io.clock.turn()
    const all = this.#waiting
    this.#waiting = []
    for (let start = 0; start < all.length; start += BATCH_SIZE) {
      await this.#queryBatch(all.slice(start, start + BATCH_SIZE))
    }
  }

  /** Resolves when each query has its answer: what came in 5 s, or else whatever comes. */
  async #queryBatch(queries: readonly HistoricQuery[]): Promise<void> {
    if (this.#isClosed) return
    const { hooks, io } = this.#services
    const ended = hooks.fetchHistoricRates.promise(this.#contextsFor(queries))
    const cutOff = { clock: io.clock, milliseconds: CUT_OFF_MS, what: 'A question for rates of the past' }
    await withDeadline(cutOff, () => ended).catch(() => {})
    const open = queries.filter(query => !query.hasOffer)
    for (const query of queries) if (query.hasOffer) query.close()
    if (open.length === 0) return
    await ended
    for (const query of open) query.close()
  }

  #contextsFor(queries: readonly HistoricQuery[]): Scoped<HistoricRateContext> {
    const wanted = Object.freeze(queries.map(({ pair }) => pair))
    const requested = new Set<string>()
    return {
      contextFor: pluginId => {
        const isBusy = this.#requested.has(pluginId) && !requested.has(pluginId)
        if (isBusy || !this.#providers.isActive(pluginId)) return undefined
        requested.add(pluginId)
        const abort = this.#requested.get(pluginId) ?? makeAbort()
        this.#requested.set(pluginId, abort)
        return this.#contextFor(pluginId, abort, { queries, wanted })
      },
      ended: (pluginId, error) => {
        if (error !== undefined) {
          this.#services.logOf(pluginId).warn(failureLine('Could not fetch historic rates', error))
          this.#requested.get(pluginId)?.abort()
        }
        this.#requested.delete(pluginId)
        return true
      }
    }
  }

  #contextFor(
    pluginId: PluginId,
    { signal }: Abort,
    { queries, wanted }: { queries: readonly HistoricQuery[]; wanted: readonly DatedPair[] }
  ): HistoricRateContext {
    const bias = this.#providers.biasOf(pluginId)
    let count = 0
    let hasRefused = false
    const offer = (pair: unknown, rate: unknown): void => {
      count += 1
      const offered = count > MAX_PAIRS ? undefined : historicSnapshotOf(pluginId, pair, rate)
      if (offered !== undefined) {
        for (const query of queries) if (isSamePair(query.pair, offered)) query.consider(offered, bias)
      } else if (!hasRefused) {
        hasRefused = true
        const fault = { pluginId, hook: 'fetchHistoricRates', message: 'Invalid data format' }
        reportFault(this.#services, fault, refusedOffer(fieldsOfPair(pair), rate))
      }
    }
    // Dates are mutable.
    const copies = wanted.map(pair => Object.freeze({ ...pair, date: new Date(pair.date) }))
    return Object.freeze({ wanted: Object.freeze(copies), signal, offer })
  }
}

const MAX_ANSWERS = 1000
const BATCH_SIZE = 100

const checkPair = ({ fromCurrency, toCurrency }: RatePair, date: Date): DatedPair => {
  const isPair = isCurrencyCode(fromCurrency) && isCurrencyCode(toCurrency) && fromCurrency !== toCurrency
  if (!isPair) throw new WalletError('OPTION_INVALID', { option: 'pair', rule: 'is two currency codes' })
  if (!isDate(date)) throw new WalletError('OPTION_INVALID', { option: 'date', rule: 'is a date' })
  return Object.freeze({ fromCurrency, toCurrency, date: new Date(date) })
}

const historicSnapshotOf = (source: string, pair: unknown, rate: unknown): RateSnapshot | undefined => {
  const { fromCurrency, toCurrency, date } = fieldsOfPair(pair)
  if (!isCurrencyCode(fromCurrency) || !isCurrencyCode(toCurrency) || !isRate(rate)) return undefined
  const at = timeOf(date)
  return at === undefined
    ? undefined
    : Object.freeze({ fromCurrency, toCurrency, rate, source, at: secondsOf(at) })
}

/** Not by the date's own method, which could say another time each time. */
const timeOf = (date: unknown): number | undefined => {
  try {
    const time = Date.prototype.getTime.call(date)
    return Number.isNaN(time) ? undefined : time
  } catch {
    return undefined
  }
}

const isDate = (date: unknown): date is Date => date instanceof Date && !Number.isNaN(date.getTime())

const isSamePair = (wanted: RatePair, offered: RatePair): boolean =>
  wanted.fromCurrency === offered.fromCurrency && wanted.toCurrency === offered.toCurrency

/** An answer of this distance from the date is as good as any, in seconds: daily prices. Our own choice. */
const NEAR_SECONDS = 86_400
/** An answer further away is none. */
const FAR_SECONDS = 7 * 86_400

/** A query for a price of the past, with the best offer so far. */
class HistoricQuery {
  readonly pair: DatedPair
  readonly answer: Promise<RateSnapshot | undefined>
  #resolve: (answer: RateSnapshot | undefined) => void = () => {}
  #best: Offer | undefined

  constructor(pair: DatedPair) {
    this.pair = pair
    this.answer = new Promise(resolve => {
      this.#resolve = resolve
    })
  }

  get hasOffer(): boolean {
    return this.#best !== undefined
  }

  /** Considers an offer for its currencies, of any date: within a day the lower bias wins, further away the nearer date. */
  consider(pair: RateSnapshot, bias: number): void {
    const distance = Math.abs(pair.at - secondsOf(this.pair.date.getTime()))
    if (distance > FAR_SECONDS) return
    const offer: Offer = { pair, rank: distance <= NEAR_SECONDS ? [0, bias, distance] : [1, distance, bias] }
    if (this.#best === undefined || compareRanks(offer.rank, this.#best.rank) < 0) this.#best = offer
  }

  /** Resolves the query with the best offer so far. */
  close(): RateSnapshot | undefined {
    this.#resolve(this.#best?.pair)
    return this.#best?.pair
  }
}

type Rank = readonly [near: number, first: number, second: number]

interface Offer {
  readonly pair: RateSnapshot
  readonly rank: Rank
}

const compareRanks = (left: Rank, right: Rank): number =>
  left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
