import type { AbortSignalLike } from '../io/io.ts'

/** A pair of currencies, whose price is in `toCurrency` for one `fromCurrency`. Fiat codes begin with `iso:`. */
export interface RatePair {
  readonly fromCurrency: string
  readonly toCurrency: string
}

/** A pair whose price is wanted for a day in the past. */
export interface DatedPair extends RatePair {
  readonly date: Date
}

/**
 * The context of a rate plugin: the pairs that are wanted, and the way to offer prices.
 *
 * @example
 * ```ts
 * import type { RateContext } from 'holdfast/plugin'
 *
 * const answer = async ({ wanted, signal, offer }: RateContext) => {
 *   if (!wanted.some(({ fromCurrency }) => fromCurrency === 'BTC')) return
 *   const { text } = await io.fetch('https://shop.example.org/price', { signal })
 *   offer({ fromCurrency: 'BTC', toCurrency: 'iso:USD' }, Number(text))
 * }
 * ```
 */
export interface RateContext {
  readonly wanted: readonly RatePair[]
  /** Aborted when no caller waits any more. */
  readonly signal: AbortSignalLike
  /**
   * Offers the price of one `fromCurrency`; pairs that are not in `wanted` are accepted, too.
   *
   * A pair whose codes are no text, or a rate that is not finite and above zero, is refused and reported as the plugin's
   * fault 'Invalid data format'; its other offers count. A code has 1 to 64 characters, none of them a control
   * character. The kernel takes 10,000 pairs of one plugin in a round, and keeps its newest 10,000.
   */
  offer(pair: RatePair, rate: number): void
}

/**
 * The context of a rate plugin for prices of the past.
 *
 * @example
 * ```ts
 * import type { HistoricRateContext } from 'holdfast/plugin'
 *
 * const answer = async ({ wanted, signal, offer }: HistoricRateContext) => {
 *   for (const pair of wanted) {
 *     const day = pair.date.toISOString().slice(0, 10)
 *     const { text } = await io.fetch(`https://shop.example.org/price/${pair.fromCurrency}/${day}`, { signal })
 *     offer(pair, Number(text))
 *   }
 * }
 * ```
 */
export interface HistoricRateContext {
  readonly wanted: readonly DatedPair[]
  readonly signal: AbortSignalLike
  /** Offers the price of a pair at its date, or the one nearest to it. Refuses as {@link RateContext.offer} does. */
  offer(pair: DatedPair, rate: number): void
}
