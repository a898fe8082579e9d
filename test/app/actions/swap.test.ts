import test from 'ava'
import type { KernelActionHandler } from '../../../app/actions/actions.ts'
import { swapActions } from '../../../app/actions/swaps.ts'
import { nativeAmount } from '../../../kernel/index.ts'
import { changenow } from '../../../plugins/swap/changenow.ts'
import { thorchain } from '../../../plugins/swap/thorchain.ts'
import { type ActionStage, makeRich, openStage, PASSWORD } from '../../helpers/action-stage.ts'
import { waitFor } from '../../helpers/device.ts'

interface Trade {
  readonly accountId: string
  readonly walletId: string
  readonly toWalletId: string
  /** Asks for quotes, and waits for the one of ChangeNOW. */
  query(runAction?: KernelActionHandler, pluginId?: string): Promise<{ roundId: string; quoteId: string }>
  /** What has become of the quote of a round. */
  fateOf(roundId: string): string | undefined
  /** How many payments have left the wallet. */
  sentCount(): Promise<number>
}

const openTrade = async (stage: ActionStage): Promise<Trade> => {
  const { runAction: first, quotes } = stage
  const { accountId, walletId } = await makeRich(stage)
  const { walletId: toWalletId } = await first('wallet.create', { accountId, walletType: 'wallet:litecoin' })
  const swapRequest = {
    fromWalletId: walletId,
    toWalletId,
    nativeAmount: '1000000',
    quoteFor: 'from' as const
  }
  return {
    ...{ accountId, walletId, toWalletId },
    async query(runAction = first, pluginId = 'changenow') {
      const { roundId } = await runAction('swap.ask', swapRequest)
      const idOf = (): string | undefined => quotes.get(`${roundId} ${pluginId}`)?.quoteId
      await waitFor(() => idOf() !== undefined)
      return { roundId, quoteId: idOf() ?? '' }
    },
    fateOf: roundId => quotes.get(`${roundId} changenow`)?.fate,
    sentCount: async () =>
      (await stage.wallet(walletId).getTransactions()).filter(({ isSend }) => isSend).length
  }
}

test('a swap runs from the request to both chains by actions alone: the reviewed order is paid once', async t => {
  const stage = await openStage(t, [changenow])
  const { runAction, world } = stage
  const { walletId, toWalletId, query, fateOf, sentCount } = await openTrade(stage)
  const { roundId, quoteId } = await query()
  const { draftId, review } = await runAction('swap.review', { quoteId })
  const [order] = world.swaps.changenow.orders
  t.is(await sentCount(), 0)
  t.is(review.provider, 'changenow')
  t.is(review.walletId, walletId)
  t.deepEqual([review.currencyCode, review.toCurrencyCode], ['BTC', 'LTC'])
  t.is(review.nativeAmount, '1000000')
  t.true(BigInt(review.networkFee) > 0n)
  t.is(review.targets.length, 1)
  t.is(review.targets[0]?.nativeAmount, '1000000')
  t.is(review.payoutAddress, (await runAction('wallet.receive', { walletId: toWalletId })).publicAddress)
  t.true(BigInt(review.minReceive ?? 0) > 0n)
  t.is(typeof review.isEstimate, 'boolean')
  t.is(review.orderId, order?.id)
  t.deepEqual(
    [review.isOwnCheckComplete, review.allowances, review.openPayments],
    [true, undefined, undefined]
  )
  t.deepEqual(JSON.parse(JSON.stringify(review)), review)

  const [first, second] = await Promise.allSettled([
    runAction('swap.approve', { draftId }),
    runAction('swap.approve', { draftId })
  ])
  t.is(second.status === 'rejected' && second.reason.code, 'GONE')
  if (first.status === 'rejected') return t.fail(String(first.reason))
  t.is(first.value.orderId, order?.id)
  t.is(fateOf(roundId), 'approved')
  t.is(await sentCount(), 1)
  await t.throwsAsync(runAction('swap.approve', { draftId }), { code: 'GONE' })
  await t.throwsAsync(runAction('swap.discard', { draftId }), { code: 'GONE' })
  await t.throwsAsync(runAction('swap.review', { quoteId }), { code: 'QUOTE_ENDED' })
  t.deepEqual(await runAction('swap.close', { roundId }), {})
  await t.throwsAsync(runAction('swap.close', { roundId }), { code: 'GONE' })

  const { swapData } = await stage.wallet(walletId).getTransaction(first.value.txid)
  t.is(swapData?.orderId, first.value.orderId)
  await runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  await waitFor(
    () => stage.wallet(toWalletId).balanceOf(null) === nativeAmount(swapData?.payoutNativeAmount ?? '0')
  )
  t.is(await sentCount(), 1)
})

test('a review shows the memo with the payout address, and promises no more than the provider', async t => {
  const stage = await openStage(t, [changenow, thorchain])
  const { runAction } = stage
  const { query } = await openTrade(stage)
  const { quoteId } = await query(runAction, 'thorchain')
  const { review } = await runAction('swap.review', { quoteId })
  t.is(review.untrusted?.memos?.length, 1)
  t.true(review.untrusted?.memos?.[0]?.includes(review.payoutAddress ?? 'nowhere'))
  const quote = [...stage.quotes.values()].find(one => one.quoteId === quoteId)
  t.true(review.isEstimate)
  t.is(review.minReceive, quote?.minReceiveAmount)
  t.true(BigInt(review.minReceive ?? 0) > 0n)
  const plain = await runAction('swap.review', await query())
  t.is(plain.review.untrusted?.memos, undefined)
  t.is(plain.review.isEstimate, false)
  t.is(plain.review.minReceive, plain.review.toNativeAmount)
})

test('a swap that would pay the same to the same payee again is paid only after a yes to the open payment', async t => {
  const stage = await openStage(t, [thorchain])
  const { runAction } = stage
  const { query, sentCount, walletId } = await openTrade(stage)
  await runAction('world.fund', { walletId, nativeAmount: '5000000' })
  await runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  await waitFor(() => stage.wallet(walletId).balanceOf(null) === '10000000')
  const reviewed = async () =>
    runAction('swap.review', { quoteId: (await query(runAction, 'thorchain')).quoteId })
  const first = await reviewed()
  t.is(first.review.similar, undefined)
  const { txid } = await runAction('swap.approve', { draftId: first.draftId })
  const second = await reviewed()
  t.deepEqual(second.review.similar, [txid])
  t.like(second.review.openPayments, [{ txid }])
  await t.throwsAsync(runAction('swap.approve', { draftId: second.draftId }), {
    code: 'CONFIRMATION_REQUIRED'
  })
  await t.throwsAsync(runAction('swap.discard', { draftId: second.draftId }), { code: 'GONE' })
  t.is(await sentCount(), 1)
  const meant = await reviewed()
  await runAction('swap.approve', { draftId: meant.draftId, again: meant.review.similar ?? [] })
  t.is(await sentCount(), 2)
})

test('of two swaps of one wallet that are approved at once, in two faces, the second sees that the first is open', async t => {
  const stage = await openStage(t, [thorchain])
  const { runAction } = stage
  const { query, sentCount, walletId } = await openTrade(stage)
  await runAction('world.fund', { walletId, nativeAmount: '5000000' })
  await runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  await waitFor(() => stage.wallet(walletId).balanceOf(null) === '10000000')
  const draftIds: string[] = []
  for (let i = 0; i < 2; i += 1) {
    const { quoteId } = await query(runAction, 'thorchain')
    draftIds.push((await runAction('swap.review', { quoteId })).draftId)
  }
  const ends = await Promise.allSettled(draftIds.map(draftId => runAction('swap.approve', { draftId })))
  t.deepEqual(
    ends.map(end => (end.status === 'rejected' ? end.reason.code : 'paid')),
    ['paid', 'CONFIRMATION_REQUIRED']
  )
  t.is(await sentCount(), 1)
})

test('an order beyond the limits of its review is refused, and its payment has the name of the exchange', async t => {
  const stage = await openStage(t, [changenow])
  const { runAction } = stage
  const { query, sentCount, walletId } = await openTrade(stage)
  const { quoteId } = await query()
  await t.throwsAsync(runAction('swap.review', { quoteId, maxNetworkFee: '1' }), { code: 'MAX_FEE' })
  const { draftId } = await runAction('swap.review', { quoteId: (await query()).quoteId, minReceive: '1' })
  t.is(await sentCount(), 0)
  const { txid } = await runAction('swap.approve', { draftId })
  const { metadata } = await stage.wallet(walletId).getTransaction(txid)
  t.regex(metadata.name ?? '', /ChangeNOW/i)
  t.is(metadata.category, 'exchange:LTC')
})

test('the review of a swap shows the remaining allowance and its spender, and if all own addresses were compared', async t => {
  const wallet = { lookAtOpenPayments: async () => [], balanceOf: () => nativeAmount('5000') }
  const account = {
    listWallets: () => [{ isWallet: true, walletId: 'from', deleted: false }],
    openWallet: async () => wallet
  }
  const allowance = { spender: 'router', nativeAmount: nativeAmount('1500'), tokenId: 'usdx' }
  const reviewed = {
    ...{ drafts: [], spends: [], unusualFees: [], isEstimate: false, isOwnCheckComplete: false },
    ...{ fromNativeAmount: nativeAmount('1000'), toNativeAmount: nativeAmount('900') },
    ...{
      networkFee: { nativeAmount: nativeAmount('7') },
      swapInfo: { pluginId: 'shop' },
      payoutAddress: 'p'
    },
    allowances: [allowance]
  }
  const quote = {
    swapInfo: { displayName: 'Shop' },
    request: { fromWalletId: 'from', fromTokenId: 'usdx', toTokenId: null, toCurrencyCode: 'BET' },
    async approve({ confirm }: { confirm: (review: unknown) => Promise<unknown> }) {
      await Promise.resolve()
      return confirm(reviewed)
    }
  }
  const services = {
    context: { accounts: [account] },
    rounds: { find: () => ({ accountId: 'a', round: { id: 'r' }, quote }) },
    swaps: { put: () => 'draft' }
  }
  const { review } = await swapActions['swap.review'].run(services as never, { quoteId: 'q' })
  t.deepEqual(review.allowances, [{ spender: 'router', nativeAmount: '1500' }])
  t.false(review.isOwnCheckComplete)
})

test('a review that is discarded ends its quote, and nothing is paid', async t => {
  const stage = await openStage(t, [changenow])
  const { runAction } = stage
  const { query, fateOf, sentCount } = await openTrade(stage)
  const { roundId, quoteId } = await query()
  const { draftId } = await runAction('swap.review', { quoteId })
  await t.throwsAsync(runAction('spend.approve', { draftId }), { code: 'GONE' })
  t.deepEqual(await runAction('swap.discard', { draftId }), {})
  t.is(fateOf(roundId), 'closed')
  await t.throwsAsync(runAction('swap.approve', { draftId }), { code: 'GONE' })
  t.is(await sentCount(), 0)
})

test('a review that is left for ten minutes, whose round is closed, or whose account leaves, is declined', async t => {
  const stage = await openStage(t, [changenow])
  const { runAction, clock } = stage
  const { accountId, query, fateOf, sentCount } = await openTrade(stage)
  const ends = [
    () => clock.advance(10 * 60_000),
    (roundId: string) => runAction('swap.close', { roundId }),
    () => runAction('account.logout', { accountId })
  ]
  for (const [index, end] of ends.entries()) {
    const { roundId, quoteId } = await query()
    const { draftId } = await runAction('swap.review', { quoteId })
    if (index === ends.length - 1) t.is(await sentCount(), 0)
    await end(roundId)
    await waitFor(() => fateOf(roundId) === 'closed')
    await t.throwsAsync(runAction('swap.approve', { draftId }), { code: 'GONE' })
  }
  t.is(clock.timerCount, 0)
})

test('two action handlers of one kernel share neither drafts nor rounds, and closing one leaves the other unchanged', async t => {
  const stage = await openStage(t, [changenow])
  const { runAction: first } = stage
  const second = stage.anotherHandler()
  const { walletId, query, fateOf, sentCount } = await openTrade(stage)
  const mine = await query(first)
  const others = await query(second)
  await t.throwsAsync(first('swap.review', { quoteId: others.quoteId }), { code: 'GONE' })
  await t.throwsAsync(first('swap.close', { roundId: others.roundId }), { code: 'GONE' })
  const { draftId } = await first('swap.review', { quoteId: mine.quoteId })
  const { draftId: otherId } = await second('swap.review', { quoteId: others.quoteId })
  const publicAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
  const spend = await first('spend.draft', { walletId, publicAddress, nativeAmount: '1000' })
  for (const id of [draftId, spend.draftId]) {
    await t.throwsAsync(second('swap.approve', { draftId: id }), { code: 'GONE' })
    await t.throwsAsync(second('spend.approve', { draftId: id }), { code: 'GONE' })
  }

  first.close()
  await waitFor(() => fateOf(mine.roundId) === 'closed')
  await t.throwsAsync(first('swap.approve', { draftId }), { code: 'GONE' })
  await t.throwsAsync(first('spend.approve', { draftId: spend.draftId }), { code: 'GONE' })
  await t.throwsAsync(query(first), { code: 'GONE' })
  t.is(await sentCount(), 0)
  t.is(fateOf(others.roundId), undefined)
  t.truthy((await second('swap.approve', { draftId: otherId })).txid)
  t.is(await sentCount(), 1)
})

test('a review in one panel signs nothing after another panel logged the account out, even after a new login', async t => {
  const stage = await openStage(t, [changenow])
  const { runAction: first, kernel } = stage
  const second = stage.anotherHandler()
  const { accountId, walletId, query, fateOf, sentCount } = await openTrade(stage)
  const { roundId, quoteId } = await query(first)
  const publicAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
  const swapRequest = { walletId, publicAddress, nativeAmount: '1000' }
  const swap = await first('swap.review', { quoteId })
  const [early, late] = [await first('spend.draft', swapRequest), await first('spend.draft', swapRequest)]
  await second('account.logout', { accountId })
  t.deepEqual(kernel.context.accounts, [])
  t.is(fateOf(roundId), 'closed')
  await t.throwsAsync(first('spend.approve', { draftId: early.draftId }), { code: 'LOGGED_OUT' })
  await second('account.login', { username: 'alice', password: PASSWORD })
  await waitFor(() => kernel.context.accounts[0]?.getSnapshot().walletIds.length === 2)
  await t.throwsAsync(first('spend.approve', { draftId: late.draftId }), { code: 'LOGGED_OUT' })
  await t.throwsAsync(first('swap.approve', { draftId: swap.draftId }), { code: 'QUOTE_ENDED' })
  await second('wallet.receive', { walletId })
  t.is(await sentCount(), 0)
})

test('a review whose round is closed before it is ready signs nothing', async t => {
  const stage = await openStage(t, [changenow])
  const { runAction } = stage
  const { query, sentCount } = await openTrade(stage)
  const { roundId, quoteId } = await query()
  const reviewing = runAction('swap.review', { quoteId }).then(
    ({ draftId }) => runAction('swap.approve', { draftId }),
    (error: unknown) => Promise.reject(error)
  )
  await runAction('swap.close', { roundId })
  await t.throwsAsync(reviewing, { code: 'QUOTE_ENDED' })
  t.is(await sentCount(), 0)
})

test('a round that is requested while its action handler closes is closed, too', async t => {
  const stage = await openStage(t, [changenow])
  const { runAction, quotes } = stage
  const { query } = await openTrade(stage)
  const pendingQuery = query()
  runAction.close()
  await t.throwsAsync(pendingQuery, { code: 'GONE' })
  await waitFor(() =>
    [...quotes.values()].every(({ state, fate }) => state !== 'pending' && fate !== 'approved')
  )
  t.true([...quotes.values()].every(({ state, fate }) => state !== 'resolved' || fate === 'closed'))
})

test('a review that is ready only after its action handler has closed is declined', async t => {
  const stage = await openStage(t, [changenow])
  const { runAction } = stage
  const { query, fateOf, sentCount } = await openTrade(stage)
  const { roundId, quoteId } = await query()
  const reviewing = runAction('swap.review', { quoteId }).catch((error: unknown) => error)
  runAction.close()
  const review = await reviewing
  t.true(review instanceof Error, 'the round was closed with the actor')
  t.is(fateOf(roundId), 'closed')
  t.is(await sentCount(), 0)
})

test('a disabled provider gets no requests until it is enabled', async t => {
  const stage = await openStage(t, [changenow])
  const { runAction } = stage
  const { accountId, walletId, toWalletId, query } = await openTrade(stage)
  const setting = { accountId, pluginId: 'changenow' }
  t.deepEqual(await runAction('swap.enable', { ...setting, isEnabled: false }), {})
  const swapRequest = { fromWalletId: walletId, toWalletId, nativeAmount: '0', quoteFor: 'max' as const }
  await t.throwsAsync(runAction('swap.ask', swapRequest), { code: 'NO_SWAP_PROVIDERS' })
  await runAction('swap.enable', { ...setting, isEnabled: true })
  t.truthy((await query()).quoteId)
  await t.throwsAsync(runAction('swap.enable', { ...setting, pluginId: 'nobody', isEnabled: true }), {
    code: 'PLUGINS_MISSING'
  })
  await t.throwsAsync(runAction('swap.ask', { ...swapRequest, toWalletId: walletId }), {
    code: 'SAME_CURRENCY'
  })
  await t.throwsAsync(runAction('swap.ask', { ...swapRequest, fromWalletId: 'none' }), {
    code: 'WALLET_NOT_FOUND'
  })
})
