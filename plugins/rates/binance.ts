import { type RatePlugin, Reply } from '../../kernel/plugin-api.ts'
import { fiatCode, type PricedPair, ratePlugin, type WantedCodes } from './kit/rate-source.ts'

/**
 * Rates of Binance: the last price of wanted coins in USDT, and of USDT in some moneys, without a key.
 *
 * It refuses some countries (451); then its address for market data alone is asked, which refuses fewer.
 */
export const binance: RatePlugin = ratePlugin({
  id: 'binance',
  displayName: 'Binance',
  bias: -0.02,
  origins: ['https://api.binance.com', 'https://data-api.binance.vision'],
  requestFor(wanted) {
    const symbols = [...MARKETS].filter(([, pair]) => isWanted(pair, wanted)).map(([symbol]) => symbol)
    if (symbols.length === 0) return undefined
    const list = encodeURIComponent(JSON.stringify(symbols))
    return { path: `/api/v3/ticker/price?symbols=${list}`, parse: parseBinance }
  }
})

/** Reads `[{ symbol, price: "text" }]`; pure. @throws BAD_REPLY */
export const parseBinance = (text: string): readonly PricedPair[] => {
  const pairs: PricedPair[] = []
  for (const item of Reply.of(text, SOURCE).list()) {
    const { value: symbol } = item.object().field('symbol')
    const pair = typeof symbol === 'string' ? MARKETS.get(symbol) : undefined
    if (pair !== undefined) pairs.push([...pair, item.field('price').number()])
  }
  return pairs
}

const SOURCE = 'reply of Binance'
const HUB = 'USDT'

type Pair = readonly [from: string, to: string]

const COINS =
  `BTC ETH BCH LTC DOGE DASH QTUM BNB SOL XRP ADA TRX DOT LINK POL AVAX ATOM UNI AAVE XLM ETC ZEC XTZ ALGO FIL RVN DGB
  RUNE SHIB PEPE BAT COMP NEAR ARB OP USDC WBTC`.split(/\s+/)

/** Our codes of the symbols that are traded. */
const MARKETS: ReadonlyMap<string, Pair> = new Map<string, Pair>([
  ...COINS.map((coin): [string, Pair] => [`${coin}${HUB}`, [coin, HUB]]),
  [`EUR${HUB}`, [fiatCode('EUR'), HUB]],
  ...['BRL', 'TRY', 'ZAR', 'MXN', 'JPY', 'PLN'].map((money): [string, Pair] => [
    `${HUB}${money}`,
    [HUB, fiatCode(money)]
  ])
])

/** A pair whose other end than USDT is wanted. */
const isWanted = ([from, to]: Pair, { coins, fiats }: WantedCodes): boolean => {
  const code = from === HUB ? to : from
  return code.startsWith('iso:') ? fiats.has(code.slice(4)) : coins.has(code)
}
