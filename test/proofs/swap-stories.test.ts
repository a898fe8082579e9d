import test from 'ava'
import { cutReplies } from '../../fake-server/base/faults.ts'
import { nativeAmount, type SwapPlugin, type SwapReview } from '../../kernel/index.ts'
import { changenow } from '../../plugins/swap/changenow.ts'
import { letsexchange } from '../../plugins/swap/letsexchange.ts'
import { sideshift } from '../../plugins/swap/sideshift.ts'
import { thorchain } from '../../plugins/swap/thorchain.ts'
import { transfer } from '../../plugins/swap/transfer.ts'
import { waitFor } from '../helpers/device.ts'
import { openTrader, RICH } from '../helpers/swap-trader.ts'

type ExchangeId = 'changenow' | 'sideshift' | 'letsexchange'

/** Where each exchange shows an order, and what it calls an order that is waited for and one that is done. */
const EXCHANGES: readonly {
  readonly plugin: SwapPlugin & { readonly id: string }
  readonly id: ExchangeId
  readonly pageOf: (orderId: string) => string
  readonly words: readonly [waiting: string, confirming: string, done: string]
}[] = [
  {
    plugin: changenow,
    id: 'changenow',
    pageOf: id => `https://api.changenow.io/v2/exchange/by-id?id=${id}`,
    words: ['waiting', 'confirming', 'finished']
  },
  {
    plugin: sideshift,
    id: 'sideshift',
    pageOf: id => `https://sideshift.ai/api/v2/shifts/${id}`,
    words: ['waiting', 'pending', 'settled']
  },
  {
    plugin: letsexchange,
    id: 'letsexchange',
    pageOf: id => `https://api.letsexchange.io/api/v1/transaction/${id}`,
    words: ['wait', 'confirmation', 'success']
  }
]

for (const { plugin, id, pageOf, words } of EXCHANGES) {
  test(`${id}: a swap of bitcoin for litecoin is quoted, ordered, paid, paid out on the other chain and recorded`, async t => {
    const trader = await openTrader([plugin])
    const { world, account, btc, ltc } = trader
    const quote = await account.fetchSwapQuote(trader.swapRequest())
    t.deepEqual(world.swaps[id].orders, [])
    const statuses: unknown[] = []
    const reviews: SwapReview[] = []
    const { transaction, orderId, destinationAddress } = await quote.approve({
      confirm: async review => {
        reviews.push(review)
        statuses.push((await trader.page(pageOf(review.orderId ?? ''))).status)
        return true
      }
    })
    t.is(world.swaps[id].orders.length, 1)
    t.is(reviews[0]?.destinationAddress, destinationAddress)
    statuses.push((await trader.page(pageOf(orderId ?? ''))).status)
    t.deepEqual(await ltc.getTransactions(), [])

    world.chain.mine(1)
    await waitFor(() => ltc.balanceOf(null) === quote.toNativeAmount)
    statuses.push((await trader.page(pageOf(orderId ?? ''))).status)
    t.deepEqual(statuses, [...words])
    const [payout] = await ltc.getTransactions()
    t.is(payout?.nativeAmount, quote.toNativeAmount)
    t.is(payout?.txid, world.swaps[id].orders[0]?.payoutTxid)

    const { swapData } = await btc.getTransaction(transaction.txid)
    t.is(swapData?.orderId, orderId)
    t.is(swapData?.plugin.pluginId, id)
    t.is(swapData?.payoutWalletId, ltc.id)
    t.is(swapData?.payoutNativeAmount, quote.toNativeAmount)
    t.true(swapData?.orderUri?.includes(orderId ?? 'none') ?? false)
    await trader.close()
  })

  test(`${id}: an amount to receive arrives exactly, and the rest of the wallet can be swapped afterwards`, async t => {
    const trader = await openTrader([plugin])
    const { world, account, btc, ltc } = trader
    const wanted = nativeAmount('123456789')
    const first = await account.fetchSwapQuote({
      ...trader.swapRequest(),
      quoteFor: 'to',
      nativeAmount: wanted
    })
    t.is(first.toNativeAmount, wanted)
    await first.approve()
    world.chain.mine(1)
    await waitFor(() => ltc.balanceOf(null) === wanted)
    const left = BigInt(btc.balanceOf(null))
    const all = await account.fetchSwapQuote({ ...trader.swapRequest(), quoteFor: 'max' })
    t.true(BigInt(all.fromNativeAmount) * 100n > left * 99n)
    await all.approve()
    world.chain.mine(1)
    const total = BigInt(wanted) + BigInt(all.toNativeAmount)
    await waitFor(() => ltc.balanceOf(null) === String(total))
    t.true(BigInt(btc.balanceOf(null)) < 1000n)
    await trader.close()
  })

  test(`${id}: a wrong chain, a changed price, an expired quote and a second approval are refused before the signature`, async t => {
    const trader = await openTrader([plugin])
    const { world, account, btc } = trader
    const { behaviour } = world.swaps[id]
    const misled = await account.fetchSwapQuote(trader.swapRequest())
    behaviour.isPayInWrong = true
    await t.throwsAsync(misled.approve(), { code: 'SWAP_CHANGED', message: /none of Bitcoin/ })
    behaviour.isPayInWrong = false

    const moved = await account.fetchSwapQuote(trader.swapRequest())
    const dearer = await account.fetchSwapQuote({ ...trader.swapRequest('100000000'), quoteFor: 'to' })
    behaviour.driftBasisPoints = 200
    await t.throwsAsync(moved.approve(), { code: 'SWAP_CHANGED', message: /gives \d+ native units, less/ })
    await t.throwsAsync(dearer.approve(), { code: 'SWAP_CHANGED', message: /costs \d+ native units/ })
    behaviour.driftBasisPoints = 0

    const late = await account.fetchSwapQuote(trader.swapRequest())
    const ordered = world.swaps[id].orders.length
    world.clock.skip(601_000)
    await t.throwsAsync(late.approve(), { code: 'QUOTE_ENDED' })
    const closed = await account.fetchSwapQuote(trader.swapRequest())
    await closed.close()
    await t.throwsAsync(closed.approve(), { code: 'QUOTE_ENDED' })
    t.is(world.swaps[id].orders.length, ordered)
    await assertUnspent(t, btc)

    const quote = await account.fetchSwapQuote(trader.swapRequest())
    // Who says that less is enough gets it.
    behaviour.driftBasisPoints = 200
    const least = (BigInt(quote.toNativeAmount) * 97n) / 100n
    await quote.approve({ minReceive: nativeAmount(String(least)) })
    await t.throwsAsync(quote.approve(), { code: 'QUOTE_ENDED' })
    t.is(world.swaps[id].orders.length, ordered + 1)
    await trader.close()
  })
}

test('garbage, silence and a refusal of some providers do not affect the quotes of the others', async t => {
  const trader = await openTrader([transfer, changenow, sideshift, letsexchange])
  const { world, account, btc } = trader
  world.providers.use(cutReplies, 'sideshift')
  let release = (): void => {}
  const gate = new Promise<void>(resolve => {
    release = resolve
  })
  const stop = world.providers.use(async (_request, next) => {
    await gate
    return next()
  }, 'letsexchange')
  const hurried = account.openQuoteRound(trader.swapRequest(), { waitMs: 1 })
  t.deepEqual(
    (await hurried.settled).map(({ pluginId }) => pluginId),
    ['changenow']
  )
  t.is(hurried.getSnapshot().providers.find(each => each.pluginId === 'letsexchange')?.state, 'timed out')
  hurried.close()

  const round = account.openQuoteRound(trader.swapRequest())
  await waitFor(() => round.quotes.length === 1)
  stop()
  release()
  await round.settled
  const states = Object.fromEntries(round.getSnapshot().providers.map(each => [each.pluginId, each]))
  t.is(states.transfer?.errorCode, 'SWAP_CURRENCY')
  t.is(states.sideshift?.errorCode, 'BAD_REPLY')
  t.is(states.letsexchange?.state, 'resolved')
  // The one of the smaller share is the better one.
  t.deepEqual(
    round.quotes.map(({ pluginId }) => pluginId),
    ['changenow', 'letsexchange']
  )
  round.close()
  await assertUnspent(t, btc)
  await trader.close()
})

test('thorchain: bitcoin is sent to a vault with a memo, and litecoin comes out of the other one', async t => {
  const trader = await openTrader([thorchain])
  const { world, account, btc, ltc } = trader
  const quote = await account.fetchSwapQuote({ ...trader.swapRequest(), quoteFor: 'max' })
  t.true(quote.isEstimate)
  const reviews: SwapReview[] = []
  const { transaction, destinationAddress } = await quote.approve({
    confirm: async review => {
      reviews.push(review)
      return true
    }
  })
  t.is(destinationAddress, world.swaps.thorchain.addressOn('bitcoin'))
  const { publicAddress } = await ltc.getReceiveAddress()
  const memo = `=:l:${publicAddress}:${quote.minReceiveAmount}/1/0`
  t.deepEqual(
    transaction.memos.map(({ value }) => value),
    [memo]
  )
  t.is(reviews[0]?.networkFee.nativeAmount, transaction.networkFee)
  const { tx } = world.chain.view.find(transaction.txid) ?? {}
  // The vault first, the memo second, nothing left to give back.
  t.is(tx?.outputs.length, 2)
  t.is(String(tx?.outputs[0]?.amount), quote.fromNativeAmount)
  t.is(tx?.outputs[1]?.script[0], 0x6a)

  world.chain.mine(1)
  await waitFor(() => ltc.balanceOf(null) === quote.toNativeAmount)
  const page = await trader.page(
    `https://midgard.ninerealms.com/v2/actions?txid=${transaction.txid.toUpperCase()}`
  )
  t.like((page.actions as readonly object[])[0], { type: 'swap', status: 'success' })
  t.is((await btc.getTransaction(transaction.txid)).swapData?.plugin.pluginId, 'thorchain')
  await trader.close()
})

test('thorchain: a price that falls while the payment waits for its block sends the money back', async t => {
  const trader = await openTrader([thorchain])
  const { world, account, btc, ltc } = trader
  const quote = await account.fetchSwapQuote(trader.swapRequest())
  const { transaction } = await quote.approve()
  const paid = BigInt(RICH) + BigInt(transaction.nativeAmount)
  world.providers.market.setPrice('LTC', '90')
  world.chain.mine(1)
  const refunded = paid + BigInt(quote.fromNativeAmount)
  await waitFor(() => btc.balanceOf(null) === String(refunded))
  t.is(world.swaps.thorchain.actions[0]?.type, 'refund')
  t.deepEqual(await ltc.getTransactions(), [])
  await trader.close()
})

test('coins move between two wallets of one currency as a transfer, without a provider fee', async t => {
  const trader = await openTrader([transfer, thorchain])
  const { world, account, btc } = trader
  const other = await account.createCurrencyWallet('wallet:bitcoin')
  const quote = await account.fetchSwapQuote({ ...trader.swapRequest(), toWallet: other })
  t.is(quote.pluginId, 'transfer')
  t.is(quote.toNativeAmount, quote.fromNativeAmount)
  const { transaction } = await quote.approve()
  world.chain.mine(1)
  await waitFor(() => other.balanceOf(null) === quote.toNativeAmount)
  t.is((await btc.getTransaction(transaction.txid)).swapData?.payoutWalletId, other.id)
  await trader.close()
})

const assertUnspent = async (
  t: { is(actual: unknown, expected: unknown): void },
  wallet: { balanceOf(tokenId: null): string; getTransactions(): Promise<readonly unknown[]> }
): Promise<void> => {
  t.is(wallet.balanceOf(null), RICH)
  t.is((await wallet.getTransactions()).length, 1)
}
