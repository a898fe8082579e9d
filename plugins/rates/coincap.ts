import { type RatePlugin, Reply } from '../../kernel/plugin-api.ts'
import { namesOf } from './kit/coins.ts'
import { fiatCode, type PricedPair, ratePlugin } from './kit/rate-source.ts'

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
  requestFor({ coins }, { apiKey }) {
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
  for (const item of Reply.of(text, SOURCE).object().field('data').list()) {
    const { value: id } = item.object().field('id')
    const code = typeof id === 'string' ? codes.get(id) : undefined
    if (code !== undefined) pairs.push([code, fiatCode('USD'), item.field('priceUsd').number()])
  }
  return pairs
}

const SOURCE = 'reply of CoinCap'
