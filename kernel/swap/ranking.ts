import { copyList } from '../base/copy-data.ts'
import type { PluginId } from '../types/ids.ts'
import type { QuoteSnapshot } from '../types/snapshots.ts'
import type { SwapOptions } from './request.ts'

/** The fields by which quotes are ordered. A missing `isEstimate` counts as an estimate. */
export interface Rankable {
  readonly pluginId: PluginId
  readonly isDex: boolean
  readonly isEstimate?: boolean
  readonly fromNativeAmount: string
  readonly toNativeAmount: string
}

/** The user's preferences among quotes. */
export type RankPreferences = Pick<SwapOptions, 'preferPluginId' | 'preferType' | 'promoCodes'>

/** A quote in its place. `reason`: what puts it before the next one; the last has none. */
export interface Ranked<Q extends Rankable> {
  readonly quote: Q
  readonly reason?: string
}

/**
 * Orders quotes, best first: transfers, then the preferred plugin, the preferred type, plugins with a promotion code,
 * quotes that are no estimates, and the best ratio of received to sent, computed exactly; equals stay as they came
 * (pure).
 *
 * @see specification §9, protocol §6.1
 */
export const rankQuotes = <Q extends Rankable>(
  quotes: readonly Q[],
  preferences: RankPreferences
): readonly Ranked<Q>[] => {
  const rules = rulesOf(preferences)
  // The platform's sort is stable.
  const sorted = quotes
    .map(quote => weigh(rules, quote))
    .sort((one, other) => differenceOf(rules, one, other).order)
  return sorted.map((weighed, at) => {
    const { quote } = weighed
    const next = sorted[at + 1]
    return next === undefined ? { quote } : { quote, reason: differenceOf(rules, weighed, next).reason }
  })
}

/** Negative if the first comes before the other, positive if after, 0 for equals (pure). */
export const compareQuotes = (one: Rankable, other: Rankable, preferences: RankPreferences): number => {
  const rules = rulesOf(preferences)
  return differenceOf(rules, weigh(rules, one), weigh(rules, other)).order
}

/** Returns the user's promotion code for a plugin, if there is one. */
export const promoCodeOf = ({ promoCodes }: RankPreferences, pluginId: PluginId): string | undefined =>
  promoCodes !== undefined && Object.hasOwn(promoCodes, pluginId) ? promoCodes[pluginId] : undefined

interface Rule {
  readonly reason: string
  holds(quote: Rankable): boolean
}

const rulesOf = (preferences: RankPreferences): readonly Rule[] => {
  const { preferPluginId, preferType } = preferences
  return [
    { reason: 'a transfer between wallets', holds: ({ pluginId }) => pluginId === 'transfer' },
    { reason: 'the preferred provider', holds: ({ pluginId }) => pluginId === preferPluginId },
    {
      reason: `of the preferred type ${preferType}`,
      holds: ({ isDex }) => preferType !== undefined && isDex === (preferType === 'DEX')
    },
    {
      reason: 'has a promotion code',
      holds: ({ pluginId }) => promoCodeOf(preferences, pluginId) !== undefined
    },
    { reason: 'a firm amount, no estimate', holds: ({ isEstimate }) => isEstimate === false }
  ]
}

/** A quote with all that its order takes, worked out once. */
interface Weighed<Q extends Rankable> {
  readonly quote: Q
  /** Which rules it meets. */
  readonly marks: readonly boolean[]
  readonly from: bigint
  readonly to: bigint
}

const weigh = <Q extends Rankable>(rules: readonly Rule[], quote: Q): Weighed<Q> => ({
  quote,
  marks: rules.map(({ holds }) => holds(quote)),
  from: BigInt(quote.fromNativeAmount),
  to: BigInt(quote.toNativeAmount)
})

const differenceOf = (
  rules: readonly Rule[],
  one: Weighed<Rankable>,
  other: Weighed<Rankable>
): { readonly order: number; readonly reason: string } => {
  for (const [at, { reason }] of rules.entries()) {
    const order = Number(other.marks[at]) - Number(one.marks[at])
    if (order !== 0) return { order, reason }
  }
  // a/b > c/d where a·d > c·b: no division, nothing is rounded.
  const gain = one.to * other.from - other.to * one.from
  if (gain === 0n) return { order: 0, reason: 'as good, and asked first' }
  return { order: gain > 0n ? -1 : 1, reason: 'a better rate' }
}

/** A quote in its place, and as observers see it. */
export interface RankedSnapshot<Q extends Rankable> extends Ranked<Q> {
  readonly snapshot: QuoteSnapshot
}

/**
 * Lets policies reorder quotes; only an answer with every quote once counts.
 *
 * @param ask - the hook; its answer may be anything
 */
export const applyPolicies = <Q extends Rankable & { readonly quoteId: string }>(
  ranked: readonly RankedSnapshot<Q>[],
  query: (quotes: readonly QuoteSnapshot[]) => unknown
): readonly Ranked<Q>[] => {
  const places = new Map<unknown, RankedSnapshot<Q>>(ranked.map(shown => [shown.quote.quoteId, shown]))
  const answer = copyList(query(Object.freeze(ranked.map(({ snapshot }) => snapshot))), ranked.length)
  if (answer?.length !== ranked.length) return ranked
  const ordered: RankedSnapshot<Q>[] = []
  for (const item of answer) {
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
const reasonIn = <Q extends Rankable>(
  ranked: readonly RankedSnapshot<Q>[],
  shown: RankedSnapshot<Q>,
  next: RankedSnapshot<Q> | undefined
): Ranked<Q> => {
  const { quote, reason } = shown
  if (next === undefined) return { quote }
  const isAsBefore = ranked[ranked.indexOf(shown) + 1] === next
  return { quote, reason: isAsBefore && reason !== undefined ? reason : 'placed here by a policy' }
}
