import type { AbortSignalLike } from '../io/io.ts'

/** One quoted price: one `fromCurrency` costs so many `toCurrency`. Fiat codes carry `iso:`. */
export interface RatePair {
  readonly fromCurrency: string
  readonly toCurrency: string
}

/** A price that is wanted of some day in the past. */
export interface DatedPair extends RatePair {
  readonly date: Date
}

/** Where one rate plugin sees what is wanted and offers what it knows. */
export interface RateContext {
  readonly wanted: readonly RatePair[]
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignalLike
  /**
   * Offers the price of one `fromCurrency`; also of a pair that nobody asked for.
   *
   * A pair whose codes are no text, or a rate that is not finite and above zero, is refused and reported as the plugin's
   * fault 'Invalid data format'; what else it offers counts. A code has 1 to 64 characters, none of them a control
   * character. Of one plugin 10,000 pairs are heard in a round, and its newest 10,000 are kept.
   */
  offer(pair: RatePair, rate: number): void
}

/** The same for prices of the past, for plugins that have them. */
export interface HistoricRateContext {
  readonly wanted: readonly DatedPair[]
  readonly signal: AbortSignalLike
  /** Offers the price of a pair at its date, or the one nearest to it. Refuses as {@link RateContext.offer} does. */
  offer(pair: DatedPair, rate: number): void
}
