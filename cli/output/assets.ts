import type { AmountUnits, CurrencyInfo, TokenMap } from '../../kernel/index.ts'

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
