import test from 'ava'
import { answerInstead } from '../../../fake-server/base/faults.ts'
import { nativeAmount } from '../../../kernel/base/amount.ts'
import type { WalletError } from '../../../kernel/base/errors.ts'
import { sideshift } from '../../../plugins/swap/sideshift.ts'
import { type SwapContract, testSwapExchange } from '../../contracts/swap-exchange.ts'
import { DEPOSIT_TO, dealOf, offerOf, openSwapHome, orderOf } from '../../helpers/swap-context.ts'

const contract: SwapContract = {
  plugin: sideshift,
  options: { affiliateId: 'affiliate7', secret: 'secret-7c1f' },
  from: 'btc',
  to: 'ltc',
  isFixed: true,
  limits: { from: ['below', 'above'], to: ['below', 'above'] },
  expected: ({ world }, fromAmount) => dealOf(world.swaps.sideshift, 'BTC', fromAmount),
  block: ({ world }) => {
    world.swaps.sideshift.behaviour.isBlocked = true
  },
  close: ({ world }) => void world.swaps.sideshift.behaviour.closed.add('BTC'),
  mislead: ({ world }) => {
    world.swaps.sideshift.behaviour.isPayInWrong = true
  },
  drift: ({ world }) => {
    world.swaps.sideshift.behaviour.driftBasisPoints = 500
  }
}

testSwapExchange(test, contract)
testSwapExchange(
  ((title: string, run: never) => test(`${title}, in the opposite direction`, run)) as typeof test,
  {
    ...contract,
    from: 'ltc',
    to: 'btc',
    expected: ({ world }, amount) => dealOf(world.swaps.sideshift, 'LTC', amount)
  }
)

const SIDESHIFT = { affiliateId: 'affiliate7', secret: 'secret-7c1f' }

test('sideshift: the secret goes with every request that may need it, and without an affiliate no request is sent', async t => {
  const home = openSwapHome(sideshift, SIDESHIFT)
  await orderOf(await offerOf(home.query({})))
  const [list, ...others] = home.sent
  t.is(list?.options.headers?.['x-sideshift-secret'], undefined)
  for (const { options } of others) t.is(options.headers?.['x-sideshift-secret'], 'secret-7c1f')
  const bare = openSwapHome(sideshift, { secret: 'secret-7c1f' })
  await t.throwsAsync(bare.query({}).done, { code: 'SWAP_PERMISSION' })
  t.deepEqual(bare.sent, [])
})

test('sideshift: the order names the quote and both addresses, and lasts as long as it says', async t => {
  const home = openSwapHome(sideshift, SIDESHIFT)
  const offer = await offerOf(home.query({}))
  await home.clock.advance(100_000)
  const order = await orderOf(offer)
  const { quoteId, ...body } = JSON.parse(home.sent.at(-1)?.options.body ?? '')
  t.regex(quoteId, /^[0-9a-f]{20}$/)
  t.deepEqual(body, {
    affiliateId: 'affiliate7',
    settleAddress: DEPOSIT_TO.litecoin,
    refundAddress: DEPOSIT_TO.bitcoin
  })
  t.is(order.expirationDate?.getTime(), home.clock.now() + 600_000)
  t.is(order.orderUri, `https://sideshift.ai/orders/${order.orderId}`)
})

test('sideshift: a country that is refused with the quote or the order is a restriction, too', async t => {
  const home = openSwapHome(sideshift, SIDESHIFT)
  const offer = await offerOf(home.query({}))
  const reply = { status: 403, headers: {}, body: '{"error":{"message":"country-blocked"}}' }
  const port = { clock: home.clock, random: () => 0 }
  home.world.providers.use(answerInstead(port, reply, { method: 'POST' }), 'sideshift')
  const error = await t.throwsAsync(orderOf(offer), { code: 'SWAP_PERMISSION' })
  t.deepEqual((error as WalletError<'SWAP_PERMISSION'>).details.reason, 'geoRestriction')
  await t.throwsAsync(home.query({}).done, { code: 'SWAP_PERMISSION' })
})

test('sideshift: a user without permission is refused before a price is requested', async t => {
  const home = openSwapHome(sideshift, SIDESHIFT)
  const port = { clock: home.clock, random: () => 0 }
  const reply = { status: 200, headers: {}, body: '{"createShift":false}' }
  home.world.providers.use(answerInstead(port, reply, { path: /permissions$/ }), 'sideshift')
  const error = await t.throwsAsync(home.query({}).done, { code: 'SWAP_PERMISSION' })
  t.is((error as WalletError<'SWAP_PERMISSION'>).details.reason, 'geoRestriction')
  t.false(home.sent.some(({ url }) => /pair|quotes/.test(url)))
})

test('sideshift: an error about moved limits names the limit that was reported before', async t => {
  const home = openSwapHome(sideshift, SIDESHIFT)
  const port = { clock: home.clock, random: () => 0 }
  for (const [words, code] of [
    ['Amount too low', 'SWAP_BELOW_LIMIT'],
    ['Amount too high', 'SWAP_ABOVE_LIMIT'],
    ['Deposit method is disabled', 'SWAP_CURRENCY']
  ] as const) {
    const reply = { status: 400, headers: {}, body: JSON.stringify({ error: { message: words } }) }
    const stop = home.world.providers.use(answerInstead(port, reply, { method: 'POST' }), 'sideshift')
    await t.throwsAsync(home.query({}).done, { code })
    stop()
  }
})

test('sideshift: a deposit memo is set in the form of its chain; on a chain without memos the order is refused', async t => {
  const home = openSwapHome(sideshift, SIDESHIFT)
  const ripple = { pluginId: 'ripple', tokenId: null, currencyCode: 'XRP', multiplier: '1000000' }
  let memo = '77'
  home.world.providers.use(async (request, next) => {
    const reply = await next()
    if (request.path.endsWith('/coins')) {
      const xrp = { coin: 'XRP', networks: ['ripple'] }
      return { ...reply, body: JSON.stringify([...JSON.parse(reply.body), xrp]) }
    }
    // The fake exchange has no such chain: what it says of bitcoin stands for it.
    if (request.path.includes('/pair/xrp')) return { ...reply, status: 200, body: PAIR }
    if (request.path.endsWith('/quotes') && reply.status !== 201)
      return { ...reply, status: 201, body: QUOTE }
    if (!request.path.endsWith('/shifts/fixed')) return reply
    return { ...reply, status: 201, body: JSON.stringify({ ...JSON.parse(SHIFT), depositMemo: memo }) }
  }, 'sideshift')
  const xrp = await offerOf(home.query({ from: ripple }))
  const paid = await orderOf(xrp)
  t.deepEqual(paid.spends[0]?.memos, [{ type: 'number', value: '77' }])
  // One XRP has six decimals, a hundredth of an LTC is of eight.
  t.is(`${paid.fromNativeAmount} for ${paid.toNativeAmount}`, '1000000 for 1000000')
  const btc = await offerOf(home.query({}))
  await t.throwsAsync(orderOf(btc), { code: 'SWAP_CHANGED', message: /memo/ })
  memo = ''
  t.is((await orderOf(btc)).spends[0]?.memos, undefined)
})

const PAIR = '{"min":"0.1","max":"100000","rate":"0.01"}'
const QUOTE = '{"id":"q","depositAmount":"1","settleAmount":"0.01"}'
const SHIFT = '{"id":"s","depositAddress":"r","depositAmount":"1","settleAmount":"0.01"}'

test('sideshift: figures of any length are an offer or a reply that makes no sense, and never a fault of the plugin', async t => {
  const home = openSwapHome(sideshift, SIDESHIFT)
  const tiny = `0.${'0'.repeat(50)}1234567`
  home.world.providers.use(async (request, next) => {
    const reply = await next()
    if (!request.path.includes('/pair/')) return reply
    return {
      ...reply,
      body: JSON.stringify({ min: tiny, max: '123456.7890123', rate: `770.${'1'.repeat(59)}` })
    }
  }, 'sideshift')
  const offer = await offerOf(home.query({ quoteFor: 'to', amount: '700000000' }))
  t.is(offer.toNativeAmount, nativeAmount('700000000'))
  const below = await t.throwsAsync(home.query({ quoteFor: 'to', amount: '0' }).done)
  t.is((below as WalletError<'SWAP_BELOW_LIMIT'>).details.nativeMin, '1')
  const error = await t.throwsAsync(home.query({ quoteFor: 'to', amount: '9513600000000000' }).done)
  // 123456.7890123 times 770.11…1, to the last unit below it.
  t.is((error as WalletError<'SWAP_ABOVE_LIMIT'>).details.nativeMax, '9507544496047236')
})
