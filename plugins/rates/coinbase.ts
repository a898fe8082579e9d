import type { RatePlugin } from '../../kernel/plugin-api.ts'
import { FIAT_CODES } from './kit/fiat-codes.ts'
import { type PricedPair, ratePlugin } from './kit/rate-source.ts'
import { asRecord, entriesOf, figure, readJson } from './kit/read-reply.ts'
import { fiatCode } from './kit/wanted-codes.ts'

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
  ask: ({ coins }) => ({
    path: '/v2/exchange-rates?currency=USD',
    parse: text => parseCoinbase(text, coins)
  })
})

/** Reads `{ data: { currency, rates: { CODE: "amount of CODE for one" } } }`; pure. @throws BAD_REPLY */
export const parseCoinbase = (text: string, coins: ReadonlySet<string>): readonly PricedPair[] => {
  const data = asRecord(asRecord(readJson(text, SOURCE), SOURCE).data, SOURCE, 'data')
  const pairs: PricedPair[] = []
  for (const [code, amount] of entriesOf(data.rates, SOURCE, 'data.rates')) {
    const isFiat = FIAT_CODES.has(code)
    if (code === 'USD' || (!isFiat && !coins.has(code))) continue
    pairs.push([fiatCode('USD'), isFiat ? fiatCode(code) : code, figure(amount)])
  }
  return pairs
}

const SOURCE = 'Coinbase'
