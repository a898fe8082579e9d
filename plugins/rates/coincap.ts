import type { RatePlugin } from '../../kernel/plugin-api.ts'
import { namesOf } from './kit/coin-rows.ts'
import { type PricedPair, ratePlugin } from './kit/rate-source.ts'
import { asList, asRecord, figure, readJson } from './kit/read-reply.ts'
import { fiatCode } from './kit/wanted-codes.ts'

/**
 * Rates of CoinCap, third version: dollar prices of wanted coins, with the option `apiKey`.
 *
 * Its free plan has 2500 calls a month, so an answer stands for twenty minutes; `gapSeconds` says otherwise.
 */
export const coincap: RatePlugin = ratePlugin({
  id: 'coincap',
  displayName: 'CoinCap',
  bias: -0.05,
  origins: ['https://rest.coincap.io'],
  gapSeconds: 1200,
  needsKey: true,
  ask({ coins }, { apiKey }) {
    const codes = namesOf(coins, row => row.coincap)
    if (codes.size === 0) return undefined
    return {
      path: `/v3/assets?ids=${[...codes.keys()].join(',')}`,
      headers: { authorization: `Bearer ${apiKey}` },
      parse: text => parseCoincap(text, codes)
    }
  }
})

/** Reads `{ data: [{ id, priceUsd: "text" }] }`; `codes` are ours by theirs; pure. @throws BAD_REPLY */
export const parseCoincap = (text: string, codes: ReadonlyMap<string, string>): readonly PricedPair[] => {
  const pairs: PricedPair[] = []
  const { data } = asRecord(readJson(text, SOURCE), SOURCE)
  for (const [index, item] of asList(data, SOURCE, 'data').entries()) {
    const { id, priceUsd } = asRecord(item, SOURCE, `data[${index}]`)
    const code = typeof id === 'string' ? codes.get(id) : undefined
    if (code !== undefined) pairs.push([code, fiatCode('USD'), figure(priceUsd)])
  }
  return pairs
}

const SOURCE = 'CoinCap'
