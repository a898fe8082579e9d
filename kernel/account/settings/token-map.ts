import type { Token, TokenMap } from '../../types/currency.ts'

/** Makes a token map without a prototype: token ids are text from outside. Later entries win. */
export const tokenMapOf = (tokens: Iterable<readonly [tokenId: string, token: Token]>): TokenMap => {
  const map: Record<string, Token> = Object.create(null)
  for (const [tokenId, token] of tokens) map[tokenId] = token
  return Object.freeze(map)
}

/** No tokens. */
export const NO_TOKENS: TokenMap = tokenMapOf([])
