import { amountText, type JsonObject, nativeAmount, type QuoteSnapshot } from '../../kernel/index.ts'
import { type Asset, amountJson } from '../output/amounts.ts'
import type { CellLike, TableView, TextView } from '../output/view.ts'
import type { QuoteLines } from '../screens/quote-screen.tsx'
import { coinOf } from '../session/assets.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { SwapSides } from './read-swap.ts'

/** Formats one provider of a round, at a time in Unix milliseconds. */
export const quoteLines = (quote: QuoteSnapshot, sides: SwapSides, now: number): QuoteLines => {
  const common = {
    pluginId: quote.pluginId,
    quoteId: quote.quoteId ?? '',
    title: `${safeText(quote.displayName)} (${quote.isDex ? 'DEX' : 'CEX'})`
  }
  if (quote.state === 'pending') {
    return { ...common, state: 'pending', main: 'waiting for a reply', detail: '', left: '' }
  }
  if (quote.state !== 'resolved') {
    return { ...common, state: 'failed', main: failureText(quote, sides), detail: '', left: '' }
  }
  const isLive = isOpen(quote, now)
  return {
    ...common,
    state: isLive ? 'open' : 'expired',
    main: offerText(quote, sides),
    detail: detailText(quote, sides),
    left: isLive ? leftText(quote, now) : (quote.fate ?? 'expired')
  }
}

/** Formats an offer: `~7.12 LTC for 0.01 BTC`. */
export const offerText = (quote: QuoteSnapshot, { from, to }: SwapSides): string => {
  const { isEstimate = true, toNativeAmount = '0', fromNativeAmount = '0' } = quote
  const [receive, pay] = [
    amountText(nativeAmount(toNativeAmount), to.asset),
    amountText(nativeAmount(fromNativeAmount), from.asset)
  ]
  return `${isEstimate ? '~' : ''}${receive} for ${pay}`
}

/** Formats the reason why a provider has no quote, with its limit. */
export const failureText = (quote: QuoteSnapshot, sides: SwapSides): string => {
  if (quote.state === 'timed out') return 'no reply in time'
  const limit = limitText(quote, sides)
  const why = safeText(quote.message ?? quote.errorCode ?? 'it failed')
  return limit === undefined ? why : `${why}: ${limit}`
}

const detailText = (quote: QuoteSnapshot, { from, to }: SwapSides): string => {
  const { networkFee, minReceiveAmount, maxFulfillmentSeconds, rankReason } = quote
  return [
    ...(rankReason === undefined ? [] : [rankReason]),
    ...(networkFee === undefined ? [] : [`fee ${amountText(nativeAmount(networkFee), coinOf(from.wallet))}`]),
    ...(quote.isEstimate === true ? ['estimate'] : []),
    ...(minReceiveAmount === undefined
      ? []
      : [`at least ${amountText(nativeAmount(minReceiveAmount), to.asset)}`]),
    ...(quote.canBePartial === true ? ['may be partial'] : []),
    ...(quote.hasPromoCode === true ? ['promotion'] : []),
    ...(maxFulfillmentSeconds === undefined ? [] : [`within ${Math.ceil(maxFulfillmentSeconds / 60)} min`])
  ].join(', ')
}

const leftText = ({ expiresAt }: QuoteSnapshot, now: number): string => {
  if (expiresAt === undefined) return ''
  const seconds = Math.max(0, Math.ceil((expiresAt - now) / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** Formats the end of a round: two lines for each quote, the best first, then the providers without one. */
export const quotesText = (providers: readonly QuoteSnapshot[], sides: SwapSides, now: number): TextView => ({
  kind: 'text',
  lines: providers.flatMap((quote, index) => textOf(quoteLines(quote, sides, now), index + 1))
})

const textOf = (
  { quoteId, title, state, main, detail, left }: QuoteLines,
  place: number
): readonly CellLike[] => {
  if (state === 'failed' || state === 'pending') return [{ text: `-  ${title}: ${main}`, tone: 'dim' }]
  const time = state === 'expired' ? `  ${left}` : left === '' ? '' : `  ${left} left`
  return [
    { text: `${place}  ${main}  ${title}${time}`, tone: state === 'open' ? 'strong' : 'dim' },
    { text: `   ${[quoteId, detail].filter(text => text !== '').join('  ')}`, tone: 'dim' }
  ]
}

/** The end of a round as a table, for a pipe. */
export const quotesTable = (
  providers: readonly QuoteSnapshot[],
  sides: SwapSides,
  now: number
): TableView => ({
  kind: 'table',
  columns: ['RANK', 'PROVIDER', 'STATE', 'OFFER', 'LEFT', 'DETAIL', 'QUOTE'].map(title => ({ title })),
  rows: providers.map((quote, index) => {
    const { pluginId, quoteId, state, main, detail, left } = quoteLines(quote, sides, now)
    const rank = quote.state === 'resolved' ? String(index + 1) : ''
    return [rank, pluginId, quote.state === 'resolved' ? state : quote.state, main, left, detail, quoteId]
  }),
  empty: 'No provider is enabled.'
})

/** Returns true if a quote can be approved at a time, in Unix milliseconds. */
export const isOpen = ({ state, fate, expiresAt }: QuoteSnapshot, now: number): boolean =>
  state === 'resolved' && fate === undefined && (expiresAt === undefined || expiresAt > now)

/** A round as JSON: `quotes`, the best first, and `rejected` for the providers without one. */
export const quotesJson = (providers: readonly QuoteSnapshot[], sides: SwapSides): JsonObject => ({
  quotes: providers
    .filter(({ state }) => state === 'resolved')
    .map((quote, index) => ({ ...quoteJson(quote, sides), rank: index + 1 })),
  rejected: providers.filter(({ state }) => state !== 'resolved').map(quote => rejectedJson(quote, sides))
})

/** One quote as JSON (ecosystem 1.8). */
export const quoteJson = (quote: QuoteSnapshot, { from, to }: SwapSides): JsonObject => ({
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
export const rejectedJson = (quote: QuoteSnapshot, sides: SwapSides): JsonObject => ({
  plugin: pluginJson(quote),
  state: quote.state,
  error:
    quote.errorCode === undefined && quote.message === undefined
      ? null
      : {
          code: quote.errorCode ?? null,
          message: quote.message ?? null,
          limit: limitJson(quote, sides)
        },
  durationMs: quote.durationMs === undefined ? null : Math.round(quote.durationMs)
})

/** Formats the limit of a provider: `at least 0.002 BTC`. */
const limitText = (quote: QuoteSnapshot, sides: SwapSides): string | undefined => {
  if (quote.limit === undefined) return undefined
  const word = quote.errorCode === 'SWAP_ABOVE_LIMIT' ? 'at most' : 'at least'
  return `${word} ${amountText(nativeAmount(quote.limit), limitAsset(quote, sides))}`
}

const limitJson = (quote: QuoteSnapshot, sides: SwapSides): JsonObject | null =>
  quote.limit === undefined
    ? null
    : {
        ...amountJson(nativeAmount(quote.limit), limitAsset(quote, sides)),
        direction: quote.direction ?? 'from'
      }

const limitAsset = ({ direction = 'from' }: QuoteSnapshot, sides: SwapSides): Asset => sides[direction].asset

const pluginJson = ({ pluginId, displayName, isDex }: QuoteSnapshot): JsonObject => ({
  id: pluginId,
  name: displayName,
  type: isDex ? 'DEX' : 'CEX'
})

const amountOrNull = (native: string | undefined, asset: Asset): JsonObject | null =>
  native === undefined ? null : amountJson(nativeAmount(native), asset)
