import type { ExecutionContext } from 'ava'
import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import {
  type Account,
  type CurrencyWallet,
  nativeAmount,
  type SwapPlugin,
  type SwapRequest
} from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { makeShop, offerOf, SHOP_ADDRESS } from '../../helpers/swap-shop.ts'
import { makeToy, type ToyOptions } from '../../helpers/toy-currency.ts'
import { openToyHome } from '../../helpers/toy-home.ts'

interface Market {
  readonly account: Account
  readonly from: CurrencyWallet
  readonly to: CurrencyWallet
  readonly swapRequest: SwapRequest
  readonly reports: unknown[]
}

/** An account with wallets of two toy currencies, of which one has 1000 units. */
const openMarket = async (t: ExecutionContext, plugins: readonly SwapPlugin[]): Promise<Market> => {
  const { plugin } = makeToy({ id: 'othercoin', info: { currencyCode: 'OTH' } })
  const { account, reports, clock } = await openToyHome(t, { device: { plugins: [plugin, ...plugins] } })
  const from = await account.createCurrencyWallet('wallet:toycoin')
  const to = await account.createCurrencyWallet('wallet:othercoin')
  await clock.advance(1000)
  t.is(from.balanceOf(null), nativeAmount('1000'))
  const swapRequest: SwapRequest = {
    fromWallet: from,
    toWallet: to,
    nativeAmount: nativeAmount('100'),
    quoteFor: 'from'
  }
  return { account, from, to, swapRequest, reports }
}

test('the settings of a provider count from the next round on: enabled, its own ones, and whether it needs activation', async t => {
  const seen: unknown[] = []
  const picky = makeShop({
    id: 'picky',
    checkSettings: settings => ({ needsActivation: settings.apiKey === undefined }),
    answer: tapContext => {
      seen.push(tapContext.userSettings)
      tapContext.offer(offerOf(tapContext))
    }
  })
  const { account, swapRequest } = await openMarket(t, [picky, makeShop()])
  const idsOf = async (): Promise<string[]> =>
    (await account.fetchSwapQuotes(swapRequest)).map(({ pluginId }) => pluginId).sort()
  const config = account.swapConfig('picky')
  t.deepEqual(config.getSnapshot(), { isEnabled: true, userSettings: {}, needsActivation: true })
  t.deepEqual(await idsOf(), ['shop'])
  await config.changeUserSettings({ apiKey: 'mine' })
  t.deepEqual(config.getSnapshot(), {
    isEnabled: true,
    userSettings: { apiKey: 'mine' },
    needsActivation: false
  })
  t.deepEqual(await idsOf(), ['picky', 'shop'])
  t.deepEqual(seen, [{ apiKey: 'mine' }])
  const round = account.openQuoteRound(swapRequest)
  await account.swapConfig('shop').changeEnabled(false)
  t.is((await round.settled).length, 2)
  t.deepEqual(await idsOf(), ['picky'])
})

test('a provider whose settings check fails is not called, and the failure is reported', async t => {
  const broken = makeShop({
    id: 'broken',
    checkSettings: () => {
      throw new Error('cannot read this')
    }
  })
  const absent = makeShop({ id: 'absent', checkSettings: () => undefined as never })
  const { account, swapRequest, reports } = await openMarket(t, [broken, absent])
  t.true(account.swapConfig('broken').getSnapshot().needsActivation)
  t.deepEqual(
    (await account.fetchSwapQuotes(swapRequest)).map(({ pluginId }) => pluginId),
    ['absent']
  )
  t.true(reports.some(report => String(report).includes('cannot read this')))
})

test('only the best quote stays open when one is requested', async t => {
  const { account, swapRequest } = await openMarket(t, [
    makeShop(),
    makeShop({
      id: 'better',
      answer: tapContext => tapContext.offer(offerOf(tapContext, { toNativeAmount: nativeAmount('99') }))
    })
  ])
  const best = await account.fetchSwapQuote(swapRequest)
  t.is(best.pluginId, 'better')
  t.is(best.fate, undefined)
  t.is((await best.approve()).destinationAddress, SHOP_ADDRESS)
})

test('a logout closes the open rounds, and nothing is requested or paid afterwards', async t => {
  const { account, swapRequest } = await openMarket(t, [makeShop()])
  const [quote] = await account.fetchSwapQuotes(swapRequest)
  await account.logout()
  t.is(quote?.fate, 'closed')
  await t.throwsAsync(async () => quote?.approve(), { code: 'QUOTE_ENDED' })
  t.throws(() => account.openQuoteRound(swapRequest), { code: 'LOGGED_OUT' })
  await t.throwsAsync(account.fetchSwapQuote(swapRequest), { code: 'LOGGED_OUT' })
  await t.throwsAsync(account.fetchSwapQuotes(swapRequest), { code: 'LOGGED_OUT' })
})

test("a provider that asks to pay another wallet of the user's is refused", async t => {
  let payTo = ''
  const { account, swapRequest } = await openMarket(t, [
    makeShop({ answer: tapContext => tapContext.offer(offerOf(tapContext, {}, payTo)) })
  ])
  const savings = await account.createCurrencyWallet('wallet:toycoin')
  payTo = (await savings.getReceiveAddress()).publicAddress
  const [quote] = await account.fetchSwapQuotes(swapRequest)
  await t.throwsAsync(async () => quote?.approve(), {
    message: 'The order of shop pays an address of your own'
  })
  const [transfer] = await account.fetchSwapQuotes({ ...swapRequest, toWallet: savings })
  t.is((await transfer?.approve())?.destinationAddress, payTo)
})

test('a crash after the payment was sent keeps the record of the swap [3.26]', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const files = new Map<string, string>()
  let atBroadcast: Map<string, string> | undefined
  const toyOptions: ToyOptions = {
    engine: () => ({
      async broadcastTx(tx) {
        // The power is gone the moment the bytes are on the network.
        atBroadcast ??= new Map(files)
        return tx
      }
    })
  }
  const plugins = (): Parameters<typeof openDevice>[1] => ({
    plugins: [makeToy(toyOptions).plugin, makeToy({ id: 'othercoin' }).plugin, makeShop()]
  })
  const first = await openDevice(world, { ...plugins(), storage: memoryStorage(files) })
  const account = await first.context.createAccount({ username: 'alice', password: 'Correct horse 1' })
  const from = await account.createCurrencyWallet('wallet:toycoin')
  const to = await account.createCurrencyWallet('wallet:othercoin')
  await waitFor(() => from.balanceOf(null) === '1000')
  const quote = await account.fetchSwapQuote({
    fromWallet: from,
    toWallet: to,
    nativeAmount: nativeAmount('100'),
    quoteFor: 'from'
  })
  const { transaction } = await quote.approve({ metadata: { notes: 'swapped' } })
  const { id } = from
  await first.close()

  t.truthy(atBroadcast)
  const second = await openDevice(world, { ...plugins(), storage: memoryStorage(atBroadcast ?? new Map()) })
  const again = await second.context.loginWithPassword('alice', 'Correct horse 1')
  const wallet = await again.openWallet(id)
  await waitFor(
    async () => wallet.unfinishedSpends().length === 0 && (await wallet.getTransactions()).length === 1
  )
  const saved = await wallet.getTransaction(transaction.txid)
  t.deepEqual(saved.swapData, transaction.swapData)
  t.is(saved.swapData?.payoutWalletId, to.id)
  t.is(saved.metadata.notes, 'swapped')
  await second.close()
  await world.close()
})

test('an order that repeats the id of one of an earlier session is refused', async t => {
  const shop = makeShop({
    answer: tapContext => {
      const offer = offerOf(tapContext)
      const { fromNativeAmount, toNativeAmount } = offer
      const spendTargets = [{ publicAddress: SHOP_ADDRESS, nativeAmount: fromNativeAmount }]
      const order = {
        orderId: 'one',
        fromNativeAmount,
        toNativeAmount,
        spends: [{ tokenId: null, spendTargets }]
      }
      tapContext.offer({ ...offer, payment: { order: async () => order } })
    }
  })
  const { plugin } = makeToy({ id: 'othercoin', info: { currencyCode: 'OTH' } })
  const { account, kernel, clock } = await openToyHome(t, { device: { plugins: [plugin, shop] } })
  const from = await account.createCurrencyWallet('wallet:toycoin')
  const to = await account.createCurrencyWallet('wallet:othercoin')
  const approve = async (present: Account): Promise<unknown> => {
    const [fromWallet, toWallet] = [await present.openWallet(from.id), await present.openWallet(to.id)]
    await clock.advance(1000)
    const quote = await present.fetchSwapQuote({
      ...{ fromWallet, toWallet },
      nativeAmount: nativeAmount('100'),
      quoteFor: 'from'
    })
    return quote.approve({ confirm: async () => false })
  }
  await t.throwsAsync(approve(account), { message: 'The payment was not confirmed' })
  await account.logout()
  const again = await kernel.context.loginWithPassword('tess', 'Correct horse 1')
  await t.throwsAsync(approve(again), { code: 'SWAP_CHANGED', message: /repeats the id of an earlier order/ })
})
