import type { AbortSignalLike } from '../io/io.ts'
import type { RateContext, RatePair } from '../types/rates.ts'
import type { RateSnapshot } from '../types/snapshots.ts'
import { fieldsOfPair, isCurrencyCode, isRate, MAX_PAIRS } from './rate-limits.ts'

/** What a desk is opened with. */
export interface RateDeskOptions {
  readonly pluginId: string
  readonly wanted: readonly RatePair[]
  readonly signal: AbortSignalLike
  /** Unix seconds. */
  now(): number
  /** Hears of the first offer that cannot be taken. */
  refused(message: string): void
}

/** Where one provider puts its pairs in one round, until it is closed. */
export class OpenRateDesk {
  readonly desk: RateContext
  readonly #options: RateDeskOptions
  #waiting: RateSnapshot[] = []
  #count = 0
  #refusal: string | undefined
  #isClosed = false

  constructor(options: RateDeskOptions) {
    this.#options = options
    const { wanted, signal } = options
    this.desk = Object.freeze({
      wanted,
      signal,
      offer: (pair: RatePair, rate: number) => this.#offer(pair, rate)
    })
  }

  /** How many pairs it took. */
  get count(): number {
    return this.#count
  }

  /** Why the first offer that was not taken was refused. */
  get refusal(): string | undefined {
    return this.#refusal
  }

  /** Takes away what has come since the last time. */
  take(): readonly RateSnapshot[] {
    const taken = this.#waiting
    this.#waiting = []
    return taken
  }

  /** Hears nothing more: the provider has ended, or nobody waits for it. */
  close(): void {
    this.#isClosed = true
  }

  #offer(pair: unknown, rate: unknown): void {
    if (this.#isClosed) return
    const { fromCurrency, toCurrency } = fieldsOfPair(pair)
    if (!isCurrencyCode(fromCurrency) || !isCurrencyCode(toCurrency) || !isRate(rate)) {
      this.#refuse('Invalid data format')
      return
    }
    if (this.#count >= MAX_PAIRS) {
      this.#refuse(`More than ${MAX_PAIRS} pairs`)
      return
    }
    const { pluginId, now } = this.#options
    this.#count += 1
    this.#waiting.push(Object.freeze({ fromCurrency, toCurrency, rate, source: pluginId, at: now() }))
  }

  // Thousands may be bad for one reason.
  #refuse(message: string): void {
    if (this.#refusal !== undefined) return
    this.#refusal = message
    this.#options.refused(message)
  }
}
