import test from 'ava'
import { makeFakeWorld, openPersistentWorld } from '../../../fake-server/fake-world.ts'
import { FAKE_COINS } from '../../../fake-server/providers/swap/exchange-api.ts'
import type { Deal, FakeExchange, FakeOrder } from '../../../fake-server/providers/swap/fake-exchange.ts'
import { nativeAmount } from '../../../kernel/base/amount.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import type { Json } from '../../../kernel/base/json.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { DEPOSIT_TO } from '../../helpers/swap-context.ts'

const [BTC, LTC] = FAKE_COINS

/** An order of 0.01 BTC for 7 LTC. */
const takeOrder = (exchange: FakeExchange): FakeOrder => {
  if (BTC === undefined || LTC === undefined) throw new Error('no coins')
  const deal: Deal = { from: BTC, to: LTC, fromAmount: 1_000_000n, toAmount: 700_000_000n }
  const order = exchange.takeOrder(deal, {
    payoutAddress: DEPOSIT_TO.litecoin,
    refundAddress: DEPOSIT_TO.bitcoin
  })
  if (order === undefined) throw new Error('no order')
  return order
}

const openHome = () => {
  const clock = makeFakeClock()
  const world = makeFakeWorld({ io: { ...makeNodeIo(), clock } })
  const exchange = world.swaps.sideshift
  const order = takeOrder(exchange)
  const status = (): string | undefined => exchange.order(order.id)?.status
  const paidOut = (): string => world.chains.litecoin.balance(DEPOSIT_TO.litecoin).unconfirmed
  const paidBack = (): string => world.chains.bitcoin.balance(DEPOSIT_TO.bitcoin).unconfirmed
  return { clock, world, exchange, order, status, paidOut, paidBack }
}

test('a deposit is seen when it is sent, exchanged when it has a block, and paid out on the other chain once', async t => {
  const { clock, world, exchange, order, status, paidOut } = openHome()
  exchange.behaviour.exchangeMs = 5000
  t.is(status(), 'waiting')
  world.chain.mine(1)
  t.is(status(), 'waiting')
  const payInTxid = world.chain.fund(order.payInAddress, '1000000')
  t.is(status(), 'confirming')
  world.chain.mine(1)
  t.is(status(), 'exchanging')
  t.is(paidOut(), '0')
  await clock.advance(5000)
  t.is(status(), 'finished')
  t.is(paidOut(), '700000000')
  const ended = exchange.order(order.id)
  t.is(ended?.payInTxid, payInTxid)
  t.truthy(world.chains.litecoin.view.find(ended?.payoutTxid ?? ''))
  world.chain.fund(order.payInAddress, '1000000')
  world.chain.mine(3)
  await clock.advance(60_000)
  t.is(paidOut(), '700000000')
})

test('a deposit below the minimum is refunded in full', async t => {
  const { clock, world, order, status, paidOut, paidBack } = openHome()
  world.chain.fund(order.payInAddress, '999999')
  world.chain.mine(1)
  await clock.advance(1)
  t.is(status(), 'refunded')
  t.is(paidBack(), '999999')
  t.is(paidOut(), '0')
})

test('an unpaid order expires, and a later deposit is refunded', async t => {
  const { clock, world, order, status, paidOut, paidBack } = openHome()
  await clock.advance(601_000)
  world.chain.mine(1)
  t.is(status(), 'expired')
  world.chain.fund(order.payInAddress, '1000000')
  world.chain.mine(1)
  await clock.advance(1)
  t.is(status(), 'refunded')
  t.is(paidBack(), '1000000')
  t.is(paidOut(), '0')
})

test('a deposit in time that gets its block late is paid out', async t => {
  const { clock, world, order, status, paidOut } = openHome()
  world.chain.fund(order.payInAddress, '1000000')
  await clock.advance(601_000)
  world.chain.mine(1)
  await clock.advance(1)
  t.is(status(), 'finished')
  t.is(paidOut(), '700000000')
})

test('a dropped deposit is awaited again', t => {
  const { world, order, status } = openHome()
  const txid = world.chain.fund(order.payInAddress, '1000000')
  t.is(status(), 'confirming')
  world.chain.drop(txid)
  t.is(status(), 'waiting')
})

for (const keepTransactions of [true, false]) {
  test(`a deposit that ${keepTransactions ? 'loses its block' : 'disappears'} in a reorganisation before the payout is awaited again and paid out once`, async t => {
    const { clock, world, exchange, order, status, paidOut, paidBack } = openHome()
    exchange.behaviour.exchangeMs = 5000
    world.chain.fund(order.payInAddress, '1000000')
    world.chain.mine(1)
    t.is(status(), 'exchanging')
    world.chain.reorg(1, { keepTransactions })
    t.is(status(), keepTransactions ? 'confirming' : 'waiting')
    await clock.advance(60_000)
    t.is(paidOut(), '0')
    if (!keepTransactions) {
      t.is(exchange.order(order.id)?.payInTxid, undefined)
      world.chain.fund(order.payInAddress, '1000000')
    }
    world.chain.mine(1)
    await clock.advance(5000)
    t.is(status(), 'finished')
    t.is(paidOut(), '700000000')
    world.chain.reorg(1)
    world.chain.mine(1)
    await clock.advance(60_000)
    t.is(paidOut(), '700000000')
    t.is(paidBack(), '0')
  })
}

test('a dropped deposit in time does not make a late one count as in time', async t => {
  const { clock, world, order, status, paidOut, paidBack } = openHome()
  world.chain.drop(world.chain.fund(order.payInAddress, '1000000'))
  await clock.advance(601_000)
  world.chain.fund(order.payInAddress, '1000000')
  world.chain.mine(1)
  await clock.advance(1)
  t.is(status(), 'refunded')
  t.is(paidBack(), '1000000')
  t.is(paidOut(), '0')
})

test('a payment to a vault whose block is undone before the payout is settled when it has a block again, once', async t => {
  const { clock, world } = openHome()
  const vault = world.swaps.thorchain
  vault.behaviour.exchangeMs = 5000
  world.chain.fund(vault.addressOn('bitcoin'), '50000')
  world.chain.mine(1)
  world.chain.reorg(1)
  await clock.advance(60_000)
  t.deepEqual(vault.actions, [])
  world.chain.mine(1)
  await clock.advance(5000)
  t.is(vault.actions.length, 1)
  world.chain.reorg(1)
  world.chain.mine(1)
  await clock.advance(60_000)
  t.is(vault.actions.length, 1)
})

test('a deposit that cannot be paid out is refunded', async t => {
  const { clock, world, exchange, order, status, paidBack } = openHome()
  exchange.put({ ...order, toAmount: '1' })
  world.chain.fund(order.payInAddress, '1000000')
  world.chain.mine(1)
  await clock.advance(1)
  t.is(status(), 'refunded')
  t.is(paidBack(), '1000000')
})

test('a vault payment without a valid memo is refunded to its sender, once', async t => {
  const { clock, world } = openHome()
  const vault = world.swaps.thorchain
  world.chain.fund(vault.addressOn('bitcoin'), '10000')
  const txid = world.chain.fund(vault.addressOn('bitcoin'), '50000')
  t.deepEqual(vault.actions, [])
  world.chain.mine(1)
  await clock.advance(1)
  world.chain.mine(1)
  await clock.advance(1)
  t.deepEqual(
    vault.actions.map(({ inTxid, type }) => ({ inTxid, type })),
    [{ inTxid: txid, type: 'refund' }]
  )
  const back = world.chain.view.find(vault.actions[0]?.outTxid ?? '')?.tx.outputs ?? []
  t.is(back.filter(({ amount }) => amount === 50_000n).length, 1)
  const paid = [...Array(world.chain.height + 1).keys()].flatMap(height =>
    (world.chain.view.blockAt(height)?.transactions ?? []).flatMap(({ outputs }) => outputs)
  )
  // The payment itself, and what went back.
  t.is(paid.filter(({ amount }) => amount === 50_000n).length, 2)
})

test('a saved world knows its orders and vault payments, and goes on with a payout that was on its way', async t => {
  const { clock, world, exchange, order } = openHome()
  exchange.behaviour.exchangeMs = 5000
  world.chain.fund(order.payInAddress, '1000000')
  world.chain.mine(1)
  t.is(exchange.order(order.id)?.status, 'exchanging')
  const vault = world.swaps.thorchain
  world.chain.fund(vault.addressOn('bitcoin'), '50000')
  world.chain.mine(1)
  await clock.advance(1)
  t.is(vault.actions[0]?.type, 'refund')

  const saved = world.toJson()
  const again = makeFakeWorld({ io: { ...makeNodeIo(), clock }, saved })
  t.deepEqual(again.swaps.thorchain.actions, vault.actions)
  await clock.advance(1)
  const same = again.swaps.sideshift.order(order.id)
  t.is(same?.status, 'finished')
  t.is(again.chains.litecoin.balance(DEPOSIT_TO.litecoin).unconfirmed, nativeAmount('700000000'))
  t.is(again.swaps.thorchain.actions.length, 1)
})

test('orders are durable on a disk before the reply', async t => {
  const files = new Map<string, string>()
  const disk = {
    getText: async (path: string) => files.get(path),
    setText: async (path: string, text: string) => void files.set(path, text),
    delete: async (path: string) => void files.delete(path),
    list: async () => [...files.keys()].sort()
  }
  const io = { ...makeNodeIo(), clock: makeFakeClock() }
  const world = await openPersistentWorld({ io, disk })
  const order = takeOrder(world.swaps.letsexchange)
  await world.saved()
  const again = await openPersistentWorld({ io, disk: { ...disk } })
  t.deepEqual(again.swaps.letsexchange.order(order.id), order)
})

test('a damaged order is refused with its world', t => {
  const { world } = openHome()
  const damage = (change: (order: Record<string, unknown>) => void): unknown => {
    const saved = JSON.parse(JSON.stringify(world.toJson()))
    const entry = saved.entries.find((each: Record<string, unknown>) => each.id === 'sideshift')
    change(entry.state[0])
    return t.throws(() => makeFakeWorld({ io: makeNodeIo(), saved: saved as Json }))
  }
  for (const [name, value] of [
    ['id', 7],
    ['status', 'lost'],
    ['payInChain', 'dogecoin'],
    ['expiresAt', 'soon'],
    ['isLate', 0],
    ['payInTxid', 1]
  ] as const) {
    const error = damage(order => {
      order[name] = value
    })
    t.true(isWalletError(error, 'CORRUPT_FILE'), name)
  }
})

test('an order for an address of another chain, or for a chain that the world lacks, is not taken', t => {
  const { exchange } = openHome()
  if (BTC === undefined || LTC === undefined) return t.fail()
  const deal: Deal = { from: BTC, to: LTC, fromAmount: 1n, toAmount: 1n }
  const good = { payoutAddress: DEPOSIT_TO.litecoin, refundAddress: DEPOSIT_TO.bitcoin }
  t.truthy(exchange.takeOrder(deal, good))
  t.is(exchange.takeOrder(deal, { ...good, payoutAddress: DEPOSIT_TO.bitcoin }), undefined)
  t.is(exchange.takeOrder(deal, { ...good, refundAddress: 'nowhere' }), undefined)
  for (const elsewhere of FAKE_COINS.slice(2))
    t.is(exchange.takeOrder({ ...deal, to: elsewhere }, good), undefined)
})
