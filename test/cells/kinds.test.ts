import test from 'ava'
import { fakePluginOptions } from '../../fake-server/fake-plugin-options.ts'
import { FAKE_ADDRESSES, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { nativeAmount } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { litecoin } from '../../plugins/currency/utxo/plugin.ts'
import { bundled, openCellStage } from '../helpers/cell-stage.ts'
import { openDevice, waitFor } from '../helpers/device.ts'

const RATES = `import type { RatePlugin } from 'holdfast/plugin'
import { isWalletError } from 'holdfast/plugin'
const plugin: RatePlugin = {
  kind: 'rates', id: 'prices', displayName: 'Prices', bias: -0.1,
  checkOptions: ({ apiKey }) => (apiKey === undefined ? 'it needs a key' : undefined),
  apply({ hooks, io, disk, options, log }) {
    hooks.fetchRates.tapPromise('prices', async ({ wanted, offer, signal }) => {
      await disk.setText('last', String(io.clock.now()))
      try {
        await io.fetch('https://elsewhere.example/', { signal })
      } catch (error) {
        log.info('code ' + isWalletError(error, 'NETWORK') + ' ' + options.apiKey)
      }
      offer({ fromCurrency: 'BTC', toCurrency: 'iso:USD' }, Number(await disk.getText('last')) > 1e12 ? 64_000 : 1)
    })
  }
}
export default plugin`

const SHOP = `import { nativeAmount, type SwapPlugin, WalletError } from 'holdfast/plugin'
const shop: SwapPlugin = {
  kind: 'swap', id: 'shop', displayName: 'Shop', supportEmail: 'help@shop.example',
  checkSettings: ({ token }) => ({ needsActivation: token === 'missing' }),
  apply({ hooks, io }) {
    hooks.fetchQuotes.tapPromise('shop', async context => {
      const { from, to, nativeAmount: amount } = context.request
      const tag = io.crypto.toHex(io.crypto.sha256(new Uint8Array([1, 2, 3])))
      if (!tag.startsWith('039058c6f2c0cb492c533b0a4d14ef77')) throw new Error('a wrong digest: ' + tag)
      if (BigInt(amount) < 10000n)
        throw new WalletError('SWAP_BELOW_LIMIT', { pluginId: 'shop', nativeMin: nativeAmount('10000'), direction: 'from' })
      const toNativeAmount = nativeAmount(String(BigInt(amount) * 740n))
      const spendTargets = [{ nativeAmount: amount }]
      context.offer({
        fromNativeAmount: amount, toNativeAmount, isEstimate: false,
        expirationDate: new Date(io.clock.now() + 60_000),
        networkFee: await context.feeFor([{ tokenId: null, spendTargets }]),
        payment: { order: async () => {
          const orderId = 'for ' + (await context.depositTo()).slice(0, 4)
          const paid = [{ publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', nativeAmount: amount }]
          return { orderId, spends: [{ tokenId: null, spendTargets: paid }], fromNativeAmount: amount, toNativeAmount }
        } }
      })
    })
  }
}
export default shop`

const LIMIT = `import { compare, nativeAmount, type PolicyPlugin, WalletError } from 'holdfast/plugin'
const limit: PolicyPlugin = {
  kind: 'policy', id: 'limit',
  apply({ hooks }) {
    hooks.beforeSign.tapPromise('limit', async spend => {
      if (compare(nativeAmount(spend.nativeAmount), nativeAmount('1500000')) <= 0) return
      throw new WalletError('SIGN_REFUSED', { pluginId: 'limit', reason: 'more than 1500000' })
    })
  }
}
export default limit`

const WATCH = `import type { ObserverPlugin } from 'holdfast/observer'
const watch: ObserverPlugin = {
  kind: 'observer', id: 'watch',
  apply({ hooks }) {
    hooks.spendChanged.tap('watch', ({ stage }) => console.log('spend', stage))
  }
}
export default watch`

test('contained plugins of four kinds give a price, a swap, a refusal and a watcher to a real kernel', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const [rates, shop, limit, watch] = await Promise.all([
    stage.load(await bundled(RATES), { id: 'prices', options: { apiKey: 'k' } }),
    stage.load(await bundled(SHOP), { id: 'shop', kind: 'swap' }),
    stage.load(await bundled(LIMIT), { id: 'limit', kind: 'policy' }),
    stage.load(await bundled(WATCH), { id: 'watch', kind: 'observer' })
  ])
  const io = makeNodeIo()
  const world = makeFakeWorld({ io })
  const { authServer, infoServers, syncServers } = FAKE_ADDRESSES
  const kernel = await openDevice(world, {
    ...{ authServer, infoServers, syncServers },
    plugins: [litecoin, rates, shop, limit, watch],
    pluginOptions: { ...fakePluginOptions(), prices: { apiKey: 'k' } }
  })
  t.teardown(() => kernel.close())
  const { rates: service } = kernel.context
  const stop = service.want([{ fromCurrency: 'BTC', toCurrency: 'iso:USD' }])
  await service.refresh()
  t.is(service.convertCurrency('BTC', 'iso:USD', 0.5), 32_000)
  stop()
  const account = await kernel.context.createAccount({})
  const fromWallet = await account.createCurrencyWallet('wallet:bitcoin')
  const toWallet = await account.createCurrencyWallet('wallet:litecoin')
  world.chain.fund((await fromWallet.getReceiveAddress()).publicAddress, '9000000')
  world.chain.mine(1)
  await waitFor(() => fromWallet.balanceDetailsOf(null).spendable !== '0')
  const query = (amount: string) =>
    account.openQuoteRound({ fromWallet, toWallet, nativeAmount: nativeAmount(amount), quoteFor: 'from' })
  await t.throwsAsync(query('500').settled, { code: 'SWAP_BELOW_LIMIT' } as never)
  const round = query('1000000')
  await round.settled
  const [quote] = round.quotes
  t.is(quote?.toNativeAmount, nativeAmount('740000000'))
  const paid = await quote?.approve({ confirm: async () => true })
  t.is(paid?.orderId, 'for rltc')
  const spendTargets = [
    { publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', nativeAmount: nativeAmount('2000000') }
  ]
  const draft = await fromWallet.makeSpend({ tokenId: null, spendTargets })
  await t.throwsAsync(fromWallet.spend(draft), { message: /limit refused to sign: more than 1500000/ })
  await waitFor(() => stage.seen.includes('spend saved'))
  t.deepEqual(stage.faults, [])
})
