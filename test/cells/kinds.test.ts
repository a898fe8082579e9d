import test from 'ava'
import { fakePluginOptions } from '../../fake-server/fake-plugin-options.ts'
import { FAKE_ADDRESSES, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { nativeAmount } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { litecoin } from '../../plugins/currency/utxo/plugin.ts'
import { bundled, openCellStage } from '../helpers/cell-stage.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { LIMIT, RATES, SHOP, WATCH } from '../helpers/plugin-sources.ts'

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
