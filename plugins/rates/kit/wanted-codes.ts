import type { RatePair } from '../../../kernel/plugin-api.ts'

/** The currencies of the pairs that are wanted, in order of appearance. */
export interface WantedCodes {
  readonly coins: ReadonlySet<string>
  /** Without `iso:`. */
  readonly fiats: ReadonlySet<string>
}

/** Gathers the codes of both sides of all pairs. */
export const wantedCodes = (pairs: readonly RatePair[]): WantedCodes => {
  const coins = new Set<string>()
  const fiats = new Set<string>()
  for (const { fromCurrency, toCurrency } of pairs) {
    for (const code of [fromCurrency, toCurrency]) {
      if (code.startsWith(FIAT)) fiats.add(code.slice(FIAT.length))
      else coins.add(code)
    }
  }
  return { coins, fiats }
}

/** The code of a fiat currency as the kernel knows it: `iso:EUR` for `EUR`. */
export const fiatCode = (code: string): string => `${FIAT}${code}`

const FIAT = 'iso:'
