/** One quoted price: one `fromCurrency` costs `rate` of `toCurrency`. Fiat codes carry `iso:`. */
export interface RatePair {
  readonly fromCurrency: string
  readonly toCurrency: string
}

/** Where one rate plugin sees what is wanted and offers what it knows. */
export interface RateDesk {
  readonly wanted: readonly RatePair[]
  /** @throws TypeError 'Invalid data format' for text that is no code or a rate that is not finite and positive */
  offer(pair: RatePair, rate: number): void
}
