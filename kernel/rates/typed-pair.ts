import type { RatePair } from '../types/rates.ts'

/**
 * The pair that a person means: codes in any case, as they are known, or else in capital letters (pure).
 *
 * @param known - pairs whose codes are known
 */
export const typedPair = (known: Iterable<RatePair>, from: string, to: string): RatePair => {
  const codes = new Set<string>()
  for (const { fromCurrency, toCurrency } of known) codes.add(fromCurrency).add(toCurrency)
  return { fromCurrency: codeOf(codes, from), toCurrency: codeOf(codes, to) }
}

const codeOf = (known: ReadonlySet<string>, typed: string): string => {
  const text = typed.trim()
  if (/^iso:/i.test(text)) return `iso:${text.slice(4).toUpperCase()}`
  if (known.has(text)) return text
  const same = [...known].filter(code => code.toLowerCase() === text.toLowerCase())
  return same.length === 1 ? (same[0] ?? text) : text.toUpperCase()
}
