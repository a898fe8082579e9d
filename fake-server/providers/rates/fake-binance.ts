import { parseJsonText } from '../../../kernel/base/json.ts'
import { jsonReply } from '../../base/replies.ts'
import type { FakeMarket } from '../market/market.ts'
import type { FakeProvider } from '../market/provider.ts'

/** `GET /api/v3/ticker/price?symbols=["BTCUSDT"]`: figures as text; one unknown symbol refuses them all. */
export const fakeBinance = (market: FakeMarket): FakeProvider => ({
  id: 'binance',
  hosts: ['api.binance.com', 'data-api.binance.vision'],
  answer({ method, pathname, query }) {
    if (method !== 'GET' || pathname !== '/api/v3/ticker/price')
      return jsonReply(404, { code: -1, msg: 'Not found' })
    const pairs = pairsOf(market)
    const symbols = symbolsOf(query.get('symbols')) ?? [...pairs.keys()]
    const prices: { symbol: string; price: string }[] = []
    for (const symbol of symbols) {
      const [from = '', to = ''] = pairs.get(symbol) ?? []
      const price = market.rateOf(from, to, 10)
      if (price === undefined) return jsonReply(400, { code: -1121, msg: 'Invalid symbol.' })
      prices.push({ symbol, price })
    }
    return jsonReply(200, prices)
  }
})

const symbolsOf = (text: string | null): readonly string[] | undefined => {
  if (text === null) return undefined
  return /^\["[A-Z0-9]+"(?:,"[A-Z0-9]+")*\]$/.test(text) ? (parseJsonText(text) as string[]) : ['']
}

const pairsOf = (market: FakeMarket): ReadonlyMap<string, readonly [string, string]> => {
  const pairs = new Map<string, readonly [string, string]>()
  for (const code of market.codes) {
    if (!code.startsWith('iso:')) pairs.set(`${code}USDT`, [code, 'USDT'])
  }
  pairs.set('EURUSDT', ['iso:EUR', 'USDT'])
  for (const money of ['BRL', 'TRY', 'ZAR', 'MXN', 'JPY', 'PLN'])
    pairs.set(`USDT${money}`, ['USDT', `iso:${money}`])
  return pairs
}
