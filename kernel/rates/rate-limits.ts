/** How long after a round of rates the next one begins (specification §9). */
export const REFRESH_MS = 30_000

/** How long a round waits before it publishes what has come (specification §9). */
export const CUT_OFF_MS = 5000

/** The age at which a pair has cost half of what age can cost, in seconds (specification §9). */
export const HALF_AGE_SECONDS = 30

/** What a hop costs besides age and bias, and what it costs against the direction of its pair (specification §9). */
export const HOP_COST = 1
export const INVERTED_HOP_COST = 1.1

/** From this age on a rate is marked stale, in seconds: ten rounds went by without it. Our own choice. */
export const STALE_SECONDS = 300

/** The most pairs of one provider that are kept, and that are heard in one round. */
export const MAX_PAIRS = 10_000

/** The most pairs that are asked for in one round. */
export const MAX_WANTED = 10_000

const MAX_CODE = 64

/** Tells whether something can be a currency code: 1 to 64 characters, none of them a control character. */
export const isCurrencyCode = (code: unknown): code is string =>
  typeof code === 'string' && code.length > 0 && code.length <= MAX_CODE && !CONTROL.test(code)

/** Tells whether a rate can be reckoned with: finite and above zero. */
export const isRate = (rate: unknown): rate is number =>
  typeof rate === 'number' && rate > 0 && rate < Number.POSITIVE_INFINITY

/** Tells whether a code is of a fiat currency (specification §3). */
export const isFiat = (code: string): boolean => code.startsWith('iso:')

/** A bias leaves every hop a cost above zero, so that a longer route is never the cheaper for its length. */
export const isBias = (bias: unknown): bias is number =>
  typeof bias === 'number' && bias > -HOP_COST && bias < Number.POSITIVE_INFINITY

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f]/
