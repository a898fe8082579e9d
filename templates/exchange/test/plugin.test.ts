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

// What the server answers, recorded once. `--level live` asks the real one.
const API = 'https://sideshift.ai/api/v2'
const EXPIRES = '2099-01-01T00:00:00.000Z'
const replies = {
  [`${API}/pair/btc-bitcoin/ltc-litecoin`]: '{"min":"0.0002","max":"2","rate":"700.5"}',
  [`${API}/quotes`]: `{"id":"q1","depositAmount":"0.01","settleAmount":"7.005","expiresAt":"${EXPIRES}"}`,
  [`${API}/shifts/fixed`]: '{"id":"s1","depositAddress":"bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"}',
  [`${API}/shifts/s1`]: '{"id":"s1","status":"settled","settleHash":"aa"}'
}
const { btc: from, ltc: to, ufo } = swapAssets

const cases: SwapSuiteOptions = {
  // The first valid case also has the replies that the other checks spoil, delay, cut and withhold.
  valid: [{ from, to, amount: '1000000', replies, fromNativeAmount: '1000000', toNativeAmount: '700500000' }],
  invalid: [
    { name: 'too little', from, to, amount: '500', replies, code: 'SWAP_BELOW_LIMIT', limit: '20000' },
    {
      name: 'too much',
      from,
      to,
      amount: '300000000',
      replies,
      code: 'SWAP_ABOVE_LIMIT',
      limit: '200000000'
    },
    { name: 'a coin that it does not have', from: ufo, to, amount: '1000000', replies, code: 'SWAP_CURRENCY' }
  ]
}

/** The checks of this plugin, for `holdfast plugins test`. */
export const suite = (options: SuiteOptions = {}): Suite => swapSuite(plugin, { ...cases, ...options })

testSuite(test, suite())
