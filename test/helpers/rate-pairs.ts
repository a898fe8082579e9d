import type { RatePair } from '../../kernel/types/rates.ts'

/** Pairs from texts such as `BTC iso:USD`. */
export const pairsOf = (...texts: readonly string[]): readonly RatePair[] =>
  texts.map(text => {
    const [fromCurrency = '', toCurrency = ''] = text.split(' ')
    return { fromCurrency, toCurrency }
  })
