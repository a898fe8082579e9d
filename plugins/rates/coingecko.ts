import { compact, type RatePlugin, Reply } from '../../kernel/plugin-api.ts'
import { namesOf } from './kit/coins.ts'
import { fiatCode, type PricedPair, ratePlugin } from './kit/rate-source.ts'

/**
 * Rates of CoinGecko. Without a key it answers a few calls a minute; the option `apiKey` is that of its free plan
 * (10,000 calls a month, for which `gapSeconds` should be 300), with `url` that of a paid one.
 */
export const coingecko: RatePlugin = ratePlugin({
  id: 'coingecko',
  displayName: 'CoinGecko',
  bias: -0.03,
  origins: ['https://api.coingecko.com'],
  gapSeconds: 60,
  requestFor({ coins, fiats }, { apiKey, url }) {
    const codes = namesOf(coins, row => row.coingecko)
    if (codes.size === 0) return undefined
    const moneys = MONEYS.filter(money => money === 'usd' || fiats.has(money.toUpperCase()))
    const header = url?.startsWith(PAID) === true ? 'x-cg-pro-api-key' : 'x-cg-demo-api-key'
    return {
      path: `/api/v3/simple/price?ids=${[...codes.keys()].join(',')}&vs_currencies=${moneys.join(',')}`,
      ...compact({ headers: apiKey === undefined ? undefined : { [header]: apiKey } }),
      parse: text => parseCoingecko(text, codes)
    }
  }
})

/** Reads `{ bitcoin: { usd: number } }`; `codes` are ours by theirs; pure. @throws BAD_REPLY */
export const parseCoingecko = (text: string, codes: ReadonlyMap<string, string>): readonly PricedPair[] => {
  const pairs: PricedPair[] = []
  for (const [id, prices] of Reply.of(text, SOURCE).entries()) {
    const code = codes.get(id)
    if (code === undefined) continue
    for (const [money, price] of prices.entries()) {
      if (KNOWN_MONEYS.has(money)) pairs.push([code, fiatCode(money.toUpperCase()), price.number()])
    }
  }
  return pairs
}

const SOURCE = 'reply of CoinGecko'
const PAID = 'https://pro-api.coingecko.com'

const MONEYS: readonly string[] =
  `usd aed ars aud bdt bhd bmd brl cad chf clp cny czk dkk eur gbp gel hkd huf idr ils inr jpy krw kwd lkr mmk mxn myr
  ngn nok nzd php pkr pln rub sar sek sgd thb try twd uah vef vnd zar`.split(/\s+/)
const KNOWN_MONEYS: ReadonlySet<string> = new Set(MONEYS)
