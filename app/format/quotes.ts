import {
  type AmountUnits,
  amountText,
  type JsonObject,
  nativeAmount,
  type QuoteSnapshot
} from '../../kernel/index.ts'
import { amountJson } from './amounts.ts'

/** The units of the amounts on both sides of a swap, and of the paying chain's fee. */
export interface QuoteUnits {
  readonly from: AmountUnits
  readonly to: AmountUnits
  readonly fee: AmountUnits
}

/**
 * Returns the time for which a quote can still be approved, in milliseconds; undefined if it does not expire or has
 * ended (pure).
 */
export const quoteTimeLeft = ({ expiresAt, fate }: QuoteSnapshot, now: number): number | undefined =>
  expiresAt === undefined || fate !== undefined ? undefined : Math.max(0, expiresAt - now)

/** A countdown as `m:ss`; `0:00` once it is over (pure). */
export const countdownText = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** Formats an offer: `~7.12 LTC for 0.01 BTC`. */
export const offerText = (quote: QuoteSnapshot, { from, to }: QuoteUnits): string => {
  const { isEstimate = true, toNativeAmount = '0', fromNativeAmount = '0' } = quote
  const [receive, pay] = [
    amountText(nativeAmount(toNativeAmount), to),
    amountText(nativeAmount(fromNativeAmount), from)
  ]
  return `${isEstimate ? '~' : ''}${receive} for ${pay}`
}

/** Formats the reason why a provider has no quote, with its limit. */
export const failureText = (quote: QuoteSnapshot, units: QuoteUnits): string => {
  if (quote.state === 'timed out') return 'no reply in time'
  const limit = limitText(quote, units)
  const why = quote.message ?? quote.errorCode ?? 'it failed'
  return limit === undefined ? why : `${why}: ${limit}`
}

/** Formats the terms of an offer, and why it ranks where it does (pure). */
export const detailText = (quote: QuoteSnapshot, { to, fee }: QuoteUnits): string => {
  const { networkFee, minReceiveAmount, maxFulfillmentSeconds, rankReason } = quote
  return [
    ...(rankReason === undefined ? [] : [rankReason]),
    ...(networkFee === undefined ? [] : [`fee ${amountText(nativeAmount(networkFee), fee)}`]),
    ...(quote.isEstimate === true ? ['estimate'] : []),
    ...(minReceiveAmount === undefined ? [] : [`at least ${amountText(nativeAmount(minReceiveAmount), to)}`]),
    ...(quote.canBePartial === true ? ['may be partial'] : []),
    ...(quote.hasPromoCode === true ? ['promotion'] : []),
    ...(maxFulfillmentSeconds === undefined ? [] : [`within ${Math.ceil(maxFulfillmentSeconds / 60)} min`])
  ].join(', ')
}

/** Returns true if a quote can be approved at a time, in Unix milliseconds. */
export const isOpen = ({ state, fate, expiresAt }: QuoteSnapshot, now: number): boolean =>
  state === 'resolved' && fate === undefined && (expiresAt === undefined || expiresAt > now)

/** A round as JSON: `quotes`, the best first, and `rejected` for the providers without one. */
export const quotesJson = (providers: readonly QuoteSnapshot[], units: QuoteUnits): JsonObject => ({
  quotes: providers
    .filter(({ state }) => state === 'resolved')
    .map((quote, index) => ({ ...quoteJson(quote, units), rank: index + 1 })),
  rejected: providers.filter(({ state }) => state !== 'resolved').map(quote => rejectedJson(quote, units))
})

/** One quote as JSON (ecosystem 1.8). */
export const quoteJson = (quote: QuoteSnapshot, { from, to, fee }: QuoteUnits): JsonObject => ({
  id: quote.quoteId ?? null,
  plugin: pluginJson(quote),
  from: amountOrNull(quote.fromNativeAmount, from),
  to: amountOrNull(quote.toNativeAmount, to),
  minReceive: amountOrNull(quote.minReceiveAmount, to),
  networkFee: amountOrNull(quote.networkFee, fee),
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
export const rejectedJson = (quote: QuoteSnapshot, units: QuoteUnits): JsonObject => ({
  plugin: pluginJson(quote),
  state: quote.state,
  error:
    quote.errorCode === undefined && quote.message === undefined
      ? null
      : {
          code: quote.errorCode ?? null,
          message: quote.message ?? null,
          limit: limitJson(quote, units)
        },
  durationMs: quote.durationMs === undefined ? null : Math.round(quote.durationMs)
})

/** Formats the limit of a provider: `at least 0.002 BTC`. */
const limitText = (quote: QuoteSnapshot, units: QuoteUnits): string | undefined => {
  if (quote.limit === undefined) return undefined
  const word = quote.errorCode === 'SWAP_ABOVE_LIMIT' ? 'at most' : 'at least'
  return `${word} ${amountText(nativeAmount(quote.limit), limitAsset(quote, units))}`
}

const limitJson = (quote: QuoteSnapshot, units: QuoteUnits): JsonObject | null =>
  quote.limit === undefined
    ? null
    : {
        ...amountJson(nativeAmount(quote.limit), limitAsset(quote, units)),
        direction: quote.direction ?? 'from'
      }

const limitAsset = ({ direction = 'from' }: QuoteSnapshot, units: QuoteUnits): AmountUnits => units[direction]

const pluginJson = ({ pluginId, displayName, isDex }: QuoteSnapshot): JsonObject => ({
  id: pluginId,
  name: displayName,
  type: isDex ? 'DEX' : 'CEX'
})

const amountOrNull = (native: string | undefined, asset: AmountUnits): JsonObject | null =>
  native === undefined ? null : amountJson(nativeAmount(native), asset)
