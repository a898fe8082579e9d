import type { ExecutionContext } from 'ava'
import test from 'ava'
import { Observable } from '../../../kernel/base/observable.ts'
import {
  type Account,
  type CurrencyWallet,
  type EngineStore,
  isWalletError,
  nativeAmount,
  type OrderReport,
  type OrderSnapshot,
  type SwapResult,
  WalletError,
  type WatchedOrder
} from '../../../kernel/index.ts'
import { makeKernelHooks } from '../../../kernel/plugins/hooks.ts'
import type { PluginSet } from '../../../kernel/plugins/plugin-set.ts'
import { SwapOrders } from '../../../kernel/swap/orders.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeShop, offerOf, SHOP_ADDRESS } from '../../helpers/swap-shop.ts'
import { makeToy, type ToyOptions, toyTransaction } from '../../helpers/toy-currency.ts'
import { openToyHome, type ToyHome, type ToyHomeOptions } from '../../helpers/toy-home.ts'

/** A shop that says of its orders what a test wants, and notes what it was asked. */
interface Counter {
  say: (order: WatchedOrder) => unknown
  readonly requests: WatchedOrder[]
}

interface Market extends ToyHome {
  readonly from: CurrencyWallet
  readonly to: CurrencyWallet
  readonly shop: Counter
  readonly announced: OrderSnapshot[]
  /** Swaps so much of the first wallet. */
  swap(amount?: string): Promise<SwapResult>
  /** Closes this device and opens it again from its disk; the shop and its orders are the same. */
  restart(): Promise<Market>
}

const TXID = 'ab'.repeat(32)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const openMarket = async (t: ExecutionContext, engine: ToyOptions['engine'] = undefined): Promise<Market> => {
  const shop: Counter = { say: () => ({ state: 'waiting' }), requests: [] }
  const files = new Map<string, string>()
  let orders = 0
  const homeOptions = (announced: OrderSnapshot[]): ToyHomeOptions => ({
    ...(engine === undefined ? {} : { engine }),
    device: {
      storage: memoryStorage(files),
      plugins: [
        makeToy({ id: 'othercoin', info: { currencyCode: 'OTH' } }).plugin,
        makeShop({
          answer: async context => {
            const offer = offerOf(context)
            context.offer({
              ...offer,
              payment: {
                async order() {
                  orders += 1
                  const { fromNativeAmount, toNativeAmount } = offer
                  const spendTargets = [{ publicAddress: SHOP_ADDRESS, nativeAmount: fromNativeAmount }]
                  await context.refundTo()
                  return {
                    ...{ fromNativeAmount, toNativeAmount, orderId: `order-${orders}` },
                    spends: [{ tokenId: null, spendTargets }]
                  }
                }
              }
            })
          },
          watch: order => {
            shop.requests.push(order)
            return shop.say(order)
          }
        }),
        {
          kind: 'observer',
          id: 'watcher',
          apply: ({ hooks }) => hooks.orderChanged.tap('watcher', order => void announced.push(order))
        }
      ]
    }
  })
  const enter = async (home: ToyHome, announced: OrderSnapshot[]): Promise<Market> => {
    const { account, clock } = home
    const walletOf = async (type: string): Promise<CurrencyWallet> => {
      const known = account.listWallets().find(listing => listing.type === type)
      return known === undefined ? account.createCurrencyWallet(type) : account.openWallet(known.walletId)
    }
    const from = await walletOf('wallet:toycoin')
    const to = await walletOf('wallet:othercoin')
    await clock.advance(1000)
    return {
      ...{ ...home, from, to, shop, announced },
      async swap(amount = '100') {
        const quote = await account.fetchSwapQuote({
          fromWallet: from,
          toWallet: to,
          nativeAmount: nativeAmount(amount),
          quoteFor: 'from'
        })
        return quote.approve()
      },
      async restart() {
        const closing = home.kernel.close()
        await clock.advance(MINUTE)
        await closing
        const next: OrderSnapshot[] = []
        return enter(await home.another(homeOptions(next)), next)
      }
    }
  }
  const announced: OrderSnapshot[] = []
  return enter(await openToyHome(t, homeOptions(announced)), announced)
}

const codeOf = (report: readonly unknown[] | undefined): string | undefined => {
  const error = report?.at(-1)
  return isWalletError(error) ? error.code : undefined
}

const only = ({ swapOrders }: Pick<Account, 'swapOrders'>): OrderSnapshot => {
  const [order, ...others] = swapOrders.getSnapshot()
  if (order === undefined || others.length > 0) throw new Error(`${others.length} other orders`)
  return order
}

test('an order is followed from its payment until it is paid out, and each step is told to observers', async t => {
  const { account, clock, swap, shop, announced, to, from } = await openMarket(t)
  const { transaction } = await swap()
  const { txid } = transaction
  t.like(only(account), { txid, state: 'waiting', pluginId: 'shop', orderId: 'order-1', isFollowed: true })
  t.is(shop.requests.length, 0)
  for (const state of ['seen', 'exchanging', 'sending'] as const) {
    shop.say = () => ({ state })
    await clock.advance(MINUTE)
    t.is(only(account).state, state)
  }
  shop.say = () => ({ state: 'paidOut', payoutTxid: TXID })
  await clock.advance(MINUTE)
  t.like(account.swapOrders.find(txid), { state: 'paidOut', payoutTxid: TXID, isFollowed: false })
  t.deepEqual(
    announced.map(({ state }) => state),
    ['waiting', 'seen', 'exchanging', 'sending', 'paidOut']
  )
  t.true(announced.every(order => order.txid === txid && order.walletId === from.id))
  const [question] = shop.requests
  t.like(question, { txid, orderId: 'order-1', fromPluginId: 'toycoin', userSettings: {} })
  t.is(question?.payoutAddress, (await to.getReceiveAddress()).publicAddress)
  t.is(question?.refundAddress, (await from.getReceiveAddress()).publicAddress)
  const { length } = shop.requests
  await clock.advance(HOUR / 2)
  t.is(shop.requests.length, length)
})

test('an open order is asked for again after a restart, and what was known of it is there at once', async t => {
  const before = await openMarket(t)
  const { transaction } = await before.swap()
  before.shop.say = () => ({ state: 'exchanging' })
  await before.clock.advance(MINUTE)
  before.shop.say = () => new Promise(() => {})
  const after = await before.restart()
  t.like(only(after.account), { txid: transaction.txid, state: 'exchanging', isFollowed: true })
  const { length } = after.shop.requests
  after.shop.say = () => ({ state: 'refunded', refundTxid: TXID })
  await after.clock.advance(5 * MINUTE)
  t.true(after.shop.requests.length > length)
  t.like(only(after.account), { state: 'refunded', refundTxid: TXID, isFollowed: false })
  const last = await after.restart()
  const count = last.shop.requests.length
  await last.clock.advance(HOUR / 2)
  t.like(only(last.account), { state: 'refunded', refundTxid: TXID })
  t.is(last.shop.requests.length, count)
})

test('what has ended stays ended, whatever the exchange says later', async t => {
  const { account, clock, swap, shop, announced, restart } = await openMarket(t)
  await swap()
  shop.say = () => ({ state: 'paidOut' })
  await clock.advance(MINUTE)
  t.like(only(account), { state: 'paidOut', isFollowed: true })
  const lies: OrderReport[] = [{ state: 'waiting' }, { state: 'refunded', refundTxid: 'cd'.repeat(32) }]
  for (const lie of lies) {
    shop.say = () => lie
    const { length } = shop.requests
    await clock.advance(15 * MINUTE)
    t.true(shop.requests.length > length)
    t.is(only(account).state, 'paidOut')
    t.is(only(account).refundTxid, undefined)
  }
  t.is(announced.at(-1)?.state, 'paidOut')
  const after = await restart()
  t.is(only(after.account).state, 'paidOut')
  shop.say = () => ({ state: 'paidOut', payoutTxid: TXID })
  await after.clock.advance(15 * MINUTE)
  t.like(only(after.account), { state: 'paidOut', payoutTxid: TXID, isFollowed: false })
})

test('an answer that is none is refused and reported, and what was known stays', async t => {
  const { account, clock, swap, shop, reports } = await openMarket(t)
  const { transaction } = await swap()
  shop.say = () => ({ state: 'seen' })
  await clock.advance(MINUTE)
  const answers: unknown[] = [
    undefined,
    'seen',
    [],
    {},
    { state: 'done' },
    { state: 'paidOut', payoutTxid: 7 },
    { state: 'paidOut', payoutTxid: 'a\u001b[2J' },
    { state: 'paidOut', payoutTxid: 'a'.repeat(201) },
    { state: 'paidOut', payoutTxid: transaction.txid },
    { state: 'refunded', refundTxid: transaction.txid }
  ]
  for (const answer of answers) {
    shop.say = () => answer
    reports.length = 0
    await account.swapOrders.refresh()
    t.is(only(account).state, 'seen')
    t.regex(only(account).failure ?? '', /bogus state of an order/)
    t.is(codeOf(reports[0]), 'BOGUS_DATA')
  }
  shop.say = () => {
    throw new TypeError('x is not a function')
  }
  await account.swapOrders.refresh()
  t.is(only(account).state, 'seen')
  t.is(codeOf(reports.at(-1)), 'PLUGIN_FAILED')
  shop.say = () => ({ state: 'exchanging', payoutTxid: TXID, amount: '7' })
  await account.swapOrders.refresh()
  const now = only(account)
  t.is(now.failure, undefined)
  t.is(now.state, 'exchanging')
  t.false('payoutTxid' in now)
  t.false('amount' in now)
})

test('a logout aborts the question that is under way, and asks nothing more', async t => {
  const { account, clock, swap, shop } = await openMarket(t)
  await swap()
  let answer = (_report: OrderReport): void => {}
  shop.say = () =>
    new Promise<OrderReport>(resolve => {
      answer = resolve
    })
  await clock.advance(MINUTE / 2)
  t.is(shop.requests.length, 1)
  t.false(shop.requests[0]?.signal.aborted)
  const known = only(account)
  await account.logout()
  t.true(shop.requests[0]?.signal.aborted)
  answer({ state: 'paidOut', payoutTxid: TXID })
  await clock.advance(HOUR / 2)
  t.is(shop.requests.length, 1)
  t.is(only(account), known)
})

test('a paused account asks no exchange until it goes on, unless somebody wants to know', async t => {
  const { account, clock, swap, shop } = await openMarket(t)
  await swap()
  account.changePaused(true)
  await clock.advance(HOUR / 2)
  t.is(shop.requests.length, 0)
  await account.swapOrders.refresh()
  t.is(shop.requests.length, 1)
  account.changePaused(false)
  await clock.advance(15 * MINUTE)
  t.true(shop.requests.length > 1)
})

test('an order is followed before its payment is sent, so that a crash in between loses it neither', async t => {
  const seen: (readonly OrderSnapshot[])[] = []
  let account: Account | undefined
  const market = await openMarket(t, () => ({
    async broadcastTx() {
      seen.push(account?.swapOrders.getSnapshot() ?? [])
      throw new Error('the network is gone')
    }
  }))
  account = market.account
  await t.throwsAsync(market.swap(), { code: 'BROADCAST_UNKNOWN' })
  t.is(seen[0]?.length, 1)
  const after = await market.restart()
  t.is(only(after.account).orderId, 'order-1')
})

test('a swap that another device paid for is followed here as soon as somebody asks', async t => {
  const { account, swap, shop, clock, another, from } = await openMarket(t)
  const { transaction } = await swap()
  const syncing = account.sync()
  await clock.advance(1000)
  await syncing
  const says: WatchedOrder[] = []
  const second = await another({
    device: {
      plugins: [
        makeToy({ id: 'othercoin', info: { currencyCode: 'OTH' } }).plugin,
        makeShop({
          watch: order => {
            says.push(order)
            return { state: 'paidOut', payoutTxid: TXID }
          }
        })
      ]
    }
  })
  t.deepEqual(second.account.swapOrders.getSnapshot(), [])
  const wallet = await second.account.openWallet(from.id)
  const { swapData } = transaction
  const payment = { txid: transaction.txid, walletId: wallet.id, date: clock.now() / 1000 }
  t.is(await second.account.swapOrders.follow(payment), undefined)
  const old = { ...payment, date: payment.date - 31 * 86_400 }
  const withSwap = swapData === undefined ? {} : { swapData }
  t.is(await second.account.swapOrders.follow({ ...old, ...withSwap }), undefined)
  t.like(await second.account.swapOrders.follow({ ...payment, ...withSwap }), { state: 'waiting' })
  await second.account.swapOrders.refresh([transaction.txid])
  t.like(only(second.account), { state: 'paidOut', payoutTxid: TXID, orderId: 'order-1' })
  t.is(says[0]?.fromPluginId, 'toycoin')
  t.is(shop.requests.length, 0)
})

test('a swap that another device paid for is followed as soon as its wallet has read its file', async t => {
  const { account, swap, clock, another, from } = await openMarket(t)
  const { transaction } = await swap()
  const { txid } = transaction
  const syncing = account.sync()
  await clock.advance(1000)
  await syncing
  const says: WatchedOrder[] = []
  const watch = (order: WatchedOrder): OrderReport => {
    says.push(order)
    return { state: 'paidOut', payoutTxid: TXID }
  }
  const second = await another({
    device: {
      plugins: [makeToy({ id: 'othercoin', info: { currencyCode: 'OTH' } }).plugin, makeShop({ watch })]
    }
  })
  t.deepEqual(second.account.swapOrders.getSnapshot(), [])
  await second.account.openWallet(from.id)
  await clock.advance(1000)
  const report = { ...toyTransaction(txid), nativeAmount: transaction.nativeAmount, isSend: true }
  second.toy.requests.at(-1)?.callbacks.onTransactionsChanged([report])
  await clock.advance(1000)
  t.like(only(second.account), { txid, state: 'waiting', orderId: 'order-1', isFollowed: true })
  t.is(says.length, 0)
  await clock.advance(MINUTE)
  t.like(only(second.account), { state: 'paidOut', payoutTxid: TXID })
  t.like(says[0], { txid, fromPluginId: 'toycoin', orderId: 'order-1' })
})

test('a plugin that follows no orders leaves none behind', async t => {
  const other = makeToy({ id: 'othercoin', info: { currencyCode: 'OTH' } })
  const { account, clock } = await openToyHome(t, { device: { plugins: [other.plugin, makeShop()] } })
  const fromWallet = await account.createCurrencyWallet('wallet:toycoin')
  const toWallet = await account.createCurrencyWallet('wallet:othercoin')
  await clock.advance(1000)
  const request = { fromWallet, toWallet, nativeAmount: nativeAmount('100'), quoteFor: 'from' } as const
  const { transaction } = await (await account.fetchSwapQuote(request)).approve()
  t.is(await account.swapOrders.follow(transaction), undefined)
  t.deepEqual(account.swapOrders.getSnapshot(), [])
})

/** The orders of an account alone, with a clock that may pass days. */
const openOrders = (shop: Counter, store: EngineStore = mapStore()) => {
  const clock = makeFakeClock()
  const reports: unknown[] = []
  const hooks = makeKernelHooks({ clock, onFault: ({ error }) => reports.push(error) })
  hooks.watchOrder.for('shop').tapPromise('shop', async order => {
    shop.requests.push(order)
    return shop.say(order) as OrderReport
  })
  const report = (_source: string, error: unknown): void => void reports.push(error)
  const swapOrders = new SwapOrders({
    services: {
      ...{ hooks, report },
      io: { ...makeNodeIo(), clock },
      plugins: { swapPlugins: [makeShop()] } as unknown as PluginSet,
      inBackground: (name, promise) => void promise.catch(error => report(name, error))
    },
    store,
    pause: new Observable({ isSet: false, isPaused: false }),
    pluginIdOf: () => 'toycoin',
    userSettingsOf: () => ({ apiKey: 'mine' })
  })
  return { swapOrders, clock, reports }
}

const paymentOf = (txid: string): Parameters<SwapOrders['begin']>[0] => ({
  ...{ txid, walletId: 'payer', date: 0 },
  swapData: {
    orderId: `order of ${txid}`,
    isEstimate: false,
    plugin: { pluginId: 'shop', displayName: 'Shop' },
    payoutAddress: 'mine',
    payoutCurrencyCode: 'OTH',
    payoutNativeAmount: nativeAmount('90'),
    payoutWalletId: 'receiver'
  }
})

test('an order that is forgotten is asked for no more, also after a reopening', async t => {
  const shop: Counter = { requests: [], say: () => ({ state: 'waiting' }) }
  const store = mapStore()
  const { swapOrders, clock } = openOrders(shop, store)
  await swapOrders.begin(paymentOf('a'))
  await swapOrders.begin(paymentOf('b'))
  await swapOrders.forget('a')
  await clock.advance(DAY)
  t.deepEqual([...new Set(shop.requests.map(({ txid }) => txid))], ['b'])
  await swapOrders.close()
  const again = openOrders(shop, store).swapOrders
  t.is(again.find('a'), undefined)
  t.like(again.find('b'), { state: 'waiting' })
  await again.close()
})

test('an order whose ids another app wrote as null is known after a reopening, too', async t => {
  const shop: Counter = { requests: [], say: () => ({ state: 'waiting' }) }
  const store = mapStore()
  const { swapOrders, clock } = openOrders(shop, store)
  const { swapData, ...payment } = paymentOf('a')
  const written = {
    ...swapData,
    orderId: null,
    orderUri: null,
    refundAddress: null
  } as unknown as typeof swapData
  const followed = { ...payment, date: clock.now() / 1000, swapData: written }
  t.like(await swapOrders.follow(followed as typeof payment), { txid: 'a', state: 'waiting' })
  await swapOrders.close()
  const again = openOrders(shop, store).swapOrders
  t.like(again.find('a'), { txid: 'a', state: 'waiting' })
  await again.close()
})

test('an exchange that cannot be reached is asked ever more rarely, which is no fault of its plugin', async t => {
  const shop: Counter = {
    requests: [],
    say: () => {
      throw new WalletError('SERVER', { message: 'Shop does not answer' })
    }
  }
  const { swapOrders, clock, reports } = openOrders(shop)
  await swapOrders.begin(paymentOf('a'))
  await clock.advance(DAY)
  t.like(only({ swapOrders }), { state: 'waiting', isFollowed: true })
  t.regex(only({ swapOrders }).failure ?? '', /Shop does not answer/)
  t.true(shop.requests.length >= 24 && shop.requests.length <= 36, `asked ${shop.requests.length} times`)
  t.deepEqual(reports, [])
  shop.say = () => ({ state: 'seen' })
  await clock.advance(61 * MINUTE)
  t.is(only({ swapOrders }).state, 'seen')
  t.false('failure' in only({ swapOrders }))
})

test('several orders are followed at once, and one that is never answered holds up no other', async t => {
  const shop: Counter = {
    requests: [],
    say: ({ txid }) =>
      txid === 'b'
        ? new Promise(() => {})
        : { state: 'paidOut', payoutTxid: `payout of ${txid}`.replaceAll(' ', '-') }
  }
  const { swapOrders, clock } = openOrders(shop)
  const txids = 'abcdefgh'.split('')
  await Promise.all(txids.map(txid => swapOrders.begin(paymentOf(txid))))
  await clock.advance(MINUTE)
  for (const txid of txids.filter(each => each !== 'b'))
    t.like(swapOrders.find(txid), { state: 'paidOut', payoutTxid: `payout-of-${txid}` })
  t.is(swapOrders.find('b')?.state, 'waiting')
  await clock.advance(MINUTE)
  t.regex(swapOrders.find('b')?.failure ?? '', /shop in watchOrder/)
  t.deepEqual(shop.requests[0]?.userSettings, { apiKey: 'mine' })
})

test('an order that is late may still be sent back within a week, and is then let go', async t => {
  const shop: Counter = { requests: [], say: () => ({ state: 'late' }) }
  const { swapOrders, clock } = openOrders(shop)
  await swapOrders.begin(paymentOf('a'))
  await clock.advance(DAY)
  t.like(only({ swapOrders }), { state: 'late', isFollowed: true })
  await clock.advance(7 * DAY)
  t.like(only({ swapOrders }), { state: 'late', isFollowed: false })
  const { length } = shop.requests
  t.true(length < 100, `asked ${length} times`)
  await swapOrders.refresh()
  await clock.advance(30 * DAY)
  t.is(shop.requests.length, length)
  t.is(clock.timerCount, 0)
})

test('an order that is never ended is let go after 30 days, also by a clock that was turned back', async t => {
  const store = mapStore()
  const shop: Counter = { requests: [], say: () => ({ state: 'exchanging' }) }
  const { swapOrders, clock } = openOrders(shop, store)
  await clock.advance(DAY)
  await swapOrders.begin(paymentOf('a'))
  await clock.advance(DAY)
  await swapOrders.close()
  // This one begins a day before the order was paid.
  const again = openOrders(shop, store)
  const { length } = shop.requests
  await again.clock.advance(HOUR)
  t.true(shop.requests.length > length)
  await again.clock.advance(32 * DAY)
  t.like(only(again), { state: 'exchanging', isFollowed: false })
  t.is(again.clock.timerCount, 0)
})

test('what cannot be read on the disk stays there and stops nothing', async t => {
  const store = mapStore()
  await store.write(
    new Map([
      ['x', 'no JSON'],
      ['y', '{"txid":"other"}'],
      ['z', '{"txid":"z","state":"eaten"}']
    ])
  )
  const { swapOrders } = openOrders({ requests: [], say: () => ({ state: 'seen' }) }, store)
  await swapOrders.begin(paymentOf('a'))
  t.is(swapOrders.getSnapshot().length, 1)
  t.is([...store.entries('')].length, 4)
})

test('of the orders that are over the newest 500 are kept, and one that is not over gives way to none', async t => {
  const store = mapStore()
  const isOver = new Set<string>()
  const shop: Counter = {
    requests: [],
    say: ({ txid }) => (isOver.has(txid) ? { state: 'paidOut', payoutTxid: TXID } : { state: 'exchanging' })
  }
  const { swapOrders, clock } = openOrders(shop, store)
  await swapOrders.begin(paymentOf('oldest'))
  await clock.advance(MINUTE)
  for (let count = 0; count < 502; count += 1) {
    if (count !== 7) isOver.add(`tx-${count}`)
    await swapOrders.begin(paymentOf(`tx-${count}`))
    await clock.advance(1)
  }
  // All are open still.
  t.is(swapOrders.getSnapshot().length, 503)
  await swapOrders.refresh()
  t.like(swapOrders.find('oldest'), { state: 'exchanging', isFollowed: true })
  await swapOrders.begin(paymentOf('next'))
  t.is(swapOrders.find('tx-0'), undefined)
  t.is(store.get('tx-0'), undefined)
  for (const kept of ['oldest', 'tx-1', 'tx-7', 'tx-501', 'next']) {
    t.truthy(swapOrders.find(kept), kept)
    t.truthy(store.get(kept), kept)
  }
  // One that was paid before all of them pushes out none that is newer, also once it is over.
  isOver.add('older')
  await swapOrders.follow(paymentOf('older'))
  await swapOrders.refresh()
  t.truthy(swapOrders.find('tx-1'))
  await swapOrders.begin(paymentOf('last'))
  t.is(swapOrders.find('older'), undefined)
  t.truthy(swapOrders.find('tx-1'))
  const again = openOrders(shop, store)
  t.deepEqual(
    again.swapOrders.getSnapshot().map(({ txid }) => txid),
    swapOrders.getSnapshot().map(({ txid }) => txid)
  )
})

const mapStore = (): EngineStore => {
  const texts = new Map<string, string>()
  return {
    get: key => texts.get(key),
    entries: prefix => [...texts].filter(([key]) => key.startsWith(prefix)),
    async write(changes) {
      for (const [key, text] of changes) {
        if (text === null) texts.delete(key)
        else texts.set(key, text)
      }
    }
  }
}
