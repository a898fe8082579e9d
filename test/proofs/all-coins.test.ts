import test from 'ava'
import { fakeBlockchain } from '../../testing/currency-lab.ts'
import { testCurrencyPlugin } from '../../testing/currency-suite.ts'
import { coinSuites } from '../plugins/currency/coin-suites.ts'

// One after another: all at once wait longer for the processor than a check waits for a report.
for (const [plugin, id] of coinSuites)
  testCurrencyPlugin(test.serial, () => fakeBlockchain(plugin, id), { pluginId: plugin.id })
