// An account, a wallet, a payment, a note, and a second device that sees it all. Nothing leaves this process.
import { setTimeout as sleep } from 'node:timers/promises'
import { createKernel, type Kernel, nativeAmount } from 'holdfast'
import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
import { makeNodeIo } from 'holdfast/node'
import { bitcoin } from 'holdfast/plugins/currency/utxo/plugin'
import { memoryStorage } from 'holdfast/plugins/storage/memory'

const io = makeNodeIo()
const world = makeFakeWorld({ io })

// Each kernel with the io of one world is a device of its own in that world.
const openDevice = (deviceDescription: string): Promise<Kernel> => {
  const { electrumServers, ...servers } = FAKE_ADDRESSES
  return createKernel({
    ...servers,
    io: world.ioFor(io),
    apiKey: '',
    deviceDescription,
    plugins: [memoryStorage(), bitcoin],
    pluginOptions: { bitcoin: { network: 'regtest', servers: [...electrumServers] } }
  })
}

const phone = await openDevice('phone')
const account = await phone.context.createAccount({ username: 'alice', password: 'correct horse battery' })
const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
const { publicAddress } = await wallet.getReceiveAddress()
console.log(`receive on ${publicAddress}`)

world.chain.fund(publicAddress, '5000000')
world.chain.mine(1)
while (wallet.balanceDetailsOf(null).spendable === '0') await sleep(20)
console.log(`balance ${wallet.balanceOf(null)} satoshi`)

const draft = await wallet.makeSpend({
  tokenId: null,
  spendTargets: [
    {
      publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
      nativeAmount: nativeAmount('1250000')
    }
  ],
  metadata: { name: 'Landlady' }
})
// This is the moment to show the draft to a person. Up to here, nothing is signed.
console.log(`review: ${draft.nativeAmount} satoshi, of which ${draft.networkFee} are the fee`)
const { txid } = await wallet.spend(draft)
world.chain.mine(1)
while ((await wallet.getTransaction(txid)).confirmations !== 'confirmed') await sleep(20)
await wallet.saveTxMetadata(txid, { notes: 'Rent for October' })
await account.sync()
await phone.close()

const laptop = await openDevice('laptop')
const again = await laptop.context.loginWithPassword('alice', 'correct horse battery')
const same = await again.openWallet(wallet.id)
while ((await same.getTransactions()).length < 2) await sleep(20)
const { metadata } = await same.getTransaction(txid)
console.log(`second device: "${same.name}", ${metadata.name}: ${metadata.notes}`)
await laptop.close()
