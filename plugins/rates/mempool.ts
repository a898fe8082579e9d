import { type RatePlugin, Reply } from '../../kernel/plugin-api.ts'
import { fiatCode, type PricedPair, ratePlugin } from './kit/rate-source.ts'

/** Rates of mempool.space, or with the option `url` of one's own server of that kind: Bitcoin in some moneys. */
export const mempool: RatePlugin = ratePlugin({
  id: 'mempool',
  displayName: 'mempool.space',
  bias: -0.07,
  origins: ['https://mempool.space'],
  requestFor: ({ coins }) => (coins.has('BTC') ? { path: '/api/v1/prices', parse: parseMempool } : undefined)
})

/** Reads `{ time, USD, EUR … }`; a money without a price stands there as -1; pure. @throws BAD_REPLY */
export const parseMempool = (text: string): readonly PricedPair[] => {
  const pairs: PricedPair[] = []
  for (const [code, price] of Reply.of(text, 'reply of mempool.space').entries()) {
    if (/^[A-Z]{3}$/.test(code) && price.value !== -1) pairs.push(['BTC', fiatCode(code), price.number()])
  }
  return pairs
}
