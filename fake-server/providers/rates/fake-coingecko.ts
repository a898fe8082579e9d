import { jsonReply } from '../../base/replies.ts'
import type { FakeMarket } from '../market/market.ts'
import { conditional, type FakeProvider } from '../market/provider.ts'

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

/**
 * Codes of coins by the names that CoinGecko and CoinCap have for them.
 *
 * Written down a second time on purpose: the plugins have their own table, so a mistake in one is caught by the other.
 */
const COINGECKO_IDS: ReadonlyMap<string, string> = new Map(
  `bitcoin BTC, ethereum ETH, bitcoin-cash BCH, litecoin LTC, dogecoin DOGE, dash DASH, qtum QTUM, zcoin FIRO,
  feathercoin FTC, tether USDT, usd-coin USDC, dai DAI, wrapped-bitcoin WBTC, binancecoin BNB, solana SOL, ripple XRP,
  cardano ADA, tron TRX, polkadot DOT, chainlink LINK, polygon-ecosystem-token POL, avalanche-2 AVAX, cosmos ATOM,
  uniswap UNI, aave AAVE, maker MKR, stellar XLM, monero XMR, ethereum-classic ETC, zcash ZEC, tezos XTZ,
  algorand ALGO, filecoin FIL, ravencoin RVN, digibyte DGB, thorchain RUNE, cacao CACAO, shiba-inu SHIB, pepe PEPE,
  basic-attention-token BAT, compound-governance-token COMP, near NEAR, arbitrum ARB, optimism OP`
    .split(/,\s+/)
    .map(row => row.split(' ') as [string, string])
)
