import test from 'ava'
import { utxoCurrencies } from '../../../plugins/currency/utxo/all-coins.ts'
import { fakeBlockchain } from '../../../testing/currency-lab.ts'
import { testCurrencyPlugin } from '../../../testing/currency-suite.ts'
import { coinSuites } from './coin-suites.ts'

// All at level full: test/proofs/all-coins.test.ts. Bitcoin Cash signs in a way of its own; the test networks add no code.
for (const [plugin, id] of coinSuites) {
  if (plugin.id.endsWith('testnet')) continue
  const level = id === 'bitcoincash' ? 'full' : 'quick'
  testCurrencyPlugin(test.serial, () => fakeBlockchain(plugin, id), { pluginId: plugin.id, level })
}

test('the conformance suite is run for every currency of the family', t => {
  // These two have files of their own.
  const ids = ['bitcoin', 'litecoin', ...coinSuites.map(([{ id }]) => id)]
  t.deepEqual(ids.sort(), utxoCurrencies.map(({ id }) => id).sort())
})
