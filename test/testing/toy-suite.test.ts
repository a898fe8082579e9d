import test from 'ava'
import { toyCurrency } from '../../examples/toy-currency.ts'
import { ToyLedger } from '../../examples/toy-ledger.ts'
import { testCurrencyPlugin } from '../../testing/currency-suite.ts'
import { gemNetwork } from './gem-network.ts'

const openToyNetwork = () => {
  const ledger = new ToyLedger()
  return {
    plugin: toyCurrency(ledger),
    async fund(address: string, amount: string) {
      ledger.mint(address, amount)
      return ledger.historyOf(address).at(-1)?.txid ?? ''
    },
    foreignAddress: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    someAmount: '5000'
  }
}

testCurrencyPlugin(test, openToyNetwork, { pluginId: 'tollar' })
testCurrencyPlugin(test, () => gemNetwork(), { pluginId: 'gems' })
const signing = { curve: 'secp256k1', keyName: 'gemKey' } as const
testCurrencyPlugin(test, () => gemNetwork(undefined, signing), { pluginId: 'gems without keys' })
