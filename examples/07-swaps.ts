// A swap provider of our own, rates-and-swaps.ts, beside one that ships: bitcoin for litecoin, from quote to payout.
import { setTimeout as sleep } from 'node:timers/promises'
import { createKernel, nativeAmount, type OrderReport, toDenomination } from 'holdfast'
import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
import { fakePluginOptions } from 'holdfast/fake-server/fake-plugin-options'
import { makeNodeIo } from 'holdfast/node'
import { bitcoin, litecoin } from 'holdfast/plugins/currency/utxo/plugin'
import { memoryStorage } from 'holdfast/plugins/storage/memory'
import { changenow } from 'holdfast/plugins/swap/changenow'
import { watchedShop } from './rates-and-swaps.ts'

const io = makeNodeIo()
const world = makeFakeWorld({ io })
const { authServer, infoServers, syncServers } = FAKE_ADDRESSES
const payouts = new Map<string, string>()
const orders = new Map<string, OrderReport>()
const shop = watchedShop(
  async payTo => {
    payouts.set('order-1', payTo)
    orders.set('order-1', { state: 'waiting' })
    return { orderId: 'order-1', deposit: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080' }
  },
  async orderId => orders.get(orderId)
)
const kernel = await createKernel({
  authServer,
  infoServers,
  syncServers,
  io: world.ioFor(io),
  apiKey: '',
  plugins: [memoryStorage(), bitcoin, litecoin, changenow, shop],
  // Networks, servers and keys that fit a fake world.
  pluginOptions: fakePluginOptions()
})
const account = await kernel.context.createAccount({})
const fromWallet = await account.createCurrencyWallet('wallet:bitcoin')
const toWallet = await account.createCurrencyWallet('wallet:litecoin')
world.chain.fund((await fromWallet.getReceiveAddress()).publicAddress, '5000000')
world.chain.mine(1)
while (fromWallet.balanceDetailsOf(null).spendable === '0') await sleep(20)

// Every provider is asked at once, and each quote shows when it comes; the best one is first.
const query = (satoshi: string) =>
  account.openQuoteRound({ fromWallet, toWallet, nativeAmount: nativeAmount(satoshi), quoteFor: 'from' })
const tiny = query('500')
await tiny.settled.catch((error: unknown) => console.log(`500 satoshi: ${error}`))
const round = query('1000000')
await round.settled
for (const { swapInfo, toNativeAmount } of round.quotes) {
  console.log(`${swapInfo.displayName}: ${toDenomination(toNativeAmount, '100000000')} LTC`)
}

// Only the approval orders, and only the kernel signs: what the shop wants to be paid is shown before.
const quote = round.quotes.find(({ pluginId }) => pluginId === 'cornershop')
const result = await quote?.approve({
  confirm: async ({ drafts, networkFee }) => {
    console.log(`review: ${drafts.length} payment, ${networkFee.nativeAmount} satoshi for the network`)
    return true
  }
})
console.log(`paid ${result?.orderId} with ${result?.transaction.swapData?.plugin.displayName}`)

// The shop sees its money in a block and pays out. Behind the exchanges that ship, a bot of the fake world does that.
world.chain.mine(1)
const payoutTxid = world.chains.litecoin.fund(payouts.get('order-1') ?? '', String(quote?.toNativeAmount))
orders.set('order-1', { state: 'paidOut', payoutTxid })
while (toWallet.balanceOf(null) === '0') await sleep(20)
console.log(`received ${toDenomination(toWallet.balanceOf(null), '100000000')} LTC`)

// The kernel asks by itself, too, with growing pauses.
await account.swapOrders.refresh()
for (const { orderId, state } of account.swapOrders.getSnapshot()) console.log(`${orderId} is ${state}`)
await kernel.close()
