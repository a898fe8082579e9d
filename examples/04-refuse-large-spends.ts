// A policy: it hears of every spend before a key is read, and a throw stops it.
import { setTimeout as sleep } from 'node:timers/promises'
import { createKernel, isWalletError, nativeAmount } from 'holdfast'
import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
import { makeNodeIo } from 'holdfast/node'
import { compare, type NativeAmount, type PolicyPlugin, WalletError } from 'holdfast/plugin'
import { bitcoin } from 'holdfast/plugins/currency/utxo/plugin'
import { memoryStorage } from 'holdfast/plugins/storage/memory'

/** Refuses spends of a currency above a limit in its native units, fee included. */
const spendLimit = (currency: string, limit: NativeAmount): PolicyPlugin => ({
  kind: 'policy',
  id: 'spend-limit',
  apply({ hooks, log }) {
    hooks.beforeSign.tapPromise('spend-limit', async spend => {
      if (spend.pluginId !== currency || spend.tokenId !== null) return
      if (compare(nativeAmount(spend.nativeAmount), limit) <= 0) return
      log.warn(`stopped spend ${spend.correlationId}`)
      throw new WalletError('SIGN_REFUSED', { pluginId: 'spend-limit', reason: `more than ${limit}` })
    })
  }
})

const io = makeNodeIo()
const world = makeFakeWorld({ io })
const { electrumServers, ...servers } = FAKE_ADDRESSES
const kernel = await createKernel({
  ...servers,
  io: world.ioFor(io),
  apiKey: '',
  plugins: [memoryStorage(), bitcoin, spendLimit('bitcoin', nativeAmount('1000000'))],
  pluginOptions: { bitcoin: { network: 'regtest', servers: [...electrumServers] } }
})
const account = await kernel.context.createAccount({})
const wallet = await account.createCurrencyWallet('wallet:bitcoin')
world.chain.fund((await wallet.getReceiveAddress()).publicAddress, '5000000')
world.chain.mine(1)
while (wallet.balanceDetailsOf(null).spendable === '0') await sleep(20)

for (const amount of ['200000', '2000000']) {
  const publicAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
  const spendTargets = [{ publicAddress, nativeAmount: nativeAmount(amount) }]
  const draft = await wallet.makeSpend({ tokenId: null, spendTargets })
  try {
    await wallet.spend(draft)
    console.log(`${amount}: sent`)
  } catch (error) {
    if (!isWalletError(error, 'SIGN_REFUSED')) throw error
    console.log(`${amount}: ${error.message}`)
  }
}
console.log(`unfinished spends: ${wallet.unfinishedSpends().length}`)
await kernel.close()
