import test from 'ava'
import { nativeAmount } from '../../../kernel/base/amount.ts'
import type { WalletError } from '../../../kernel/base/errors.ts'
import type { SpendInfo } from '../../../kernel/types/transaction.ts'
import { mayaprotocol, thorchain, writeMemo } from '../../../plugins/swap/thorchain.ts'
import { swapAssets } from '../../../testing/swap-lab.ts'
import { type SwapContract, testSwapExchange } from '../../contracts/swap-exchange.ts'
import { DEPOSIT_TO, offerOf, openSwapHome, orderOf } from '../../helpers/swap-context.ts'

const contract: SwapContract = {
  plugin: thorchain,
  options: {},
  from: 'btc',
  to: 'ltc',
  isFixed: false,
  limits: { from: ['below'], to: ['below'] },
  expected: ({ world }, amount) => world.swaps.thorchain.swap(amount, 'BTC.BTC', 'LTC.LTC'),
  close: ({ world }) => void world.swaps.thorchain.behaviour.halted.add('BTC'),
  mislead: ({ world }) => {
    world.swaps.thorchain.behaviour.isPayInWrong = true
  },
  drift: ({ world }) => {
    world.swaps.thorchain.behaviour.driftBasisPoints = 500
  }
}

testSwapExchange(test, contract)

const memoOf = (spend: SpendInfo | undefined): string => spend?.memos?.[0]?.value ?? ''

test('thorchain: the vault is paid with a memo of at most 80 bytes that names the asset, the address and the least to arrive', async t => {
  const home = openSwapHome(thorchain, { affiliate: 'hf', affiliateBasisPoints: '50' })
  const requested = home.query({})
  const offer = await offerOf(requested)
  await home.clock.advance(10_000)
  const order = await orderOf(offer)
  t.is(order.expirationDate?.getTime(), home.clock.now() + 900_000)
  const [spend] = order.spends
  t.is(spend?.spendTargets[0]?.publicAddress, home.world.swaps.thorchain.addressOn('bitcoin'))
  t.is(memoOf(spend), `=:l:${DEPOSIT_TO.litecoin}:${offer.minReceiveAmount}/1/0:hf:50`)
  t.true(memoOf(spend).length <= 80)
  // 2 % below what is expected.
  t.is(offer.minReceiveAmount, nativeAmount(String((BigInt(offer.toNativeAmount) * 98n + 99n) / 100n)))
  t.is(spend?.networkFeeOption, 'high')
  // The fee is that of a payment with this very memo.
  t.is(memoOf(requested.fees[0]?.[0]), memoOf(spend))
  t.true(offer.canBePartial)
  t.is(offer.maxFulfillmentSeconds, 612)
  t.false(home.sent.some(({ url }) => url.includes('rltc1')))
  const requestsFor = home.sent
    .filter(({ url }) => url.includes('/quote/'))
    .map(({ url }) => new URL(url).searchParams)
  t.is(requestsFor.length, 2)
  for (const query of requestsFor) t.is(`${query.get('affiliate')} ${query.get('affiliate_bps')}`, 'hf 50')
})

test('thorchain: the slippage is a setting, and no more than half', async t => {
  const home = openSwapHome(thorchain, { slippageBasisPoints: '100' })
  const usual = await offerOf(home.query({}))
  t.is(BigInt(usual.minReceiveAmount ?? 0), (BigInt(usual.toNativeAmount) * 99n + 99n) / 100n)
  const daring = await offerOf(home.query({ userSettings: { slippageBasisPoints: '9999' } }))
  t.is(BigInt(daring.minReceiveAmount ?? 0), (BigInt(daring.toNativeAmount) + 1n) / 2n)
})

test('thorchain: an amount to receive costs about as much as it must, also after the prices of the pools have moved', async t => {
  for (const slippageBasisPoints of ['0', '5', '200']) {
    const home = openSwapHome(thorchain, { slippageBasisPoints })
    const options = { quoteFor: 'to', amount: '700000000' } as const
    const before = await offerOf(home.query(options))
    for (const price of ['60', '75', '95']) {
      home.world.providers.market.setPrice('LTC', price)
      const offer = await offerOf(home.query(options))
      t.is(offer.toNativeAmount, nativeAmount('700000000'))
      const arrives =
        home.world.swaps.thorchain.swap(BigInt(offer.fromNativeAmount), 'BTC.BTC', 'LTC.LTC') ?? 0n
      t.true(arrives >= 700_000_000n && arrives <= 707_000_000n, `${arrives} at ${price}`)
      // The kernel takes no promise of more than the amount.
      t.true(BigInt(offer.minReceiveAmount ?? 0) <= 700_000_000n)
      t.true(BigInt(offer.minReceiveAmount ?? 0) >= 686_000_000n)
    }
    t.true(BigInt(before.minReceiveAmount ?? 0) <= 700_000_000n)
  }
})

test('thorchain: a quote without an expiry is refused, and the limit in the memo is never zero', async t => {
  const home = openSwapHome(thorchain)
  let change: Readonly<Record<string, unknown>> = { expected_amount_out: '1' }
  home.world.providers.use(async (request, next) => {
    const reply = await next()
    if (!request.path.includes('/quote/swap')) return reply
    return { ...reply, body: JSON.stringify({ ...JSON.parse(reply.body), ...change }) }
  }, 'thorchain')
  const [spend] = (await orderOf(await offerOf(home.query({})))).spends
  t.is(memoOf(spend), `=:l:${DEPOSIT_TO.litecoin}:1/1/0`)
  change = { expiry: undefined }
  await t.throwsAsync(home.query({}).done, { code: 'BAD_REPLY', message: /expiry/ })
})

test('thorchain: the minimum is the recommended one, or the amount itself after a refusal without a figure', async t => {
  const home = openSwapHome(thorchain)
  home.world.swaps.thorchain.behaviour.outboundUsd = '0'
  for (const [status, change, least] of [
    [200, { recommended_min_amount_in: '1000001' }, '1000001'],
    [200, { recommended_min_amount_in: '1234567' }, '1234567'],
    [400, { message: 'failed to simulate swap: swap too small' }, '1000001']
  ] as const) {
    const stop = home.world.providers.use(async (request, next) => {
      const reply = await next()
      if (!request.path.includes('/quote/swap')) return reply
      const said = status === 200 ? JSON.parse(reply.body) : {}
      return { ...reply, status, body: JSON.stringify({ ...said, ...change }) }
    }, 'thorchain')
    const error = await t.throwsAsync(home.query({}).done, { code: 'SWAP_BELOW_LIMIT' })
    t.is((error as WalletError<'SWAP_BELOW_LIMIT'>).details.nativeMin, least)
    stop()
  }
})

test('thorchain: a pool that is not open is a pair that it does not support', async t => {
  const home = openSwapHome(thorchain)
  home.world.providers.use(async (request, next) => {
    const reply = await next()
    if (!request.path.includes('/pools')) return reply
    const rows = JSON.parse(reply.body).map((row: object) => ({ ...row, status: 'staged' }))
    return { ...reply, body: JSON.stringify(rows) }
  }, 'thorchain')
  await t.throwsAsync(home.query({}).done, { code: 'SWAP_CURRENCY' })
})

test('thorchain: a pool without a price does not affect the others', async t => {
  const home = openSwapHome(thorchain)
  home.world.providers.use(async (request, next) => {
    const reply = await next()
    if (!request.path.includes('/pools')) return reply
    const rows = [{ asset: 'ETH.UFO-0X1', status: 'available', assetPrice: 'NaN' }, ...JSON.parse(reply.body)]
    return { ...reply, body: JSON.stringify(rows) }
  }, 'thorchain')
  t.true((await offerOf(home.query({}))).isEstimate)
})

test('thorchain: a halted chain, on either side, stops the quote and the order', async t => {
  for (const chain of ['BTC', 'LTC']) {
    const home = openSwapHome(thorchain)
    const offer = await offerOf(home.query({}))
    home.world.swaps.thorchain.behaviour.halted.add(chain)
    await t.throwsAsync(home.query({}).done, { code: 'SWAP_CURRENCY' })
    await t.throwsAsync(orderOf(offer), { code: 'SWAP_CURRENCY' })
  }
  // A server that answers quotes all the same is not believed, and what is no clear no is a halt.
  for (const halt of [
    { global_trading_paused: true },
    { chain_trading_paused: true },
    { halted: 'true' },
    { halted: 1 },
    { chain_trading_paused: 'yes' }
  ]) {
    const home = openSwapHome(thorchain)
    home.world.providers.use(async (request, next) => {
      const reply = await next()
      if (!request.path.endsWith('inbound_addresses')) return reply
      const rows = JSON.parse(reply.body).map((row: object) => ({ ...row, ...halt }))
      return { ...reply, body: JSON.stringify(rows) }
    }, 'thorchain')
    await t.throwsAsync(home.query({}).done, { code: 'SWAP_CURRENCY' }, JSON.stringify(halt))
  }
})

test('thorchain: the maximum of the wallet is computed with the longest memo', async t => {
  const home = openSwapHome(thorchain)
  const requested = home.query({ quoteFor: 'max' })
  await offerOf(requested)
  t.is(memoOf(requested.maxima[0]).length, 80)
})

test('thorchain: dust names more than dust, and a refusal without a figure names one', async t => {
  const home = openSwapHome(thorchain)
  home.world.swaps.thorchain.behaviour.outboundUsd = '0'
  const dust = await t.throwsAsync(home.query({ amount: '10000' }).done, { code: 'SWAP_BELOW_LIMIT' })
  t.is((dust as WalletError<'SWAP_BELOW_LIMIT'>).details.nativeMin, '10001')
  t.false(home.sent.some(({ url }) => url.includes('/quote/')))
  home.world.swaps.thorchain.behaviour.outboundUsd = '100'
  const small = await t.throwsAsync(home.query({ amount: '20000' }).done, { code: 'SWAP_BELOW_LIMIT' })
  // Four payouts of 100 USD, by the prices of the pools.
  const { nativeMin, direction } = (small as WalletError<'SWAP_BELOW_LIMIT'>).details
  t.is(direction, 'from')
  t.true(BigInt(nativeMin) > 615_000n && BigInt(nativeMin) < 616_000n, nativeMin)
})

test('thorchain: a price that falls below the limit of the memo is refused when it is ordered', async t => {
  const home = openSwapHome(thorchain)
  const offer = await offerOf(home.query({}))
  home.world.providers.market.setPrice('LTC', '90')
  await t.throwsAsync(orderOf(offer), { code: 'SWAP_CHANGED' })
})

test('thorchain: a quote for another vault than the network lists is not paid', async t => {
  const home = openSwapHome(thorchain)
  const offer = await offerOf(home.query({}))
  home.world.swaps.thorchain.behaviour.isPayInWrong = true
  await t.throwsAsync(orderOf(offer), { message: /names two vaults/ })
})

test('thorchain: it pays out to chains that carry no memo, and is not paid from them', async t => {
  const home = openSwapHome(thorchain)
  const offer = await offerOf(home.query({ to: swapAssets.usdc }))
  const [spend] = (await orderOf(offer)).spends
  t.regex(memoOf(spend), /^=:ETH\.USDC-06EB48:0x[0-9A-Fa-f]{40}:\d+\/1\/0$/)
  t.true(memoOf(spend).length <= 80)
  for (const from of [swapAssets.eth, swapAssets.usdc]) {
    await t.throwsAsync(home.query({ from, to: swapAssets.ltc, amount: '1000000000000000000' }).done, {
      code: 'SWAP_CURRENCY'
    })
  }
})

test('mayaprotocol: the same plugin on other servers, whose own coin has ten decimals', async t => {
  const home = openSwapHome(mayaprotocol)
  const cacao = { pluginId: 'mayachain', tokenId: null, currencyCode: 'CACAO', multiplier: '10000000000' }
  const offer = await offerOf(home.query({ to: cacao }))
  const price = home.world.providers.market.ratioOf('BTC', 'CACAO')
  const fair = (10n ** 8n * (price?.numerator ?? 0n)) / (price?.denominator ?? 1n)
  const got = BigInt(offer.toNativeAmount)
  t.true(got < fair && got > (fair * 99n) / 100n, `${got} of ${fair}`)
  t.true(home.sent.every(({ url }) => /^https:\/\/(?:mayanode|midgard)\.mayachain\.info\//.test(url)))
  t.regex(memoOf((await orderOf(offer)).spends[0]), /^=:MAYA\.CACAO:0x[0-9A-Fa-f]+:\d+\/1\/0$/)
  await t.throwsAsync(home.query({}).done, { code: 'SWAP_CURRENCY' })
})

test('a memo that does not fit leaves out the streaming, then the affiliate, and is refused when that is not enough', t => {
  const memo = (length: number) =>
    writeMemo({
      asset: 'BTC.BTC',
      shortName: 'b',
      destination: 'x'.repeat(length),
      limit: 123n,
      affiliate: { name: 'hf', basisPoints: '50' }
    })
  t.is(memo(60), `=:b:${'x'.repeat(60)}:123/1/0:hf:50`)
  t.is(memo(66), `=:b:${'x'.repeat(66)}:123:hf:50`)
  t.is(memo(70), `=:b:${'x'.repeat(70)}:123`)
  t.throws(() => memo(73), { code: 'MEMO_INVALID' })
  const plus = { asset: 'BTC.BTC', shortName: 'b', destination: 'x', limit: 1n }
  t.is(writeMemo({ ...plus, affiliate: { name: 'hf+1', basisPoints: '5' } }), '=:b:x:1/1/0:hf+1:5')
  // The network writes these addresses without the name of their chain, whose colon would end the part.
  t.is(writeMemo({ ...plus, destination: 'bitcoincash:qqx' }), '=:b:qqx:1/1/0')
  for (const destination of ['a:b', 'a b', 'ä', 'a\n', 'a/b']) {
    const odd = { asset: 'BTC.BTC', shortName: 'b', destination, limit: 1n }
    t.throws(() => writeMemo(odd), { code: 'MEMO_INVALID' }, destination)
  }
})
