import { type RatePlugin, Reply } from '../../kernel/plugin-api.ts'
import { fiatCode, type PricedPair, ratePlugin, type WantedCodes } from './kit/rate-source.ts'

/** Rates of Kraken: the last trade of the wanted ones among its great pairs, without a key. */
export const kraken: RatePlugin = ratePlugin({
  id: 'kraken',
  displayName: 'Kraken',
  bias: -0.09,
  origins: ['https://api.kraken.com'],
  requestFor(wanted) {
    const markets = MARKETS.filter(market => isWanted(market, wanted))
    if (markets.length === 0) return undefined
    const path = `/0/public/Ticker?pair=${markets.map(({ pair }) => pair).join(',')}`
    return { path, parse: parseKraken }
  }
})

/** Reads `{ error: [], result: { XXBTZUSD: { c: ["last price", "lot"] } } }`; pure. @throws BAD_REPLY */
export const parseKraken = (text: string): readonly PricedPair[] => {
  const reply = Reply.of(text, SOURCE).object()
  const error = reply.field('error')
  const { length } = error.list()
  const result = reply.field('result')
  const tickers = result.isThere ? result.entries() : []
  // It warns in the same list; only an error leaves no result.
  if (length > 0 && tickers.length === 0) error.fail('is not empty')
  const pairs: PricedPair[] = []
  for (const [name, ticker] of tickers) {
    const market = BY_NAME.get(name)
    if (market === undefined) continue
    const [last] = ticker.object().field('c').list()
    pairs.push([market.from, market.to, last?.number() ?? Number.NaN])
  }
  return pairs
}

const SOURCE = 'reply of Kraken'

/** A pair with its name in requests. */
interface Market {
  readonly pair: string
  readonly from: string
  readonly to: string
}

// Old coins and moneys have an X or Z before their code in answers, in pairs of two old ones only.
const OLD_MONEYS: ReadonlySet<string> = new Set(['USD', 'EUR', 'GBP', 'CAD', 'JPY'])
const OLD_COINS: ReadonlySet<string> = new Set(['XBT', 'ETH', 'LTC', 'XRP', 'ETC', 'XLM', 'XMR', 'ZEC'])
const OWN_CODES: Readonly<Record<string, string>> = { BTC: 'XBT', DOGE: 'XDG' }

const MONEYS_BY_COINS: readonly (readonly [coins: string, moneys: string])[] = [
  ['BTC ETH', 'USD EUR GBP CAD JPY CHF AUD'],
  ['LTC BCH DOGE XRP ADA SOL DOT LINK ATOM ETC XLM XMR ZEC DASH', 'USD EUR'],
  ['USDT USDC DAI', 'USD EUR']
]

const coinMarkets: readonly Market[] = MONEYS_BY_COINS.flatMap(([coins, moneys]) =>
  coins
    .split(' ')
    .flatMap(coin =>
      moneys
        .split(' ')
        .map(money => ({ pair: `${OWN_CODES[coin] ?? coin}${money}`, from: coin, to: fiatCode(money) }))
    )
)

const moneyMarkets: readonly Market[] = ['EURUSD', 'GBPUSD', 'AUDUSD', 'USDCAD', 'USDCHF', 'USDJPY'].map(
  pair => ({
    pair,
    from: fiatCode(pair.slice(0, 3)),
    to: fiatCode(pair.slice(3))
  })
)

const MARKETS: readonly Market[] = [...coinMarkets, ...moneyMarkets]

/** The name of a pair in replies. */
const answeredName = ({ pair }: Market): string => {
  const [base, money] = [pair.slice(0, -3), pair.slice(-3)]
  if (pair === 'USDTUSD') return 'USDTZUSD'
  if (!OLD_MONEYS.has(money)) return pair
  if (OLD_MONEYS.has(base)) return `Z${base}Z${money}`
  return OLD_COINS.has(base) ? `X${base}Z${money}` : pair
}

const BY_NAME: ReadonlyMap<string, Market> = new Map(
  MARKETS.flatMap(market => [
    [market.pair, market],
    [answeredName(market), market]
  ])
)

/** The dollar is wanted always, since every other money can be reached from there. */
const isWanted = ({ from, to }: Market, { coins, fiats }: WantedCodes): boolean => {
  const isHere = (code: string): boolean =>
    code.startsWith('iso:') ? code === fiatCode('USD') || fiats.has(code.slice(4)) : coins.has(code)
  return isHere(from) && isHere(to)
}
