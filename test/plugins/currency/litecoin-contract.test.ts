import test from 'ava'
import { parseAddress } from '../../../plugins/currency/utxo/chain/address.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { bitcoin, litecoin } from '../../../plugins/currency/utxo/plugin.ts'
import { fakeBlockchain } from '../../../testing/currency-lab.ts'
import { testCurrencyPlugin } from '../../../testing/currency-suite.ts'
import { makeTestWorld, until } from './utxo-world.ts'

testCurrencyPlugin(test, () => fakeBlockchain(litecoin, 'litecoin'), { pluginId: 'litecoin' })

for (const [plugin, row, other] of [
  [litecoin, litecoinRow, bitcoin],
  [bitcoin, bitcoinRow, litecoin]
] as const) {
  test(`a wallet of ${plugin.id} refuses what a server of ${other.id} reports for its scripts`, async t => {
    const { chain, close } = makeTestWorld({ plugin: other })
    const world = makeTestWorld({ plugin, chain })
    t.teardown(() => Promise.all([close(), world.close()]))
    const { engine, reported, balance } = await world.openWallet({ isStarted: false })
    const { publicAddress } = await engine.getFreshAddress({ tokenId: null })
    const regtest = row.networks.find(({ name }) => name === 'regtest') ?? row.networks[0]
    chain.fund(parseAddress(row, regtest, publicAddress).script, '700000')
    chain.mine()
    await engine.startEngine()
    const hasLeft = (): boolean => reported.statuses.some(text => /is not of regtest/.test(text))
    await until('it has left, or was taken in', () => hasLeft() || balance() === '700000')
    t.true(hasLeft())
    t.is(balance(), '0')
    t.deepEqual(reported.heights, [])
  })
}
