import test from 'ava'
import { nativeAmount } from '../../../kernel/base/amount.ts'
import type { WalletError } from '../../../kernel/base/errors.ts'
import { changenow } from '../../../plugins/swap/changenow.ts'
import { swapAssets } from '../../../testing/swap-lab.ts'
import { type SwapContract, testSwapExchange } from '../../contracts/swap-exchange.ts'
import {
  DEPOSIT_TO,
  dealOf,
  offerOf,
  openSwapHome,
  orderOf,
  type SwapHome
} from '../../helpers/swap-context.ts'

const contract: SwapContract = {
  plugin: changenow,
  options: { apiKey: 'fake-key-7c1f' },
  from: 'btc',
  to: 'ltc',
  isFixed: true,
  limits: { from: ['below'], to: ['below', 'above'] },
  expected: ({ world }, fromAmount) => dealOf(world.swaps.changenow, 'BTC', fromAmount),
  block: ({ world }) => {
    world.swaps.changenow.behaviour.isBlocked = true
  },
  close: ({ world }) => void world.swaps.changenow.behaviour.closed.add('BTC'),
  mislead: ({ world }) => {
    world.swaps.changenow.behaviour.isPayInWrong = true
  },
  drift: ({ world }) => {
    world.swaps.changenow.behaviour.driftBasisPoints = 500
  }
}

testSwapExchange(test, contract)
testSwapExchange(
  ((title: string, run: never) => test(`${title}, in the opposite direction`, run)) as typeof test,
  {
    ...contract,
    from: 'ltc',
    to: 'btc',
    expected: ({ world }, amount) => dealOf(world.swaps.changenow, 'LTC', amount)
  }
)

const CHANGENOW = { apiKey: 'app-key' }

test('changenow: without a key no request is sent; a key of the user takes precedence over that of the application', async t => {
  const home = openSwapHome(changenow)
  const error = await t.throwsAsync(home.query({}).done, { code: 'SWAP_PERMISSION' })
  t.deepEqual((error as WalletError<'SWAP_PERMISSION'>).details, {
    pluginId: 'changenow',
    reason: 'needsActivation'
  })
  t.deepEqual(home.sent, [])
  const other = openSwapHome(changenow, CHANGENOW)
  await offerOf(other.query({ userSettings: { apiKey: 'user-key' } }))
  const keys = other.sent.map(({ options }) => options.headers?.['x-changenow-api-key'])
  t.deepEqual(keys, [undefined, 'user-key', 'user-key'])
})

test('changenow: the order names the rate of the quote, both addresses and the promo code', async t => {
  const home = openSwapHome(changenow, CHANGENOW)
  const offer = await offerOf(home.query({ promoCode: 'SPRING' }))
  await orderOf(offer)
  const { url, options } = home.sent.at(-1) ?? { url: '', options: {} }
  t.is(url, 'https://api.changenow.io/v2/exchange')
  const { rateId, ...body } = JSON.parse(options.body ?? '')
  t.regex(rateId, /^[0-9a-f]{20}$/)
  t.deepEqual(body, {
    fromCurrency: 'btc',
    toCurrency: 'ltc',
    fromNetwork: 'btc',
    toNetwork: 'ltc',
    fromAmount: '0.01',
    type: 'direct',
    flow: 'fixed-rate',
    address: DEPOSIT_TO.litecoin,
    refundAddress: DEPOSIT_TO.bitcoin,
    payload: { promoCode: 'SPRING' }
  })
})

test('changenow: above the limit of fixed rates there is an estimate, whose order has the price at that time', async t => {
  const home = openSwapHome(changenow, CHANGENOW)
  const offer = await offerOf(home.query({ amount: '900000000' }))
  t.true(offer.isEstimate)
  t.is(offer.expirationDate, undefined)
  home.world.providers.market.setPrice('LTC', '90')
  const order = await orderOf(offer)
  t.true(BigInt(order.toNativeAmount) < BigInt(offer.toNativeAmount))
})

test('changenow: if there is neither a fixed rate nor an estimate, the error is that of the fixed rate', async t => {
  const home = openSwapHome(changenow, CHANGENOW)
  const error = await t.throwsAsync(home.query({ amount: '10' }).done, { code: 'SWAP_BELOW_LIMIT' })
  t.is((error as WalletError<'SWAP_BELOW_LIMIT'>).details.direction, 'from')
  const flows = home.sent.flatMap(({ url }) => new URL(url).searchParams.get('flow') ?? [])
  t.deepEqual(flows, ['fixed-rate', 'standard'])
})

test('changenow: a rate that has run out is an order that was refused', async t => {
  const home = openSwapHome(changenow, CHANGENOW)
  const offer = await offerOf(home.query({}))
  await home.clock.advance(601_000)
  await t.throwsAsync(orderOf(offer), { code: 'SWAP_CHANGED', message: 'The order of changenow was refused' })
})

/** Changes the answers to one path, as texts. */
const garble = (home: SwapHome, path: string, change: Readonly<Record<string, string>>): (() => void) =>
  home.world.providers.use(async (request, next) => {
    const reply = await next()
    if (!request.path.replace(/\?.*/, '').endsWith(path)) return reply
    return { ...reply, body: JSON.stringify({ ...JSON.parse(reply.body), ...change }) }
  }, 'changenow')

test('changenow: fractions of a unit are rounded against the user', async t => {
  const home = openSwapHome(changenow, CHANGENOW)
  garble(home, '/range', { minAmount: '0.001000001', maxAmount: '0.020000009' })
  garble(home, '/estimated-amount', { toAmount: '7.123456789', fromAmount: '0.0100000001' })
  t.is((await offerOf(home.query({}))).toNativeAmount, nativeAmount('712345678'))
  const reverse = await offerOf(home.query({ quoteFor: 'to', amount: '712345678' }))
  t.is(reverse.fromNativeAmount, nativeAmount('1000001'))
  const below = await t.throwsAsync(home.query({ amount: '100000' }).done, { code: 'SWAP_BELOW_LIMIT' })
  t.is((below as WalletError<'SWAP_BELOW_LIMIT'>).details.nativeMin, '100001')
  const above = await t.throwsAsync(home.query({ amount: '2000001' }).done, { code: 'SWAP_ABOVE_LIMIT' })
  t.is((above as WalletError<'SWAP_ABOVE_LIMIT'>).details.nativeMax, '2000000')
})

test('changenow: an order that wants a memo bitcoin does not have is refused, and so is one with an error in it', async t => {
  const home = openSwapHome(changenow, CHANGENOW)
  for (const [change, rule] of [
    [{ payinExtraId: '77' }, /wants a memo/],
    [{ error: 'out_of_range' }, /was refused/]
  ] as const) {
    const offer = await offerOf(home.query({}))
    const stop = garble(home, '/exchange', change)
    await t.throwsAsync(orderOf(offer), { code: 'SWAP_CHANGED', message: rule })
    stop()
  }
})

test('changenow: a promised rate ends when it says', async t => {
  const home = openSwapHome(changenow, CHANGENOW)
  const offer = await offerOf(home.query({}))
  const ends = home.clock.now() + 600_000
  t.is(offer.expirationDate?.getTime(), ends)
  t.is((await orderOf(offer)).expirationDate?.getTime(), ends)
})

test('changenow: a token is found by its contract, and paid out to an address of its chain', async t => {
  const home = openSwapHome(changenow, CHANGENOW)
  const offer = await offerOf(home.query({ to: swapAssets.usdc }))
  t.is(offer.toNativeAmount.length, '643564356'.length)
  const query = new URL(home.sent.at(-1)?.url ?? '').searchParams
  t.is(`${query.get('toCurrency')} on ${query.get('toNetwork')}`, 'usdc on eth')
})
