import { jsonReply } from '../../replies.ts'
import { conditional } from '../conditional.ts'
import type { FakeMarket } from '../fake-market.ts'
import type { FakeProvider } from '../fake-provider.ts'
import { COINGECKO_IDS } from './coin-ids.ts'

/** `GET /api/v3/simple/price?ids=bitcoin&vs_currencies=usd`: figures as numbers; what it does not know is left out. */
export const fakeCoingecko = (market: FakeMarket): FakeProvider => ({
  id: 'coingecko',
  hosts: ['api.coingecko.com', 'pro-api.coingecko.com'],
  answer(request) {
    const { method, pathname, query } = request
    if (method !== 'GET' || pathname !== '/api/v3/simple/price') {
      return jsonReply(404, { error: 'Incorrect path. Please check https://docs.coingecko.com/' })
    }
    const ids = listOf(query.get('ids'))
    const moneys = listOf(query.get('vs_currencies'))
    if (ids.length === 0) return jsonReply(422, { error: 'Missing parameter ids' })
    if (moneys.length === 0) return jsonReply(422, { error: 'Missing parameter vs_currencies' })
    const prices: [string, Record<string, number>][] = []
    for (const id of ids) {
      const code = COINGECKO_IDS.get(id)
      if (code === undefined) continue
      const found = moneys.flatMap(money => {
        const rate = market.rateOf(code, `iso:${money.toUpperCase()}`)
        return rate === undefined ? [] : [[money, Number(rate)] as const]
      })
      prices.push([id, Object.fromEntries(found)])
    }
    return conditional(request, jsonReply(200, Object.fromEntries(prices)))
  }
})

const listOf = (text: string | null): readonly string[] => (text ?? '').split(',').filter(item => item !== '')
