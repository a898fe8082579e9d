import test from 'ava'
import { answerInstead } from '../../../fake-server/base/faults.ts'
import type { FakeExchange } from '../../../fake-server/providers/swap/fake-exchange.ts'
import { isWalletError, type JsonObject, type SwapPlugin } from '../../../kernel/index.ts'
import { changenow } from '../../../plugins/swap/changenow.ts'
import { letsexchange } from '../../../plugins/swap/letsexchange.ts'
import { sideshift } from '../../../plugins/swap/sideshift.ts'
import { mayaprotocol, thorchain } from '../../../plugins/swap/thorchain.ts'
import { transfer } from '../../../plugins/swap/transfer.ts'
import { waitFor } from '../../helpers/device.ts'
import { DEPOSIT_TO, offerOf, openSwapHome, orderOf, type SwapHome } from '../../helpers/swap-context.ts'
import { openWaitingTrader } from '../../helpers/swap-trader.ts'

interface Row {
  readonly id: 'changenow' | 'letsexchange' | 'sideshift'
  readonly plugin: SwapPlugin
  readonly options: JsonObject
  /** What it says while its payout is due. */
  readonly due: 'exchanging' | 'sending'
  /** What a reply with a word of ours for the state looks like. */
  readonly secret: string
}

const ROWS: readonly Row[] = [
  {
    id: 'changenow',
    plugin: changenow,
    options: { apiKey: 'key-91c4' },
    due: 'exchanging',
    secret: 'key-91c4'
  },
  {
    ...{ id: 'letsexchange', plugin: letsexchange, options: { apiKey: 'key-91c4' } },
    ...{ due: 'exchanging', secret: 'key-91c4' }
  },
  {
    ...{ id: 'sideshift', plugin: sideshift, options: { affiliateId: 'affiliate7', secret: 'secret-7c1f' } },
    ...{ due: 'sending', secret: 'secret-7c1f' }
  }
]

/** Orders 0.01 BTC worth of LTC. */
const ordered = async ({ id, plugin, options }: Row) => {
  const home = openSwapHome(plugin, options)
  const exchange: FakeExchange = home.world.swaps[id]
  const order = await orderOf(await offerOf(home.query({})))
  const [spend] = order.spends
  const [{ publicAddress = '', nativeAmount: amount = '0' } = {}] = spend?.spendTargets ?? []
  const { orderId = '' } = order
  return {
    ...{ home, exchange, orderId },
    pay: () => home.world.chain.fund(publicAddress, amount),
    watch: () => home.watch({ orderId })
  }
}

const assertNoSecret = (home: SwapHome, secret: string): boolean =>
  home.sent.every(({ url }) => !url.includes(secret)) && home.logged.every(line => !line.includes(secret))

for (const row of ROWS) {
  const { id, plugin, options, due, secret } = row

  test(`${id}: an order is followed from the payment to the payout, whose txid is that on the chain`, async t => {
    const { home, exchange, pay, watch, orderId } = await ordered(row)
    exchange.behaviour.exchangeMs = 5000
    t.deepEqual(await watch(), { state: 'waiting', payoutTxid: undefined, refundTxid: undefined })
    pay()
    t.is((await watch()).state, 'seen')
    home.world.chain.mine(1)
    t.is((await watch()).state, due)
    await home.clock.advance(5000)
    const { state, payoutTxid } = await watch()
    t.is(state, 'paidOut')
    t.is(payoutTxid, exchange.order(orderId)?.payoutTxid)
    t.truthy(home.world.chains.litecoin.view.find(payoutTxid ?? ''))
    t.true(assertNoSecret(home, secret))
  })

  test(`${id}: an order that is sent back is refunded, with the txid of the refund`, async t => {
    const { home, exchange, pay, watch } = await ordered(row)
    exchange.behaviour.isRefunding = true
    pay()
    home.world.chain.mine(1)
    await home.clock.advance(1)
    const { state, payoutTxid, refundTxid } = await watch()
    t.deepEqual([state, payoutTxid], ['refunded', undefined])
    t.truthy(home.world.chain.view.find(refundTxid ?? ''))
  })

  test(`${id}: an order that nobody pays is late, and one that it does not have is unknown`, async t => {
    const { home, watch } = await ordered(row)
    await home.clock.advance(601_000)
    t.is((await watch()).state, 'late')
    t.is((await home.watch({ orderId: 'another/../one' })).state, 'unknown')
    const { length } = home.sent
    t.is((await home.watch({})).state, 'unknown')
    t.is(home.sent.length, length)
  })

  test(`${id}: a state that it should not have, no state and a failure are refused`, async t => {
    const { home, watch } = await ordered(row)
    const port = { clock: home.clock, random: () => 0 }
    const replies: readonly (readonly [status: number, body: string, code: string])[] = [
      [200, '{"status":"constructor"}', 'BAD_REPLY'],
      [200, '{"status":7}', 'BAD_REPLY'],
      [200, '{}', 'BAD_REPLY'],
      [200, '[', 'BAD_REPLY'],
      [400, '{"error":"no"}', 'SERVER'],
      [500, '', 'SERVER']
    ]
    for (const [status, body, code] of replies) {
      const stop = home.world.providers.use(answerInstead(port, { status, headers: {}, body }), id)
      const error = await t.throwsAsync(watch())
      t.true(isWalletError(error) && error.code === code, `${status} ${body}: ${error?.message}`)
      stop()
    }
    t.is((await watch()).state, 'waiting')
  })

  test(`${id}: without its key no order is asked for, and the key of the user goes before that of the application`, async t => {
    const bare = openSwapHome(plugin, {})
    await t.throwsAsync(bare.watch({ orderId: 'a' }), { code: 'SWAP_PERMISSION' })
    t.deepEqual(bare.sent, [])
    const own = openSwapHome(plugin, options)
    const userSettings = { apiKey: 'of-the-user', affiliateId: 'of-the-user', secret: 'of-the-user' }
    await own.watch({ orderId: 'a', userSettings })
    t.true(JSON.stringify(own.sent.at(-1)?.options.headers).includes('of-the-user'))
  })
}

for (const plugin of [thorchain, mayaprotocol]) {
  test(`${plugin.id}: a payment is followed by its txid`, async t => {
    const home = openSwapHome(plugin)
    const vault = home.world.swaps[plugin.id as 'thorchain' | 'mayaprotocol']
    vault.behaviour.exchangeMs = 5000
    const txid = home.world.chain.fund(vault.addressOn('bitcoin'), '50000')
    t.deepEqual(await home.watch({ txid }), { state: 'waiting' })
    home.world.chain.mine(1)
    t.deepEqual(await home.watch({ txid }), { state: 'exchanging' })
    await home.clock.advance(5000)
    // Without a memo the network sends it back.
    const { state, refundTxid } = await home.watch({ txid })
    t.is(state, 'refunded')
    t.truthy(home.world.chain.view.find(refundTxid ?? ''))
  })
}

test('thorchain: of several payments the one to the user counts, and txids are as their chains write them', async t => {
  const home = openSwapHome(thorchain)
  const port = { clock: home.clock, random: () => 0 }
  const out = (txID: string, address: string, asset: string) => ({ txID, address, coins: [{ asset }] })
  const watchOf = async (actions: unknown, payoutAddress: string) => {
    const body = JSON.stringify({ actions })
    const stop = home.world.providers.use(
      answerInstead(port, { status: 200, headers: {}, body }),
      'thorchain'
    )
    const report = await home.watch({ payoutAddress }).finally(stop)
    return report
  }
  const swap = {
    type: 'swap',
    status: 'success',
    out: [
      out('AA01', 'thor1affiliate', 'THOR.RUNE'),
      out('BB02', '0xMe', 'ETH.ETH'),
      out('CC03', 'rMe', 'XRP.XRP')
    ]
  }
  const refund = { type: 'refund', status: 'success', out: [out('DD04', DEPOSIT_TO.bitcoin, 'BTC.BTC')] }
  t.is((await watchOf([refund, swap], '0xMe')).payoutTxid, '0xbb02')
  t.is((await watchOf([swap], 'rMe')).payoutTxid, 'CC03')
  t.is((await watchOf([swap], 'nobody')).payoutTxid, 'AA01')
  t.is((await watchOf([refund], '0xMe')).refundTxid, 'dd04')
  t.is((await watchOf([{ ...refund, status: 'pending' }], '0xMe')).state, 'failed')
  for (const actions of [undefined, {}, [7], Array(101).fill(swap), [{ ...swap, out: undefined }]])
    await t.throwsAsync(watchOf(actions, '0xMe'), { code: 'BAD_REPLY' })
})

test('a swap of real coins is followed until the payout is in the receiving wallet', async t => {
  const trader = await openWaitingTrader([transfer, changenow, thorchain])
  const { world, account, ltc, clock, until } = trader
  const { swapOrders } = account
  const pass = (isTrue: () => boolean): Promise<void> =>
    waitFor(async () => {
      await clock.advance(2000)
      return isTrue()
    })
  const swapWith = async (pluginId: string) => {
    const disabled = ['transfer', 'changenow', 'thorchain'].filter(id => id !== pluginId)
    const fetching = account.fetchSwapQuote(trader.swapRequest('400000'), { disabled })
    let quote: Awaited<typeof fetching> | undefined
    void fetching.then(found => {
      quote = found
    })
    await until(() => quote !== undefined)
    const paying = (await fetching).approve()
    let isPaid = false
    void paying.then(() => {
      isPaid = true
    })
    await until(() => isPaid)
    return (await paying).transaction.txid
  }
  for (const pluginId of ['changenow', 'thorchain']) {
    const txid = await swapWith(pluginId)
    t.is(swapOrders.find(txid)?.state, 'waiting')
    world.chain.mine(1)
    await pass(() => swapOrders.find(txid)?.state === 'paidOut')
    const payoutTxid = swapOrders.find(txid)?.payoutTxid ?? ''
    await until(async () => (await ltc.getTransactions()).some(each => each.txid === payoutTxid))
    t.pass(`${pluginId} at ${clock.now()}`)
  }
  const closing = trader.close()
  await clock.advance(60_000)
  await closing
})
