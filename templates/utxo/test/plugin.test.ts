import test from 'node:test'
import { currencySuite, fakeBlockchain, type Suite, type SuiteOptions, testSuite } from 'holdfast/testing'
import { plugin } from '../src/index.ts'

/**
 * The checks of this plugin, for `holdfast plugins test`. Each check gets an empty chain in memory, with an
 * Electrum server. `--level live` asks the servers that the plugin names, with a new wallet, and sends nothing.
 */
export const suite = (options: SuiteOptions = {}): Suite =>
  currencySuite(() => fakeBlockchain(plugin, 'bitcoin'), { pluginId: plugin.id, ...options })

testSuite(test, suite())
