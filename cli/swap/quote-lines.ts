import { amountText, nativeAmount, type QuoteSnapshot } from '../../kernel/index.ts'
import { safeText } from '../output/safe-text.ts'
import type { CellLike, TableView, TextView } from '../output/view.ts'
import { coinOf } from '../session/wallet-assets.ts'
import { isOpen, limitText } from './quote-facts.ts'
import type { SwapPlaces } from './swap-place.ts'

/** What people read of one provider in a round. */
export interface QuoteLines {
  readonly pluginId: string
  /** What `swap approve` takes; empty without a quote. */
  readonly quoteId: string
  readonly title: string
  readonly state: 'expired' | 'failed' | 'open' | 'pending'
  /** What it offers, or why it does not. */
  readonly main: string
  /** What else there is to know; may be empty. */
  readonly detail: string
  /** How long the quote holds, such as `4:59`; empty if it does not say. */
  readonly left: string
}

/** One provider for people, at some time in Unix milliseconds. */
export const quoteLines = (quote: QuoteSnapshot, places: SwapPlaces, now: number): QuoteLines => {
  const common = {
    pluginId: quote.pluginId,
    quoteId: quote.quoteId ?? '',
    title: `${safeText(quote.displayName)} (${quote.isDex ? 'DEX' : 'CEX'})`
  }
  if (quote.state === 'pending') {
    return { ...common, state: 'pending', main: 'waiting for an answer', detail: '', left: '' }
  }
  if (quote.state !== 'resolved') {
    return { ...common, state: 'failed', main: failureText(quote, places), detail: '', left: '' }
  }
  const isLive = isOpen(quote, now)
  return {
    ...common,
    state: isLive ? 'open' : 'expired',
    main: offerText(quote, places),
    detail: detailText(quote, places),
    left: isLive ? leftText(quote, now) : (quote.fate ?? 'expired')
  }
}

/** What is given for what: `~7.12 LTC for 0.01 BTC`. */
export const offerText = (quote: QuoteSnapshot, { from, to }: SwapPlaces): string => {
  const { isEstimate = true, toNativeAmount = '0', fromNativeAmount = '0' } = quote
  const [receive, pay] = [
    amountText(nativeAmount(toNativeAmount), to.asset),
    amountText(nativeAmount(fromNativeAmount), from.asset)
  ]
  return `${isEstimate ? '~' : ''}${receive} for ${pay}`
}

/** Why a provider has no quote, with its limit. */
export const failureText = (quote: QuoteSnapshot, places: SwapPlaces): string => {
  if (quote.state === 'timed out') return 'no answer in time'
  const limit = limitText(quote, places)
  const why = safeText(quote.message ?? quote.errorCode ?? 'it failed')
  return limit === undefined ? why : `${why}: ${limit}`
}

const detailText = (quote: QuoteSnapshot, { from, to }: SwapPlaces): string => {
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

/** The end of a round for people: two lines for each quote, the best first, then who had none. */
export const quotesText = (
  providers: readonly QuoteSnapshot[],
  places: SwapPlaces,
  now: number
): TextView => ({
  kind: 'text',
  lines: providers.flatMap((quote, index) => textOf(quoteLines(quote, places, now), index + 1))
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

/** The same as rows, for the other end of a pipe. */
export const quotesTable = (
  providers: readonly QuoteSnapshot[],
  places: SwapPlaces,
  now: number
): TableView => ({
  kind: 'table',
  columns: ['RANK', 'PROVIDER', 'STATE', 'OFFER', 'LEFT', 'DETAIL', 'QUOTE'].map(title => ({ title })),
  rows: providers.map((quote, index) => {
    const { pluginId, quoteId, state, main, detail, left } = quoteLines(quote, places, now)
    const rank = quote.state === 'resolved' ? String(index + 1) : ''
    return [rank, pluginId, quote.state === 'resolved' ? state : quote.state, main, left, detail, quoteId]
  }),
  empty: 'No provider was asked.'
})
