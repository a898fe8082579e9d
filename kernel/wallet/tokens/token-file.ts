import type { JsonObject } from '../../base/json.ts'
import type { CurrencyConfigSnapshot } from '../../types/currency.ts'

/** The file of a wallet's tokens, and the older one that is read only where that is missing. */
export const TOKENS_PATH = 'Tokens.json'
export const OLD_TOKENS_PATH = 'EnabledTokens.json'

/** The tokens of a wallet as its file has them, known here or not: ascending by code unit, each once. */
export interface TokenLists {
  readonly enabled: readonly string[]
  /** Tokens that an engine found by itself. */
  readonly detected: readonly string[]
}

const NONE: readonly string[] = Object.freeze([])

/** A wallet without tokens. */
export const NO_TOKENS: TokenLists = Object.freeze({ enabled: NONE, detected: NONE })

/** What a token file holds (protocol §3.5 `Tokens.json`); undefined if it is something else. */
export const tokenListsOfFile = ({
  enabledTokenIds,
  detectedTokenIds = []
}: JsonObject): TokenLists | undefined =>
  Array.isArray(enabledTokenIds) && Array.isArray(detectedTokenIds)
    ? { enabled: tokenIdList(enabledTokenIds), detected: tokenIdList(detectedTokenIds) }
    : undefined

/**
 * Finds the tokens that an older file names by their currency codes (protocol §3.5 `EnabledTokens.json`).
 *
 * A token of the user wins over one of the plugin with the same code; codes that nobody knows are left out.
 */
export const tokenListsOfCodes = (codes: readonly unknown[], config: CurrencyConfigSnapshot): TokenLists => {
  const idOf = new Map<unknown, string>()
  for (const tokens of [config.builtinTokens, config.customTokens]) {
    for (const [tokenId, { currencyCode }] of Object.entries(tokens)) idOf.set(currencyCode, tokenId)
  }
  return { enabled: tokenIdList(codes.map(code => idOf.get(code))), detected: NONE }
}

/** The ids among any values: ascending by code unit, each once, none endless. */
export const tokenIdList = (values: Iterable<unknown>): readonly string[] => {
  const ids = new Set<string>()
  for (const value of values) {
    if (ids.size === MAX_IDS) break
    if (typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH) ids.add(value)
  }
  return ids.size === 0 ? NONE : Object.freeze([...ids].sort())
}

/** Tells whether two ordered lists of ids are the same. */
export const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one === other || (one.length === other.length && one.every((id, index) => id === other[index]))

/**
 * The tokens that are on in a wallet: those of its file that the currency has, and those that are on everywhere.
 *
 * @see specification §5 "Enabled token ids are limited to those known for the plugin"
 */
export const enabledTokenIdsOf = (
  { enabled }: TokenLists,
  config: CurrencyConfigSnapshot
): readonly string[] =>
  enabled.length + config.alwaysEnabledTokenIds.length === 0
    ? NONE
    : tokenIdList([...enabled, ...config.alwaysEnabledTokenIds].filter(id => isKnownToken(id, config)))

/** Tells whether a currency has a token; true for any while its plugin has not said which it has. */
export const isKnownToken = (
  tokenId: string,
  { allTokens, areBuiltinTokensKnown }: CurrencyConfigSnapshot
): boolean => !areBuiltinTokensKnown || Object.hasOwn(allTokens, tokenId)

const MAX_IDS = 10_000
const MAX_ID_LENGTH = 200
