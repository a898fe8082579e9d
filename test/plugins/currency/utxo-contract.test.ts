import test from 'ava'
import { bitcoin } from '../../../plugins/currency/utxo/plugin.ts'
import { testCurrencyPlugin } from '../../contracts/currency-plugin.ts'
import { makeTestWorld } from './utxo-world.ts'

testCurrencyPlugin(test, 'bitcoin', async () => {
  const world = makeTestWorld()
  const { tools } = await world.openWallet({ isStarted: false })
  return {
    plugin: bitcoin,
    tools,
    openWallet: keys => world.openWallet(keys === undefined ? {} : { keys }),
    fund: async (address, amount) => world.chain.fund(address, amount),
    mine: async count => void world.chain.mine(count),
    reorg: async depth => world.chain.reorg(depth),
    drop: async txid => void world.chain.drop(txid),
    foreignAddress: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    someAmount: '1000000',
    dustAmount: '200',
    close: () => world.close()
  }
})
