import test from 'ava'
import { answerInstead, refusalReply } from '../../../fake-server/base/faults.ts'
import type { WalletError } from '../../../kernel/base/errors.ts'
import { letsexchange } from '../../../plugins/swap/letsexchange.ts'
import { type SwapContract, testSwapExchange } from '../../contracts/swap-exchange.ts'
import { DEPOSIT_TO, dealOf, offerOf, openSwapHome, orderOf } from '../../helpers/swap-context.ts'

const contract: SwapContract = {
  plugin: letsexchange,
  options: { apiKey: 'fake-key-7c1f', affiliateId: 'affiliate7' },
  from: 'btc',
  to: 'ltc',
  isFixed: true,
  limits: { from: ['below', 'above'], to: ['below', 'above'] },
  expected: ({ world }, fromAmount) => dealOf(world.swaps.letsexchange, 'BTC', fromAmount),
  block: ({ world }) => {
    world.swaps.letsexchange.behaviour.isBlocked = true
  },
  close: ({ world }) => void world.swaps.letsexchange.behaviour.closed.add('BTC'),
  mislead: ({ world }) => {
    world.swaps.letsexchange.behaviour.isPayInWrong = true
  },
  drift: ({ world }) => {
    world.swaps.letsexchange.behaviour.driftBasisPoints = 500
  }
}

testSwapExchange(test, contract)
testSwapExchange(
  ((title: string, run: never) => test(`${title}, in the opposite direction`, run)) as typeof test,
  {
    ...contract,
    from: 'ltc',
    to: 'btc',
    expected: ({ world }, amount) => dealOf(world.swaps.letsexchange, 'LTC', amount)
  }
)

test('letsexchange: the order has the rate, both addresses and the promo code, and requests a fixed amount', async t => {
  const home = openSwapHome(letsexchange, { apiKey: 'app-key', affiliateId: 'affiliate7' })
  const offer = await offerOf(home.query({ promoCode: 'SPRING', quoteFor: 'to', amount: '700000000' }))
  t.is(offer.expirationDate?.getTime(), home.clock.now() + 600_000)
  const order = await orderOf(offer)
  const { url, options } = home.sent.at(-1) ?? { url: '', options: {} }
  t.is(url, 'https://api.letsexchange.io/api/v1/transaction-revert')
  t.is(options.headers?.authorization, 'Bearer app-key')
  const { rate_id, ...body } = JSON.parse(options.body ?? '')
  t.regex(rate_id, /^[0-9a-f]{20}$/)
  t.deepEqual(body, {
    coin_from: 'BTC',
    coin_to: 'LTC',
    network_from: 'BTC',
    network_to: 'LTC',
    withdrawal_amount: '7',
    withdrawal: DEPOSIT_TO.litecoin,
    withdrawal_extra_id: '',
    return: DEPOSIT_TO.bitcoin,
    return_extra_id: '',
    affiliate_id: 'affiliate7',
    promocode: 'SPRING',
    float: false
  })
  t.is(order.expirationDate?.getTime(), home.clock.now() + 600_000)
})

test('letsexchange: an order that wants a memo bitcoin does not have is refused', async t => {
  const home = openSwapHome(letsexchange, { apiKey: 'app-key' })
  const offer = await offerOf(home.query({}))
  home.world.providers.use(async (request, next) => {
    const reply = await next()
    if (!request.path.endsWith('/transaction')) return reply
    return { ...reply, body: JSON.stringify({ ...JSON.parse(reply.body), deposit_extra_id: '77' }) }
  }, 'letsexchange')
  await t.throwsAsync(orderOf(offer), { code: 'SWAP_CHANGED', message: /wants a memo/ })
})

test('letsexchange: a listed pair that cannot be swapped is unsupported; other refusals are failures of the provider', async t => {
  for (const [status, code] of [
    [422, 'SWAP_CURRENCY'],
    [400, 'SERVER']
  ] as const) {
    const home = openSwapHome(letsexchange, { apiKey: 'app-key' })
    const port = { clock: home.clock, random: () => 0 }
    home.world.providers.use(answerInstead(port, refusalReply(status), { path: /info$/ }), 'letsexchange')
    await t.throwsAsync(home.query({}).done, { code })
  }
})

test('letsexchange: the largest amount is named as the largest, not as the smallest', async t => {
  const home = openSwapHome(letsexchange, { apiKey: 'app-key' })
  home.world.swaps.letsexchange.behaviour.maxUsd = '6500'
  const error = await t.throwsAsync(home.query({ amount: '50000000' }).done, { code: 'SWAP_ABOVE_LIMIT' })
  t.deepEqual((error as WalletError<'SWAP_ABOVE_LIMIT'>).details, {
    pluginId: 'letsexchange',
    nativeMax: '10000000',
    direction: 'from'
  })
})
