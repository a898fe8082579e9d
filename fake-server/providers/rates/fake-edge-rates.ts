import { isRecord, parseJsonText } from '../../../kernel/base/json.ts'
import type { Clock } from '../../../kernel/io/io.ts'
import { jsonReply } from '../../base/replies.ts'
import type { FakeMarket } from '../market/market.ts'
import type { FakeProvider } from '../market/provider.ts'

/**
 * `POST /v3/rates { targetFiat, crypto, fiat }`: the same object with every rate that it knows.
 *
 * The past of a fake market is one line: each day ago a thing was worth a thousandth less, down to a tenth.
 */
export const fakeEdgeRates = (market: FakeMarket, clock: Pick<Clock, 'now'>): FakeProvider => ({
  id: 'edgeRates',
  hosts: ['rates3.edge.app', 'rates4.edge.app'],
  answer({ method, pathname, body }) {
    if (pathname !== '/v3/rates') return jsonReply(404, { error: 'Not found' })
    if (method !== 'POST') return jsonReply(405, { error: 'Method not allowed' })
    const requested = parseRatesQuery(body)
    if (requested === undefined) return jsonReply(400, { error: 'Invalid request' })
    const { targetFiat, crypto, fiat } = requested
    const withRate = (item: Item, code: string | undefined): Item => {
      const rate = code === undefined ? undefined : market.rateOf(code, `iso:${targetFiat}`)
      return rate === undefined ? item : { ...item, rate: Number(rate) * worthAt(item.isoDate, clock.now()) }
    }
    return jsonReply(200, {
      targetFiat,
      crypto: crypto.map(item => withRate(item, codeOf(item.asset))),
      fiat: fiat.map(item => withRate(item, `iso:${item.fiatCode}`))
    })
  }
})

type Item = Readonly<Record<string, unknown>>

interface RatesQuery {
  readonly targetFiat: string
  readonly crypto: readonly Item[]
  readonly fiat: readonly Item[]
}

const MAX_ITEMS = 256

const parseRatesQuery = (body: string): RatesQuery | undefined => {
  try {
    const { targetFiat, crypto, fiat } = parseJsonText(body) as Record<string, unknown>
    const isList = (value: unknown): value is readonly Item[] =>
      Array.isArray(value) && value.length <= MAX_ITEMS && value.every(isRecord)
    return typeof targetFiat === 'string' && isList(crypto) && isList(fiat)
      ? { targetFiat, crypto, fiat }
      : undefined
  } catch {
    return undefined
  }
}

const DAY_MS = 86_400_000

const worthAt = (isoDate: unknown, now: number): number => {
  const time = typeof isoDate === 'string' ? Date.parse(isoDate) : now
  const days = Number.isNaN(time) ? 0 : Math.max(0, Math.floor((now - time) / DAY_MS))
  return (1000 - Math.min(900, days)) / 1000
}

const codeOf = (asset: unknown): string | undefined => {
  if (!isRecord(asset)) return undefined
  return ASSETS.get(`${asset.pluginId} ${asset.tokenId ?? ''}`.trim())
}

const ASSETS: ReadonlyMap<string, string> = new Map([
  ['bitcoin', 'BTC'],
  ['ethereum', 'ETH'],
  ['bitcoincash', 'BCH'],
  ['litecoin', 'LTC'],
  ['dogecoin', 'DOGE'],
  ['dash', 'DASH'],
  ['qtum', 'QTUM'],
  ['zcoin', 'FIRO'],
  ['feathercoin', 'FTC'],
  ['ufo', 'UFO'],
  ['solana', 'SOL'],
  ['ripple', 'XRP'],
  ['monero', 'XMR'],
  ['zcash', 'ZEC'],
  ['thorchainrune', 'RUNE'],
  ['ethereum dac17f958d2ee523a2206206994597c13d831ec7', 'USDT'],
  ['ethereum a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 'USDC'],
  ['ethereum 2260fac5e5542a773aa44fbcfedf7c193bc2c599', 'WBTC']
])
