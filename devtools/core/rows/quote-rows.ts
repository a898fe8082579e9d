import type { QuoteUnits } from '../../../app/format/quotes.ts'
import {
  type AmountUnits,
  bestFailureOf,
  compact,
  type OrderSnapshot,
  type QuoteSnapshot,
  type SwapRequestSnapshot
} from '../../../kernel/index.ts'
import { unitsOf } from '../model/amounts.ts'
import type { View } from '../model/slices.ts'

/** One round of quotes. */
export interface RoundRow {
  readonly roundId: string
  /** The swap that quotes were requested for. */
  readonly request: SwapRequestSnapshot
  /** Every provider has answered, failed or run out of time. */
  readonly isOver: boolean
  /** Those with a quote by rank, then those that are awaited, then those that have failed. */
  readonly quotes: readonly QuoteSnapshot[]
  /** The units of the amounts on both sides, and of the paying chain's fee. */
  readonly units: QuoteUnits
  /** When all have failed: the one failure that an application receives, chosen as the kernel chooses it. */
  readonly chosen?: QuoteSnapshot
}

/** The rounds of quotes, newest first (pure). */
export const roundRows = (view: View): readonly RoundRow[] => {
  const rounds = new Map<string, [QuoteSnapshot, ...QuoteSnapshot[]]>()
  for (const quote of view.quotes.values()) {
    const quotes = rounds.get(quote.roundId)
    if (quotes === undefined) rounds.set(quote.roundId, [quote])
    else quotes.push(quote)
  }
  return [...rounds].map(([roundId, quotes]) => roundOf(view, roundId, quotes)).reverse()
}

/** One order of a swap that was paid for. */
export interface OrderRow extends OrderSnapshot {
  /** Its id in the tables. */
  readonly orderKey: string
  readonly payoutUnits: AmountUnits
}

/** The orders, the newest payment first (pure). */
export const orderRows = (view: View): readonly OrderRow[] =>
  [...view.orders]
    .map(([orderKey, order]) => ({ ...order, orderKey, payoutUnits: payoutUnitsOf(view, order) }))
    .sort((one, other) => other.paidAt - one.paidAt)

const payoutUnitsOf = (view: View, { payoutWalletId, payoutCurrencyCode }: OrderSnapshot): AmountUnits => {
  const coin = unitsOf(view, { walletId: payoutWalletId })
  if (coin.currencyCode === payoutCurrencyCode) return coin
  const tokens = view.wallets.get(payoutWalletId)?.tokens ?? []
  const token = tokens.find(({ currencyCode }) => currencyCode === payoutCurrencyCode)
  return token ?? unitsOf(view, { walletId: payoutWalletId, tokenId: '' })
}

const roundOf = (
  view: View,
  roundId: string,
  quotes: readonly [QuoteSnapshot, ...QuoteSnapshot[]]
): RoundRow => {
  const { request } = quotes[0]
  // The platform's sort is stable: equals stay in the order in which they were asked.
  const ranked = [...quotes].sort((one, other) => placeOf(one) - placeOf(other))
  const isOver = ranked.every(({ state }) => state !== 'pending')
  const hasQuote = ranked.some(({ state }) => state === 'resolved')
  const failed = ranked.filter(({ errorCode }) => errorCode !== undefined)
  const chosen = isOver && !hasQuote ? bestFailureOf(failed) : undefined
  const units = unitsOfRound(view, request)
  return { roundId, request, units, isOver, quotes: ranked, ...compact({ chosen }) }
}

const unitsOfRound = (view: View, request: SwapRequestSnapshot): QuoteUnits => {
  const { fromWalletId, fromPluginId, fromTokenId, toWalletId, toPluginId, toTokenId } = request
  const payer = { walletId: fromWalletId, pluginId: fromPluginId }
  return {
    from: unitsOf(view, { ...payer, tokenId: fromTokenId }),
    to: unitsOf(view, { walletId: toWalletId, pluginId: toPluginId, tokenId: toTokenId }),
    fee: unitsOf(view, payer)
  }
}

const placeOf = ({ state, rank }: QuoteSnapshot): number => {
  if (state === 'resolved') return rank ?? UNRANKED
  return state === 'pending' ? UNRANKED + 1 : UNRANKED + 2
}

const UNRANKED = 1_000_000
