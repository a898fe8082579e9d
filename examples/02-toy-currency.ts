// A currency of our own: the plugin is toy-currency.ts, its network toy-ledger.ts.
import { setTimeout as sleep } from 'node:timers/promises'
import { createKernel, isWalletError, nativeAmount, toDenomination } from 'holdfast'
import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
import { makeNodeIo } from 'holdfast/node'
import { memoryStorage } from 'holdfast/plugins/storage/memory'
import { toyCurrency } from './toy-currency.ts'
import { ToyLedger } from './toy-ledger.ts'

const io = makeNodeIo()
const world = makeFakeWorld({ io })
const ledger = new ToyLedger()
const { authServer, infoServers, syncServers } = FAKE_ADDRESSES
const kernel = await createKernel({
  authServer,
  infoServers,
  syncServers,
  io: world.ioFor(io),
  apiKey: '',
  plugins: [memoryStorage(), toyCurrency(ledger)]
})
// A light account, without username and password.
const account = await kernel.context.createAccount({})
const alice = await account.createCurrencyWallet('wallet:tollar', { name: 'Alice' })
const shop = await account.createCurrencyWallet('wallet:tollar', { name: 'Shop' })

ledger.mint((await alice.getReceiveAddress()).publicAddress, '5000')
while (alice.balanceOf(null) === '0') await sleep(20)

const { publicAddress } = await shop.getReceiveAddress()
const pay = async (amount: string): Promise<void> => {
  const spendTargets = [{ publicAddress, nativeAmount: nativeAmount(amount) }]
  const tx = await alice.spend(await alice.makeSpend({ tokenId: null, spendTargets }))
  console.log(`paid ${tx.nativeAmount}, fee included`)
}
await pay('1500')
await pay('9999').catch(error => {
  if (isWalletError(error, 'INSUFFICIENT_FUNDS')) console.log(`refused: ${error.message}`)
  else throw error
})

while (shop.balanceOf(null) === '0') await sleep(20)
for (const wallet of [alice, shop]) {
  console.log(`${wallet.name}: ${toDenomination(wallet.balanceOf(null), '1000')} TOL`)
}
await kernel.close()
