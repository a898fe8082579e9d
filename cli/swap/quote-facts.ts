import { amountText, type JsonObject, nativeAmount, type QuoteSnapshot } from '../../kernel/index.ts'
import { amountJson } from '../output/amounts.ts'
import type { Asset } from '../output/assets.ts'
import { coinOf } from '../session/wallet-assets.ts'
import type { SwapPlaces } from './swap-place.ts'

/** Whether a quote can be approved at some time, in Unix milliseconds. */
export const isOpen = ({ state, fate, expiresAt }: QuoteSnapshot, now: number): boolean =>
  state === 'resolved' && fate === undefined && (expiresAt === undefined || expiresAt > now)

/** A round of quotes for scripts: `quotes` that were given, the best first, and `rejected` for whoever gave none. */
export const quotesJson = (providers: readonly QuoteSnapshot[], places: SwapPlaces): JsonObject => ({
  quotes: providers
    .filter(({ state }) => state === 'resolved')
    .map((quote, index) => ({ ...quoteJson(quote, places), rank: index + 1 })),
  rejected: providers.filter(({ state }) => state !== 'resolved').map(quote => rejectedJson(quote, places))
})

/** One quote for scripts (ecosystem 1.8). */
export const quoteJson = (quote: QuoteSnapshot, { from, to }: SwapPlaces): JsonObject => ({
  id: quote.quoteId ?? null,
  plugin: pluginJson(quote),
  from: amountOrNull(quote.fromNativeAmount, from.asset),
  to: amountOrNull(quote.toNativeAmount, to.asset),
  minReceive: amountOrNull(quote.minReceiveAmount, to.asset),
  networkFee: amountOrNull(quote.networkFee, coinOf(from.wallet)),
  estimate: quote.isEstimate ?? true,
  canBePartial: quote.canBePartial ?? false,
  promo: quote.hasPromoCode ?? false,
  expiresAt: quote.expiresAt === undefined ? null : new Date(quote.expiresAt).toISOString(),
  maxFulfillmentSeconds: quote.maxFulfillmentSeconds ?? null,
  fate: quote.fate ?? null,
  rankReasons: quote.rankReason === undefined ? [] : [quote.rankReason],
  durationMs: quote.durationMs === undefined ? null : Math.round(quote.durationMs)
})

/** A provider without a quote, with its error and limit. */
export const rejectedJson = (quote: QuoteSnapshot, places: SwapPlaces): JsonObject => ({
  plugin: pluginJson(quote),
  state: quote.state,
  error:
    quote.errorCode === undefined && quote.message === undefined
      ? null
      : {
          code: quote.errorCode ?? null,
          message: quote.message ?? null,
          limit: limitJson(quote, places)
        },
  durationMs: quote.durationMs === undefined ? null : Math.round(quote.durationMs)
})

/** The limit of a provider for people: `at least 0.002 BTC`. */
export const limitText = (quote: QuoteSnapshot, places: SwapPlaces): string | undefined => {
  if (quote.limit === undefined) return undefined
  const word = quote.errorCode === 'SWAP_ABOVE_LIMIT' ? 'at most' : 'at least'
  return `${word} ${amountText(nativeAmount(quote.limit), limitAsset(quote, places))}`
}

const limitJson = (quote: QuoteSnapshot, places: SwapPlaces): JsonObject | null =>
  quote.limit === undefined
    ? null
    : {
        ...amountJson(nativeAmount(quote.limit), limitAsset(quote, places)),
        direction: quote.direction ?? 'from'
      }

const limitAsset = ({ direction = 'from' }: QuoteSnapshot, places: SwapPlaces): Asset =>
  places[direction].asset

const pluginJson = ({ pluginId, displayName, isDex }: QuoteSnapshot): JsonObject => ({
  id: pluginId,
  name: displayName,
  type: isDex ? 'DEX' : 'CEX'
})

const amountOrNull = (native: string | undefined, asset: Asset): JsonObject | null =>
  native === undefined ? null : amountJson(nativeAmount(native), asset)
