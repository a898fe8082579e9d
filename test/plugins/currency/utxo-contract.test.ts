import test from 'ava'
import { bitcoin } from '../../../plugins/currency/utxo/plugin.ts'
import { fakeBlockchain } from '../../../testing/currency-lab.ts'
import { testCurrencyPlugin } from '../../../testing/currency-suite.ts'

testCurrencyPlugin(test, () => fakeBlockchain(bitcoin, 'bitcoin'), { pluginId: 'bitcoin' })
