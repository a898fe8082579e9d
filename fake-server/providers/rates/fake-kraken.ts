import { jsonReply } from '../../base/replies.ts'
import type { FakeMarket } from '../market/market.ts'
import type { FakeProvider } from '../market/provider.ts'

/**
 * `GET /0/public/Ticker?pair=XBTUSD,ETHEUR`: always status 200; one unknown pair refuses them all. Answers name a pair
 * of two old currencies with an X or Z before each.
 */
export const fakeKraken = (market: FakeMarket): FakeProvider => ({
  id: 'kraken',
  hosts: ['api.kraken.com'],
  answer({ method, pathname, query }) {
    if (method !== 'GET' || pathname !== '/0/public/Ticker') return refusal('EGeneral:Unknown method')
    const result: [string, object][] = []
    for (const pair of (query.get('pair') ?? '').split(',')) {
      const found = tickerOf(pair, market)
      if (found === undefined) return refusal('EQuery:Unknown asset pair')
      result.push(found)
    }
    return jsonReply(200, { error: [], result: Object.fromEntries(result) })
  }
})

const refusal = (message: string) => jsonReply(200, { error: [message] })

const PAIR = /^([A-Z0-9]{3,5})(USD|EUR|GBP|CAD|JPY|CHF|AUD)$/
const ODD_CODES = new Map([
  ['XBT', 'BTC'],
  ['XDG', 'DOGE']
])
const OLD = new Map(
  'XBT XXBT, ETH XETH, LTC XLTC, XRP XXRP, ETC XETC, XLM XXLM, XMR XXMR, ZEC XZEC, USD ZUSD, EUR ZEUR, GBP ZGBP, CAD ZCAD, JPY ZJPY'
    .split(', ')
    .map(row => row.split(' ') as [string, string])
)

const tickerOf = (pair: string, market: FakeMarket): [string, object] | undefined => {
  const [, base = '', money = ''] = PAIR.exec(pair) ?? []
  const coin = ODD_CODES.get(base) ?? base
  const from = [`iso:${base}`, coin].find(code => market.priceOf(code) !== undefined)
  const price = from === undefined ? undefined : market.rateOf(from, `iso:${money}`, 10)
  if (price === undefined) return undefined
  const [oldBase, oldMoney] = [OLD.get(base), OLD.get(money)]
  const isOld = oldBase !== undefined && oldMoney !== undefined
  const name = pair === 'USDTUSD' ? 'USDTZUSD' : isOld ? `${oldBase}${oldMoney}` : pair
  const day = [price, price]
  const ticker = {
    a: [price, '1', '1.000'],
    b: [price, '1', '1.000'],
    c: [price, '0.00100000'],
    v: ['10.5', '21'],
    p: day,
    t: [100, 200],
    l: day,
    h: day,
    o: price
  }
  return [name, ticker]
}
