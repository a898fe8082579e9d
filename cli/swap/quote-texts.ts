import {
  countdownText,
  detailText,
  failureText,
  isOpen,
  offerText,
  type QuoteUnits,
  quoteTimeLeft
} from '../../app/format/quotes.ts'
import type { QuoteSnapshot } from '../../kernel/index.ts'
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
    return {
      ...common,
      state: 'failed',
      main: safeText(failureText(quote, unitsOfSides(sides))),
      detail: '',
      left: ''
    }
  }
  const isLive = isOpen(quote, now)
  return {
    ...common,
    state: isLive ? 'open' : 'expired',
    main: offerText(quote, unitsOfSides(sides)),
    detail: detailText(quote, unitsOfSides(sides)),
    left: isLive ? leftText(quote, now) : (quote.fate ?? 'expired')
  }
}

/** The units of the two sides of a swap. */
export const unitsOfSides = ({ from, to }: SwapSides): QuoteUnits => ({
  from: from.asset,
  to: to.asset,
  fee: coinOf(from.wallet)
})

const leftText = (quote: QuoteSnapshot, now: number): string => {
  const left = quoteTimeLeft(quote, now)
  return left === undefined ? '' : countdownText(left)
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
