import type { CurrencyConfigSnapshot, Token } from '../../types/currency.ts'
import type { TokenSnapshot } from '../../types/snapshots.ts'

/** What a currency knows of some tokens, each once, in the order of the lists; ids that it does not know are left out. */
export const tokenSnapshotsOf = (
  lists: readonly (readonly string[])[],
  { allTokens }: Pick<CurrencyConfigSnapshot, 'allTokens'>
): readonly TokenSnapshot[] => {
  const tokens: TokenSnapshot[] = []
  for (const tokenId of new Set(lists.flat())) {
    const token = Object.hasOwn(allTokens, tokenId) ? allTokens[tokenId] : undefined
    if (token !== undefined) tokens.push(snapshotOf(tokenId, token))
  }
  return tokens.length === 0 ? NONE : Object.freeze(tokens)
}

const NONE: readonly TokenSnapshot[] = Object.freeze([])

/** A token of hundreds of wallets is told as one object. */
const snapshotOf = (tokenId: string, token: Token): TokenSnapshot => {
  const known = told.get(token)
  if (known !== undefined) return known
  const { currencyCode, displayName, denominations } = token
  const snapshot = Object.freeze({ tokenId, currencyCode, displayName, denominations })
  told.set(token, snapshot)
  return snapshot
}

const told = new WeakMap<Token, TokenSnapshot>()
