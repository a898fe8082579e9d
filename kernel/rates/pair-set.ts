import type { RatePair } from '../types/rates.ts'
import { isCurrencyCode } from './rate-limits.ts'

/** Pairs without repeats, in the order in which they came, up to a limit. */
export class PairSet {
  readonly #pairs = new Map<string, RatePair>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#pairs.size
  }

  /** Takes a pair if its codes can be codes and differ, and tells whether it is new. */
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
