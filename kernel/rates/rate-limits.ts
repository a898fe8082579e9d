import { isRecord } from '../base/json.ts'
import type { RatePair } from '../types/rates.ts'

/** How long after a round of rates the next one begins (specification §9). */
export const REFRESH_MS = 30_000

/** How long a round waits before it publishes what has come (specification §9). */
export const CUT_OFF_MS = 5000

/** The age at which a pair has cost half of what age can cost, in seconds (specification §9). */
export const HALF_AGE_SECONDS = 30

/** What a hop costs besides age and bias, and what it costs against the direction of its pair (specification §9). */
export const HOP_COST = 1
export const INVERTED_HOP_COST = 1.1

/**
 * How old a rate is, in seconds; never negative. One of the future, which is there after a clock was set back, is of an
 * age that nobody knows: it counts as old as it is far away.
 */
export const rateAge = (at: number, now: number): number => Math.abs(now - at)

/** Tells whether a rate of this age is marked stale: ten rounds went by without it. Our own choice. */
export const isStale = (ageSeconds: number): boolean => ageSeconds >= STALE_SECONDS

const STALE_SECONDS = 300

/** The most pairs of one provider that are kept, and that are heard in one round. */
export const MAX_PAIRS = 10_000

/** The most pairs that are asked for in one round. */
export const MAX_WANTED = 10_000

const MAX_CODE = 64

/** Tells whether something names two currencies, whatever their codes are. */
export const isPair = (pair: unknown): pair is RatePair =>
  isRecord(pair) && typeof pair.fromCurrency === 'string' && typeof pair.toCurrency === 'string'

/** Reads what a provider offers as a pair, each field once; nothing of what cannot be read. */
export const fieldsOfPair = (
  pair: unknown
): { readonly fromCurrency?: unknown; readonly toCurrency?: unknown; readonly date?: unknown } => {
  try {
    const { fromCurrency, toCurrency, date } = (pair ?? {}) as Record<string, unknown>
    return { fromCurrency, toCurrency, date }
  } catch {
    return {}
  }
}

/** Tells whether something can be a currency code: 1 to 64 characters, none of them a control character. */
export const isCurrencyCode = (code: unknown): code is string =>
  typeof code === 'string' && code.length > 0 && code.length <= MAX_CODE && !CONTROL.test(code)

/** Tells whether a rate can be reckoned with: finite and above zero, and turned around, too. */
export const isRate = (rate: unknown): rate is number =>
  typeof rate === 'number' && isFactor(rate) && isFactor(1 / rate)

/** Tells whether a number can be multiplied with: the rates of many hops together may lead out of the range of numbers. */
export const isFactor = (rate: number): boolean => rate > 0 && rate < Number.POSITIVE_INFINITY

/** Tells whether a code is of a fiat currency (specification §3). */
export const isFiat = (code: string): boolean => code.startsWith('iso:')

/** A bias leaves every hop a cost above zero, so that a longer route is never the cheaper for its length. */
export const isBias = (bias: unknown): bias is number =>
  typeof bias === 'number' && bias > -HOP_COST && bias < Number.POSITIVE_INFINITY

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f]/
