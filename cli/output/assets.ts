import type { CurrencyInfo, Denomination, TokenMap } from '../../kernel/index.ts'

/** What amounts are written in. A currency is one of its own coin, and a token is one too. */
export interface AmountUnits {
  readonly currencyCode: string
  readonly displayName: string
  /** The first is the one amounts are shown in. */
  readonly denominations: readonly Denomination[]
}

/** One thing that a wallet can hold. */
export interface Asset extends AmountUnits {
  /** null: the chain's own coin. */
  readonly tokenId: string | null
}

/** An asset of a wallet; a token that nobody knows (any more) is told by its id, in native units. */
export const assetOf = (info: CurrencyInfo, tokens: TokenMap, tokenId: string | null): Asset => {
  if (tokenId === null) return { ...unitsOf(info), tokenId }
  const token = Object.hasOwn(tokens, tokenId) ? tokens[tokenId] : undefined
  if (token !== undefined) return { ...unitsOf(token), tokenId }
  const denominations = [{ name: tokenId, multiplier: '1' }]
  return { tokenId, currencyCode: tokenId, displayName: tokenId, denominations }
}

const unitsOf = ({ currencyCode, displayName, denominations }: AmountUnits): AmountUnits => ({
  currencyCode,
  displayName,
  denominations
})
