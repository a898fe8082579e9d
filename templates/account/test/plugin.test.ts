import test from 'node:test'
import {
  type CurrencyNetwork,
  currencySuite,
  makeFakeClock,
  makeFakeNetwork,
  type Suite,
  type SuiteOptions,
  testSuite
} from 'holdfast/testing'
import { plugin } from '../src/index.ts'
import { makeLedger } from './ledger.js'

/** The network of one check: a ledger of its own, without any connection. */
const openNetwork = (): CurrencyNetwork => {
  const ledger = makeLedger()
  const { fetch } = makeFakeNetwork(() => request => ledger.answer(request), makeFakeClock())
  return {
    plugin,
    io: { fetch },
    fund: async (address, amount) => ledger.fund(address, amount),
    foreignAddress: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    someAmount: '5000'
  }
}

/** The checks of this plugin, for `holdfast plugins test`. `--level live` asks the real server, with a new wallet. */
export const suite = (options: SuiteOptions = {}): Suite =>
  currencySuite(openNetwork, { pluginId: plugin.id, ...options })

testSuite(test, suite())
