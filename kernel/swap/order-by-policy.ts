import { copyList } from '../base/copy-data.ts'
import type { QuoteSnapshot } from '../types/snapshots.ts'
import type { Ranked } from './rank-quotes.ts'
import type { SwapQuote } from './swap-quote.ts'

/** A quote in its place, and as observers see it. */
export interface ShownQuote extends Ranked<SwapQuote> {
  readonly snapshot: QuoteSnapshot
}

/**
 * Lets policies order quotes anew; only an answer with every quote once counts.
 *
 * @param ask - the hook; its answer may be anything
 */
export const orderByPolicy = (
  ranked: readonly ShownQuote[],
  ask: (quotes: readonly QuoteSnapshot[]) => unknown
): readonly Ranked<SwapQuote>[] => {
  const places = new Map<unknown, ShownQuote>(ranked.map(shown => [shown.quote.quoteId, shown]))
  const said = copyList(ask(Object.freeze(ranked.map(({ snapshot }) => snapshot))), ranked.length)
  if (said?.length !== ranked.length) return ranked
  const ordered: ShownQuote[] = []
  for (const item of said) {
    const quoteId = quoteIdOf(item)
    const shown = places.get(quoteId)
    if (shown === undefined) return ranked
    places.delete(quoteId)
    ordered.push(shown)
  }
  return ordered.map((shown, at) => reasonIn(ranked, shown, ordered[at + 1]))
}

const quoteIdOf = (item: unknown): unknown => {
  try {
    return (item as { readonly quoteId?: unknown }).quoteId
  } catch {
    return undefined
  }
}

/** A reason holds against the quote that was next by the kernel's own order. */
const reasonIn = (
  ranked: readonly ShownQuote[],
  shown: ShownQuote,
  next: ShownQuote | undefined
): Ranked<SwapQuote> => {
  const { quote, reason } = shown
  if (next === undefined) return { quote }
  const isAsBefore = ranked[ranked.indexOf(shown) + 1] === next
  return { quote, reason: isAsBefore && reason !== undefined ? reason : 'placed here by a policy' }
}
