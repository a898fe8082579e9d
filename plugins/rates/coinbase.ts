import { type RatePlugin, Reply } from '../../kernel/plugin-api.ts'
import { FIAT_CODES } from './kit/coins.ts'
import { fiatCode, type PricedPair, ratePlugin } from './kit/rate-source.ts'

/**
 * Rates of Coinbase: one list of what a dollar is worth in everything that is traded there, without a key.
 *
 * All fiat money of the list is offered, since it comes for free, and the coins that are wanted.
 */
export const coinbase: RatePlugin = ratePlugin({
  id: 'coinbase',
  displayName: 'Coinbase',
  bias: -0.1,
  origins: ['https://api.coinbase.com'],
  requestFor: ({ coins }) => ({
    path: '/v2/exchange-rates?currency=USD',
    parse: text => parseCoinbase(text, coins)
  })
})

/** Reads `{ data: { currency, rates: { CODE: "amount of CODE for one" } } }`; pure. @throws BAD_REPLY */
export const parseCoinbase = (text: string, coins: ReadonlySet<string>): readonly PricedPair[] => {
  const rates = Reply.of(text, SOURCE).object().field('data').object().field('rates')
  const pairs: PricedPair[] = []
  for (const [code, amount] of rates.entries()) {
    const isFiat = FIAT_CODES.has(code)
    if (code === 'USD' || (!isFiat && !coins.has(code))) continue
    pairs.push([fiatCode('USD'), isFiat ? fiatCode(code) : code, amount.number()])
  }
  return pairs
}

const SOURCE = 'reply of Coinbase'
