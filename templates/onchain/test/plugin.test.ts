import test from 'node:test'
import {
  type Suite,
  type SuiteOptions,
  type SwapSuiteOptions,
  swapAssets,
  swapSuite,
  testSuite
} from 'holdfast/testing'
import { plugin } from '../src/index.ts'

// What a node answers, recorded once. `--level live` asks the real one.
const replies = {
  'https://thornode.ninerealms.com/thorchain/quote/swap': JSON.stringify({
    inbound_address: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    expected_amount_out: '700500000',
    recommended_min_amount_in: '20000',
    expiry: 4_000_000_000
  })
}
const { btc: from, ltc: to, eth } = swapAssets

const cases: SwapSuiteOptions = {
  // The first valid case also has the replies that the other checks spoil, delay, cut and withhold.
  valid: [
    {
      ...{ from, to, amount: '1000000', replies, isEstimate: true },
      ...{ fromNativeAmount: '1000000', toNativeAmount: '700500000' }
    }
  ],
  invalid: [
    { name: 'too little', from, to, amount: '500', replies, code: 'SWAP_BELOW_LIMIT', limit: '20000' },
    { name: 'a coin without memos', from: eth, to, amount: '1000000', replies, code: 'SWAP_CURRENCY' }
  ]
}

/** The checks of this plugin, for `holdfast plugins test`. */
export const suite = (options: SuiteOptions = {}): Suite => swapSuite(plugin, { ...cases, ...options })

testSuite(test, suite())
