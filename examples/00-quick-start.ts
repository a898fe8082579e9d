import { setTimeout as sleep } from 'node:timers/promises'
import { createKernel, nativeAmount } from 'holdfast'
import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
import { makeNodeIo } from 'holdfast/node'
import { bitcoin } from 'holdfast/plugins/currency/utxo/plugin'
import { memoryStorage } from 'holdfast/plugins/storage/memory'

const io = makeNodeIo()
const world = makeFakeWorld({ io })
const { electrumServers, ...servers } = FAKE_ADDRESSES
const kernel = await createKernel({
  ...servers,
  io: world.ioFor(io),
  apiKey: '',
  plugins: [memoryStorage(), bitcoin],
  pluginOptions: { bitcoin: { network: 'regtest', servers: [...electrumServers] } }
})
const account = await kernel.context.createAccount({ username: 'alice', password: 'correct horse battery' })
const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
world.chain.fund((await wallet.getReceiveAddress()).publicAddress, '5000000')
world.chain.mine(1)
while (wallet.balanceDetailsOf(null).spendable === '0') await sleep(20)

const publicAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const spendTargets = [{ publicAddress, nativeAmount: nativeAmount('1250000') }]
const tx = await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
console.log(`sent ${tx.txid}, fee ${tx.networkFee} satoshi`)
await kernel.close()
