import type { Clock } from '../../../kernel/io/io.ts'
import { jsonReply } from '../../base/replies.ts'
import type { FakeMarket } from '../market/market.ts'
import { conditional, type FakeProvider } from '../market/provider.ts'

/** `GET /api/v1/prices`: what a bitcoin costs in seven moneys, in whole units, of the last five minutes. */
export const fakeMempool = (market: FakeMarket, clock: Pick<Clock, 'now'>): FakeProvider => ({
  id: 'mempool',
  hosts: ['mempool.space'],
  answer(request) {
    if (request.method !== 'GET' || request.pathname !== '/api/v1/prices')
      return jsonReply(404, { error: 'Not found' })
    const time = Math.floor(clock.now() / PERIOD_MS) * (PERIOD_MS / 1000)
    const prices = MONEYS.map(
      money => [money, Math.round(Number(market.rateOf('BTC', `iso:${money}`) ?? -1))] as const
    )
    return conditional(request, jsonReply(200, { time, ...Object.fromEntries(prices) }))
  }
})

const PERIOD_MS = 300_000
const MONEYS = ['USD', 'EUR', 'GBP', 'CAD', 'CHF', 'AUD', 'JPY']
