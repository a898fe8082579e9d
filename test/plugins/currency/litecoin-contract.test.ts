import test from 'ava'
import { litecoin } from '../../../plugins/currency/utxo/plugin.ts'
import { testCurrencyPlugin } from '../../contracts/currency-plugin.ts'
import { makeTestWorld } from './utxo-world.ts'

testCurrencyPlugin(test, 'litecoin', async () => {
  const world = makeTestWorld({ plugin: litecoin })
  const { tools } = await world.openWallet({ isStarted: false })
  return {
    plugin: litecoin,
    tools,
    openWallet: keys => world.openWallet(keys === undefined ? {} : { keys }),
    fund: async (address, amount) => world.chain.fund(address, amount),
    mine: async count => void world.chain.mine(count),
    reorg: async depth => world.chain.reorg(depth),
    drop: async txid => void world.chain.drop(txid),
    foreignAddress: 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh',
    someAmount: '1000000',
    dustAmount: '2000',
    close: () => world.close()
  }
})
