import { rankQuotes } from '../../../kernel/swap/ranking.ts'
import { eachVector, type GroupCheck } from './check.ts'

export const checkSwapSort: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const quotes = inputs.quotes.map(({ swapInfo, ...quote }: { swapInfo: { isDex?: boolean } }) => ({
    ...quote,
    isDex: swapInfo.isDex === true
  }))
  const ranked = rankQuotes(quotes, inputs.opts)
  t.deepEqual(ranked.map(({ quote }) => quote.pluginId), outputs.order, id)
})
