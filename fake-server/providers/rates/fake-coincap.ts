import type { Clock } from '../../../kernel/io/io.ts'
import { jsonReply } from '../../base/replies.ts'
import type { FakeMarket } from '../market/market.ts'
import type { FakeProvider } from '../market/provider.ts'

/** `GET /v3/assets?ids=bitcoin` with `authorization: Bearer …`; any key is let in, none is not. */
export const fakeCoincap = (market: FakeMarket, clock: Pick<Clock, 'now'>): FakeProvider => ({
  id: 'coincap',
  hosts: ['rest.coincap.io'],
  answer({ method, pathname, query, headers }) {
    const timestamp = clock.now()
    if (!/^Bearer [\x21-\x7e]+$/.test(headers.authorization ?? '')) {
      return jsonReply(401, { error: 'Unauthorized', message: 'API key required', timestamp })
    }
    if (method !== 'GET' || pathname !== '/v3/assets')
      return jsonReply(404, { error: 'Not found', timestamp })
    const ids = query.get('ids')?.split(',') ?? [...COINCAP_IDS.keys()]
    const data = ids.flatMap((id, index) => {
      const symbol = COINCAP_IDS.get(id)
      const priceUsd = symbol === undefined ? undefined : market.rateOf(symbol, 'iso:USD')
      return priceUsd === undefined
        ? []
        : [
            {
              id,
              rank: String(index + 1),
              symbol,
              name: id,
              supply: '1000000.0000000000',
              maxSupply: null,
              priceUsd
            }
          ]
    })
    return jsonReply(200, { timestamp, data })
  }
})

/** As {@link COINGECKO_IDS}, of CoinCap. */
const COINCAP_IDS: ReadonlyMap<string, string> = new Map(
  `bitcoin BTC, ethereum ETH, bitcoin-cash BCH, litecoin LTC, dogecoin DOGE, dash DASH, qtum QTUM, zcoin FIRO,
  tether USDT, usd-coin USDC, multi-collateral-dai DAI, wrapped-bitcoin WBTC, binance-coin BNB, solana SOL, xrp XRP,
  cardano ADA, tron TRX, polkadot DOT, chainlink LINK, avalanche AVAX, cosmos ATOM, uniswap UNI, aave AAVE, maker MKR,
  stellar XLM, monero XMR, ethereum-classic ETC, zcash ZEC, tezos XTZ, algorand ALGO, filecoin FIL, ravencoin RVN,
  digibyte DGB, thorchain RUNE, shiba-inu SHIB, basic-attention-token BAT, compound COMP, near-protocol NEAR`
    .split(/,\s+/)
    .map(row => row.split(' ') as [string, string])
)
