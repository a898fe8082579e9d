import { jsonReply } from '../../base/replies.ts'
import type { FakeMarket } from '../market/market.ts'
import { conditional, type FakeProvider } from '../market/provider.ts'

/** `GET /v2/exchange-rates?currency=USD`: how many of each code one of the base costs, as text. */
export const fakeCoinbase = (market: FakeMarket): FakeProvider => ({
  id: 'coinbase',
  hosts: ['api.coinbase.com'],
  answer(request) {
    if (request.method !== 'GET' || request.pathname !== '/v2/exchange-rates') return NOT_FOUND
    const base = (request.query.get('currency') ?? 'USD').toUpperCase()
    const from = codeOf(base, market)
    if (from === undefined) return INVALID
    const rates: [string, string][] = []
    for (const code of market.codes) {
      const rate = market.rateOf(from, code)
      if (rate !== undefined) rates.push([code.replace(/^iso:/, ''), rate])
    }
    return conditional(
      request,
      jsonReply(200, { data: { currency: base, rates: Object.fromEntries(rates) } })
    )
  }
})

const codeOf = (code: string, market: FakeMarket): string | undefined =>
  [`iso:${code}`, code].find(name => market.priceOf(name) !== undefined)

const errorReply = (status: number, id: string, message: string) =>
  jsonReply(status, { errors: [{ id, message }] })

const NOT_FOUND = errorReply(404, 'not_found', 'Not found')
const INVALID = errorReply(400, 'invalid_request', 'Currency is invalid')
