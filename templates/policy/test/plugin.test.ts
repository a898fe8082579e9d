import test from 'node:test'
import {
  type PolicySuiteOptions,
  policySuite,
  type Suite,
  type SuiteOptions,
  testSuite
} from 'holdfast/testing'
import { plugin } from '../src/index.ts'

// Fields that are left out are those of a payment of 0.01 BTC.
const cases: PolicySuiteOptions = {
  valid: [
    { name: 'the limit', spend: { nativeAmount: '1000000' } },
    { name: 'another currency', spend: { pluginId: 'tollar', nativeAmount: '999999999' } },
    { name: 'a token', spend: { tokenId: 'usdc', nativeAmount: '999999999' } },
    { name: 'synchronising', spend: { use: 'sync', nativeAmount: '0' } }
  ],
  invalid: [
    { name: 'one more', spend: { nativeAmount: '1000001' }, reason: 'more than 1000000' },
    {
      name: 'more than the owner allows',
      spend: { nativeAmount: '5001' },
      options: { bitcoin: '5000' },
      reason: 'more than 5000'
    }
  ]
}

/** The checks of this plugin, for `holdfast plugins test`. */
export const suite = (options: SuiteOptions = {}): Suite => policySuite(plugin, { ...cases, ...options })

testSuite(test, suite())
