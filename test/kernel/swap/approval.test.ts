import test from 'ava'
import fc from 'fast-check'
import {
  type ApproveOptions,
  type NativeAmount,
  nativeAmount,
  type SpendInfo,
  type SwapOffer,
  type SwapOrder,
  type SwapQuote,
  type Transaction,
  WalletError
} from '../../../kernel/index.ts'
import { makeShop, offerOf, SHOP_ADDRESS } from '../../helpers/swap-shop.ts'
import { openSwapTable, type SwapTable } from '../../helpers/swap-table.ts'

interface Counter extends SwapTable {
  readonly quote: SwapQuote
  readonly orders: number
}

const pay = (publicAddress: string, amount: string, tokenId: string | null = null): SpendInfo => ({
  tokenId,
  spendTargets: [{ publicAddress, nativeAmount: amount as NativeAmount }]
})

/** A quote of 900 for 1000 whose order is what a test makes of a good one. */
const openCounter = async (
  order: Partial<SwapOrder> | (() => unknown) = {},
  {
    offer = {},
    swapRequest = {}
  }: { offer?: Partial<SwapOffer>; swapRequest?: Parameters<SwapTable['query']>[0] } = {}
): Promise<Counter> => {
  let orders = 0
  const table = openSwapTable(
    [
      makeShop({
        answer: tapContext => {
          const good = offerOf(tapContext, offer)
          tapContext.offer({
            ...good,
            payment: {
              order() {
                orders += 1
                if (typeof order === 'function') return order() as Promise<SwapOrder>
                const { fromNativeAmount, toNativeAmount } = good
                return Promise.resolve({
                  spends: [pay(SHOP_ADDRESS, fromNativeAmount, tapContext.request.from.tokenId)],
                  ...{ fromNativeAmount, toNativeAmount },
                  ...order
                })
              }
            }
          })
        }
      })
    ],
    { gold: { currencyCode: 'GLD', displayName: 'Gold', denominations: [{ name: 'GLD', multiplier: '10' }] } }
  )
  const round = table.query(swapRequest)
  await table.clock.advance(0)
  const [quote] = await round.settled
  if (quote === undefined) throw new Error('There is no quote')
  return {
    ...table,
    quote,
    get orders() {
      return orders
    }
  }
}

const CHANGED = { code: 'SWAP_CHANGED' } as const

test('what is ordered is paid with the record of the swap, and the order is made once', async t => {
  const counter = await openCounter({
    orderId: 'one',
    orderUri: 'https://shop.example/one',
    toNativeAmount: nativeAmount('905')
  })
  const { quote, from } = counter
  t.is(counter.orders, 0)
  const result = await quote.approve({ metadata: { name: 'Beta', notes: 'for later' } })
  t.is(counter.orders, 1)
  t.is(from.spent.length, 1)
  t.is(result.transaction, from.spent[0] as never)
  t.deepEqual(result, {
    transaction: result.transaction,
    orderId: 'one',
    orderUri: 'https://shop.example/one',
    destinationAddress: SHOP_ADDRESS
  })
  t.deepEqual(result.transaction.swapData, {
    orderId: 'one',
    orderUri: 'https://shop.example/one',
    isEstimate: false,
    plugin: { pluginId: 'shop', displayName: 'Shop' },
    payoutAddress: 'beta-wallet-address',
    payoutCurrencyCode: 'BET',
    payoutNativeAmount: nativeAmount('905'),
    payoutWalletId: 'beta-wallet'
  })
  t.deepEqual(result.transaction.metadata, { name: 'Beta', notes: 'for later' })
  t.is(quote.fate, 'approved')
})

test('a quote is approved once, also when two calls come together', async t => {
  const { quote, from } = await openCounter()
  const first = quote.approve()
  await t.throwsAsync(quote.approve(), { code: 'QUOTE_ENDED' })
  await first
  const again = await t.throwsAsync(quote.approve(), { message: 'The quote was already approved' })
  t.deepEqual((again as WalletError).details, { pluginId: 'shop', reason: 'approved' })
  await quote.close()
  await quote.close()
  t.is(quote.fate, 'approved')
  t.is(from.spent.length, 1)
})

test('a quote that has expired is not approved, nor one that expires before the user has confirmed it', async t => {
  const start = new Date(Date.UTC(2026, 0, 1) + 1000)
  const late = await openCounter({}, { offer: { expirationDate: start } })
  await late.clock.advance(1000)
  await t.throwsAsync(late.quote.approve(), { message: 'The quote has expired' })
  t.is(late.quote.fate, 'expired')
  t.is(late.orders, 0)
  t.like(late.reported.at(-1), { fate: 'expired' })

  const slow = await openCounter({}, { offer: { expirationDate: start } })
  const confirm = async (): Promise<boolean> => {
    await slow.clock.advance(1000)
    return true
  }
  await t.throwsAsync(slow.quote.approve({ confirm }), { code: 'QUOTE_ENDED' })
  t.is(slow.quote.fate, 'expired')
  t.is(slow.from.spent.length, 0)
})

test('an order that is worse than the quote, or that makes no sense, is refused and nothing is signed', async t => {
  const link = 'javascript:alert(1)'
  const cases: readonly (readonly [string, Partial<SwapOrder> | (() => unknown)])[] = [
    ['costs 1001 native units instead of 1000', { fromNativeAmount: nativeAmount('1001') }],
    ['gives 899 native units, less than the limit of 900', { toNativeAmount: nativeAmount('899') }],
    ['has expired already', { expirationDate: new Date(Date.UTC(2026, 0, 1)) }],
    ['has a date that makes no sense', { expirationDate: new Date(Number.NaN) }],
    ['has a link that is none', { orderUri: link }],
    ['has a name that makes no sense', { orderId: 'x'.repeat(1001) }],
    ['has amounts that make no sense', { toNativeAmount: 'NaN' as never }],
    ['has amounts that make no sense', { fromNativeAmount: '-5' as never }],
    ['has no payment that makes sense', { spends: [] }],
    ['has no payment that makes sense', { spends: 'all' as never }],
    ['pays out more than it says', { spends: [pay(SHOP_ADDRESS, '1001')] }],
    [
      'pays out more than it says',
      {
        spends: [
          { tokenId: null, spendTargets: [...pay('a', '600').spendTargets, ...pay('b', '600').spendTargets] }
        ]
      }
    ],
    ['asks for more than one payment', { spends: [pay('second', '0'), pay(SHOP_ADDRESS, '1000')] }],
    ['is to be paid in another asset', { spends: [pay(SHOP_ADDRESS, '1000', 'gold')] }],
    ['pays nobody that can be paid', { spends: [pay('', '1000')] }],
    ['pays nobody that can be paid', { spends: [{ tokenId: null, spendTargets: [] }] }],
    ['pays nobody that can be paid', { spends: [pay(SHOP_ADDRESS, '1e3')] }],
    [
      'has a memo that makes no sense',
      { spends: [{ ...pay(SHOP_ADDRESS, '1000'), memos: [{ type: 'text' }] as never }] }
    ],
    ...[
      { networkFeeOption: 'custom' as const },
      { customNetworkFee: { satPerByte: '9' } },
      { networkFeeOption: 'all' as 'high' }
    ].map(
      fee =>
        ['sets a network fee of its own', { spends: [{ ...pay(SHOP_ADDRESS, '1000'), ...fee }] }] as const
    ),
    [
      'pays an address that is none of alpha coin, or of another network',
      { spends: [pay('bad-address', '1000')] }
    ],
    ['pays a link and no address', { spends: [pay('alpha:shop?amount=5', '1000')] }],
    ['is no data', () => Promise.resolve(undefined)]
  ]
  for (const [rule, order] of cases) {
    const counter = await openCounter(order)
    let isRequested = false
    const confirm = async (): Promise<boolean> => {
      isRequested = true
      return true
    }
    const error = await t.throwsAsync(counter.quote.approve({ confirm }), CHANGED, rule)
    t.is(error?.message, `The order of shop ${rule}`)
    t.false(isRequested)
    t.deepEqual([counter.from.spent.length, counter.quote.fate], [0, 'closed'])
  }
})

test("an order that pays an address of the user's own is refused, except where the swap is to arrive on the same chain", async t => {
  const own = await openCounter()
  own.own.add(SHOP_ADDRESS)
  await t.throwsAsync(own.quote.approve(), { message: 'The order of shop pays an address of your own' })

  const deposit = await openCounter({ spends: [pay('beta-wallet-address', '1000')] })
  deposit.own.add('beta-wallet-address')
  await t.throwsAsync(deposit.quote.approve(), CHANGED, 'the other wallet is on another chain')

  const { from } = own
  const savings = { ...own.to, id: 'savings', currencyInfo: from.currencyInfo }
  const transfer = await openCounter(
    { spends: [pay('savings-address', '1000')] },
    {
      swapRequest: {
        toWallet: { ...savings, getReceiveAddress: async () => ({ publicAddress: 'savings-address' }) }
      }
    }
  )
  transfer.own.add('savings-address')
  t.is((await transfer.quote.approve()).destinationAddress, 'savings-address')
})

test('an address is paid in the form in which the currency writes it', async t => {
  const { quote, from } = await openCounter({ spends: [pay('alpha:shop', '1000')] })
  t.is((await quote.approve()).destinationAddress, 'shop')
  t.is(from.requested.spends.at(-1)?.spendTargets[0]?.publicAddress, 'shop')
})

test('the least that an order must give is what was quoted, of an estimate one percent less, or what the caller says', async t => {
  const approve = async (to: string, offer: Partial<SwapOffer>, options: ApproveOptions = {}) => {
    const { quote } = await openCounter({ toNativeAmount: nativeAmount(to) }, { offer })
    return quote.approve(options).then(
      () => 'paid',
      (error: WalletError) => error.code
    )
  }
  const exact = nativeAmount('100000')
  const firm = { toNativeAmount: exact }
  const estimate = { toNativeAmount: exact, isEstimate: true }
  t.is(await approve('100000', firm), 'paid')
  t.is(await approve('99999', firm), 'SWAP_CHANGED')
  t.is(await approve('99000', estimate), 'paid')
  t.is(await approve('98999', estimate), 'SWAP_CHANGED')
  t.is(await approve('98999', estimate, { minReceive: nativeAmount('98999') }), 'paid')
  t.is(await approve('90000', firm, { minReceive: nativeAmount('90000') }), 'paid')
  t.is(await approve('100000', firm, { minReceive: nativeAmount('100001') }), 'SWAP_CHANGED')
  t.is(await approve('100000', firm, { minReceive: 'much' as never }), 'OPTION_INVALID')
  t.is(await approve('100000', firm, { maxNetworkFee: '-1' as never }), 'OPTION_INVALID')
})

test('an estimate that promises less than the caller accepts is not ordered; the review shows the promise', async t => {
  const offer = { isEstimate: true, minReceiveAmount: nativeAmount('880') }
  const low = await openCounter({}, { offer })
  const error = await t.throwsAsync(low.quote.approve({ minReceive: nativeAmount('881') }), CHANGED)
  t.is(error?.message, 'The order of shop promises 880 native units, less than the limit of 881')
  t.deepEqual([low.orders, low.from.spent.length], [0, 0])
  const { quote } = await openCounter({}, { offer })
  await quote.approve({
    minReceive: nativeAmount('880'),
    confirm: async ({ minReceiveAmount, minReceive }) => {
      t.deepEqual([minReceiveAmount, minReceive], [nativeAmount('880'), nativeAmount('880')])
      return true
    }
  })
  t.is(quote.fate, 'approved')
})

test('an order that expires while its approval is sent is not paid', async t => {
  const expirationDate = new Date(Date.UTC(2026, 0, 1) + 1000)
  const table = await openCounter(
    { spends: [pay('gold-contract', '0'), pay('router', '1000', 'gold')], expirationDate },
    { swapRequest: { fromTokenId: 'gold' } }
  )
  const { from, clock, quote } = table
  const { spend } = from
  Object.assign(from, {
    spend: async (draft: Transaction) => {
      await clock.advance(1000)
      return spend(draft)
    }
  })
  await t.throwsAsync(quote.approve(), { message: 'The quote has expired' })
  t.deepEqual([from.spent.length, from.spent[0]?.tokenId, quote.fate], [1, null, 'expired'])
})

test('a provider cannot report the outcome of the payment', async t => {
  const liar = await openCounter(() => Promise.reject(new WalletError('BROADCAST_UNKNOWN', { txid: 'a' })))
  await t.throwsAsync(liar.quote.approve(), { code: 'PLUGIN_FAILED' })
  t.is(liar.quote.fate, 'closed')
})

test('the network may not take more than the caller allows', async t => {
  const { quote, from } = await openCounter()
  const error = await t.throwsAsync(quote.approve({ maxNetworkFee: nativeAmount('6') }), { code: 'MAX_FEE' })
  t.deepEqual((error as WalletError).details, { networkFee: '7', maxFee: '6', currencyCode: 'ALP' })
  t.is(from.spent.length, 0)
  const second = await openCounter()
  await second.quote.approve({ maxNetworkFee: nativeAmount('7') })
  t.is(second.from.spent.length, 1)
})

test('what is confirmed is exactly what is signed, and without a yes nothing is', async t => {
  const { quote, from } = await openCounter({
    orderId: 'one',
    fromNativeAmount: nativeAmount('990'),
    spends: [pay(SHOP_ADDRESS, '990')]
  })
  const reviews: unknown[] = []
  await quote.approve({
    confirm: async ({ drafts, spends, ...review }) => {
      t.is(from.spent.length, 0)
      t.deepEqual(spends, [pay(SHOP_ADDRESS, '990')])
      reviews.push(review, ...drafts)
      return true
    }
  })
  t.deepEqual(reviews[0], {
    swapInfo: { pluginId: 'shop', displayName: 'Shop', isDex: false },
    fromNativeAmount: '990',
    toNativeAmount: '900',
    minReceive: '900',
    isEstimate: false,
    networkFee: { currencyCode: 'ALP', nativeAmount: '7' },
    unusualFees: [],
    allowances: [],
    isOwnCheckComplete: true,
    destinationAddress: SHOP_ADDRESS,
    payoutAddress: 'beta-wallet-address',
    orderId: 'one'
  })
  const { txid, ...signed } = from.spent[0] ?? ({} as never)
  t.deepEqual({ ...signed, txid: '' }, reviews[1] as never)
  t.is(txid, 'txid-1')

  for (const answer of [async () => false, async () => 'yes' as never, async () => undefined as never]) {
    const declined = await openCounter()
    await t.throwsAsync(declined.quote.approve({ confirm: answer }), {
      message: 'The payment was not confirmed'
    })
    t.deepEqual([declined.from.spent.length, declined.quote.fate], [0, 'closed'])
  }
  const broken = await openCounter()
  await t.throwsAsync(broken.quote.approve({ confirm: () => Promise.reject(new Error('no screen')) }), {
    message: 'no screen'
  })
  t.is(broken.from.spent.length, 0)
})

test('an order has 30 seconds, and a refusal keeps the error of the provider', async t => {
  const slow = await openCounter(() => new Promise(() => {}))
  const failed = t.throwsAsync(slow.quote.approve(), { code: 'DEADLINE' })
  await slow.clock.advance(30_000)
  await failed
  t.is(slow.quote.fate, 'closed')
  const refused = await openCounter(() => {
    throw Object.assign(new Error('theirs'), { name: 'SwapAboveLimitError', nativeMax: '900' })
  })
  const error = await t.throwsAsync(refused.quote.approve(), { code: 'SWAP_ABOVE_LIMIT' })
  t.deepEqual((error as WalletError).details, { pluginId: 'shop', nativeMax: '900', direction: 'from' })
  const broken = await openCounter(() => Promise.reject(new TypeError('x is undefined')))
  await t.throwsAsync(broken.quote.approve(), { code: 'PLUGIN_FAILED', message: /failed in order/ })
})

test('the others of a round end with an approval that succeeds, and stay after one that fails', async t => {
  const table = openSwapTable(['one', 'two', 'three'].map(id => makeShop({ id })))
  const round = table.query()
  await table.clock.advance(0)
  const [one, two, three] = await round.settled
  await t.throwsAsync(async () => one?.approve({ maxNetworkFee: nativeAmount('0') }), { code: 'MAX_FEE' })
  t.deepEqual(
    [one, two, three].map(quote => quote?.fate),
    ['closed', undefined, undefined]
  )
  await two?.approve()
  t.deepEqual(
    [one, two, three].map(quote => quote?.fate),
    ['closed', 'approved', 'closed']
  )
  await t.throwsAsync(async () => three?.approve(), { message: 'The quote was already closed' })
  t.is(table.from.spent.length, 1)
})

test('of two quotes of a round that are approved together one is paid, also if its outcome is unknown', async t => {
  const openTwo = async () => {
    const table = openSwapTable(['one', 'two'].map(id => makeShop({ id })))
    const round = table.query()
    await table.clock.advance(0)
    const [one, two] = await round.settled
    if (one === undefined || two === undefined) throw new Error('There are not two quotes')
    return { ...table, one, two }
  }
  const both = await openTwo()
  const [first, second] = await Promise.allSettled([both.one.approve(), both.two.approve()])
  t.deepEqual([first.status, second.status], ['fulfilled', 'rejected'])
  t.like(second.status === 'rejected' && second.reason, { code: 'QUOTE_ENDED' })
  t.is(both.from.spent.length, 1)
  t.deepEqual([both.one.fate, both.two.fate], ['approved', 'closed'])

  const unsure = await openTwo()
  unsure.from.failure = new WalletError('BROADCAST_UNKNOWN', { txid: 'a' })
  await t.throwsAsync(unsure.one.approve(), { code: 'BROADCAST_UNKNOWN' })
  unsure.from.failure = undefined
  await t.throwsAsync(unsure.two.approve(), { code: 'QUOTE_ENDED' })
  t.is(unsure.from.spent.length, 0)

  const refused = await openTwo()
  refused.from.failure = new WalletError('SIGN_REFUSED', { pluginId: 'policy', reason: 'no' })
  await t.throwsAsync(refused.one.approve(), { code: 'SIGN_REFUSED' })
  refused.from.failure = undefined
  await refused.two.approve()
  t.is(refused.from.spent.length, 1)
})

test('a quote that is closed while its order is made is not paid', async t => {
  const { quote, from } = await openCounter(async () => {
    await quote.close()
    return {
      spends: [pay(SHOP_ADDRESS, '1000')],
      fromNativeAmount: nativeAmount('1000'),
      toNativeAmount: nativeAmount('900')
    }
  })
  const confirm = async (): Promise<boolean> => t.fail('nobody is asked about it')
  await t.throwsAsync(quote.approve({ confirm }), { message: 'The quote was already closed' })
  t.is(from.spent.length, 0)

  const late = await openCounter()
  const changesMind = async (): Promise<boolean> => {
    await late.quote.close()
    return true
  }
  await t.throwsAsync(late.quote.approve({ confirm: changesMind }), {
    message: 'The quote was already closed'
  })
  t.is(late.from.spent.length, 0)
})

test('a draft that moves another asset or more than was ordered is not signed', async t => {
  const swapRequest = { fromTokenId: 'gold' }
  const spends = [pay('gold-contract', '0'), pay('router', '1000', 'gold')]
  const cases: readonly (readonly [string, (draft: Transaction) => Partial<Transaction>])[] = [
    ['tokenId', ({ tokenId }) => (tokenId === null ? {} : { tokenId: 'silver' })],
    ['nativeAmount', ({ tokenId }) => (tokenId === null ? {} : { nativeAmount: nativeAmount('-1001') })],
    ['nativeAmount', ({ tokenId }) => (tokenId === null ? {} : { nativeAmount: nativeAmount('1001') })],
    ['nativeAmount', ({ tokenId }) => (tokenId === null ? { nativeAmount: nativeAmount('-8') } : {})]
  ]
  for (const [path, change] of cases) {
    const { quote, from } = await openCounter({ spends }, { swapRequest })
    const { makeSpend } = from
    Object.assign(from, {
      makeSpend: async (spend: SpendInfo) => {
        const draft = await makeSpend(spend)
        return { ...draft, ...change(draft) }
      }
    })
    const error = await t.throwsAsync(quote.approve(), { code: 'BOGUS_TX' })
    t.deepEqual((error as WalletError).details, { pluginId: 'alphacoin', path })
    t.is(from.spent.length, 0)
  }
})

test('a payment in a token is not made in the coin of its chain', async t => {
  const { quote, from } = await openCounter(
    { spends: [pay(SHOP_ADDRESS, '1000')] },
    { swapRequest: { fromTokenId: 'gold' } }
  )
  await t.throwsAsync(quote.approve(), { message: /is to be paid in another asset/ })
  t.is(from.spent.length, 0)
})

test('a payment that may have been sent counts as approved; a refused signature does not', async t => {
  const unknown = await openCounter()
  unknown.from.failure = new WalletError('BROADCAST_UNKNOWN', { txid: 'a' })
  await t.throwsAsync(unknown.quote.approve(), { code: 'BROADCAST_UNKNOWN' })
  t.is(unknown.quote.fate, 'approved')
  const refused = await openCounter()
  refused.from.failure = new WalletError('SIGN_REFUSED', { pluginId: 'policy', reason: 'no' })
  await t.throwsAsync(refused.quote.approve(), { code: 'SIGN_REFUSED' })
  t.is(refused.quote.fate, 'closed')
})

const ROUTER = `0x${'ab'.repeat(20)}`
const THIEF = `0x${'66'.repeat(20)}`
const SELECTORS = { approve: '095ea7b3', increaseAllowance: '39509351', transfer: 'a9059cbb' }
const UNLIMITED = 2n ** 256n - 1n

/** The data of a call of a token's contract, without 0x. */
const allowing = (method: keyof typeof SELECTORS, spender: string, amount: bigint): string =>
  `${SELECTORS[method]}${spender.slice(2).padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`

test('an allowance lets only the payee take at most the cost of the swap, wherever its data stands', async t => {
  const swapRequest = { fromTokenId: 'gold' }
  const places: readonly ((data: string) => Partial<SpendInfo>)[] = [
    data => ({ memos: [{ type: 'hex', value: data }] }),
    data => ({ memos: [{ type: 'hex', value: `0X${data}` }] }),
    data => ({ otherParams: { data: `0x${data}` } }),
    data => ({ otherParams: { tx: { to: ROUTER, inputs: ['0x5208', `0x${data.toUpperCase()}`] } } }),
    data => ({
      spendTargets: [
        {
          publicAddress: 'gold-contract',
          nativeAmount: nativeAmount('0'),
          otherParams: { data: `0x${data}` }
        }
      ]
    })
  ]
  const orders: readonly (readonly [data: string, rule: RegExp | undefined])[] = [
    [allowing('approve', ROUTER, 1000n), undefined],
    [allowing('increaseAllowance', ROUTER, 999n), undefined],
    [allowing('approve', ROUTER, 1001n), /an allowance of 1001 native units instead of 1000/],
    [allowing('approve', ROUTER, UNLIMITED), /asks for an unlimited allowance/],
    [allowing('approve', THIEF, 1000n), /allows 0x6{40} to take your tokens/],
    [allowing('transfer', ROUTER, 1000n), /something else than an allowance/],
    [`${allowing('approve', ROUTER, 1000n)}00`, /something else than an allowance/],
    ['095ea7b3', /something else than an allowance/]
  ]
  for (const place of places) {
    for (const [data, rule] of orders) {
      const approval = { ...pay('gold-contract', '0'), ...place(data) }
      const spends = [approval, pay(ROUTER.toUpperCase().replace('X', 'x'), '1000', 'gold')]
      const { quote, from } = await openCounter({ spends }, { swapRequest })
      if (rule === undefined) await quote.approve()
      else await t.throwsAsync(quote.approve(), { code: 'SWAP_CHANGED', message: rule })
      t.is(from.spent.length, rule === undefined ? 2 : 0)
    }
  }
  // Where nothing says that it is hex, only what has the form of a call counts as one.
  const target = { publicAddress: 'gold-contract', nativeAmount: nativeAmount('0') }
  for (const more of [
    (data: string) => ({ otherParams: { data } }),
    (memo: string) => ({ spendTargets: [{ ...target, memo }] }),
    (uniqueIdentifier: string) => ({ spendTargets: [{ ...target, uniqueIdentifier }] }),
    (memo: string) => ({ spendTargets: [{ ...target, memo: `0x${memo}` }] })
  ] satisfies ((data: string) => Partial<SpendInfo>)[]) {
    for (const data of [allowing('approve', THIEF, 1000n), allowing('transfer', THIEF, 1000n)]) {
      const approval = { ...pay('gold-contract', '0'), ...more(data) }
      const { quote, from } = await openCounter(
        { spends: [approval, pay(ROUTER, '1000', 'gold')] },
        { swapRequest }
      )
      await t.throwsAsync(quote.approve(), { code: 'SWAP_CHANGED' })
      t.is(from.spent.length, 0)
    }
  }
  const tagged = { ...pay(ROUTER, '1000', 'gold'), memos: [{ type: 'text' as const, value: '0123456789' }] }
  await (await openCounter({ spends: [tagged] }, { swapRequest })).quote.approve()
  for (const data of [allowing('approve', ROUTER, 1n), `a22cb465${'0'.repeat(128)}`]) {
    for (const said of [
      { otherParams: { data: `0x${data}` } },
      { otherParams: { data } },
      { memos: [{ type: 'hex' as const, value: `0x${data}` }] },
      { memos: [{ type: 'text' as const, value: data }] }
    ]) {
      const { quote } = await openCounter({ spends: [{ ...pay('gold-contract', '1000'), ...said }] })
      await t.throwsAsync(quote.approve(), { message: /gives an allowance with the payment/ })
    }
  }
})

test('no order outlives its quote, and none reuses the id of another', async t => {
  const now = Date.UTC(2026, 0, 1)
  const expirationDate = new Date(now + 60_000)
  const late = { expirationDate: new Date(now + 3_600_000) }
  const { quote } = await openCounter(late, { offer: { expirationDate } })
  await quote.approve({
    confirm: async review => {
      t.is(review.expirationDate?.getTime(), now + 60_000)
      return true
    }
  })
  const slow = await openCounter(late, { offer: { expirationDate } })
  const approving = slow.quote.approve({
    confirm: async () => {
      await slow.clock.advance(60_000)
      return true
    }
  })
  await t.throwsAsync(approving, { code: 'QUOTE_ENDED' })
  t.is(slow.from.spent.length, 0)

  const table = await openCounter({ orderId: 'one' })
  await table.quote.approve()
  const round = table.query()
  await table.clock.advance(0)
  const [second] = await round.settled
  await t.throwsAsync(async () => second?.approve(), {
    code: 'SWAP_CHANGED',
    message: /repeats the id of an earlier order/
  })
  t.is(table.from.spent.length, 1)
})

test('a token is approved first and pays nothing with it; the swap is the last payment, and the record is on it alone', async t => {
  const swapRequest = { fromTokenId: 'gold' }
  const memos = [{ type: 'hex' as const, value: allowing('approve', ROUTER, 1000n) }]
  const approval = { ...pay('gold-contract', '0'), memos }
  const { quote, from } = await openCounter(
    { spends: [approval, pay(ROUTER, '1000', 'gold')] },
    { swapRequest }
  )
  const result = await quote.approve({
    metadata: { name: 'Gold' },
    confirm: async ({ drafts, networkFee, allowances }) => {
      t.deepEqual(allowances, [{ spender: ROUTER, nativeAmount: nativeAmount('1000') }])
      t.is(networkFee.nativeAmount, nativeAmount('14'))
      return drafts.length === 2
    }
  })
  t.deepEqual(
    from.spent.map(({ tokenId, swapData, metadata, memos: said }) => [
      tokenId,
      swapData === undefined,
      metadata,
      said
    ]),
    [
      [null, true, {}, memos],
      ['gold', false, { name: 'Gold' }, []]
    ]
  )
  t.is(result.destinationAddress, ROUTER)
  t.is(result.transaction.txid, 'txid-2')
  const greedy = await openCounter(
    { spends: [pay('gold-contract', '1'), pay('router', '1000', 'gold')] },
    { swapRequest }
  )
  await t.throwsAsync(greedy.quote.approve(), { message: /pays something with an approval/ })
})

const amounts = fc.oneof(
  fc.constantFrom('1000', '900', '0'),
  fc.integer({ min: -5, max: 3000 }).map(String),
  fc.constantFrom('', '1e3', '01000', 'NaN', 5, null, undefined)
)
const targets = fc.record({
  publicAddress: fc.constantFrom(SHOP_ADDRESS, 'own', 'bad', '', 'alpha:shop?amount=5', 5, undefined),
  nativeAmount: amounts
})
const anySpend = fc.record({
  tokenId: fc.constantFrom(null, 'gold', undefined, 5),
  spendTargets: fc.oneof({ weight: 9, arbitrary: fc.array(targets, { maxLength: 3 }) }, fc.constant('all'))
})
const goodSpend = fc.constant(pay(SHOP_ADDRESS, '1000'))
const anyOrder = fc.record(
  {
    fromNativeAmount: fc.oneof({ weight: 3, arbitrary: fc.constant('1000') }, amounts),
    toNativeAmount: fc.oneof({ weight: 3, arbitrary: fc.constantFrom('900', '950') }, amounts),
    spends: fc.array(fc.oneof({ weight: 3, arbitrary: goodSpend }, anySpend), { maxLength: 3 }),
    expirationDate: fc.constantFrom(new Date(0), new Date(Date.UTC(2030, 0, 1)), 'soon', undefined),
    orderId: fc.constantFrom('one', 5, undefined)
  },
  { requiredKeys: ['fromNativeAmount', 'toNativeAmount', 'spends'] }
)

test('whatever a provider orders, only the quoted terms or better are paid, once, to a valid address', async t => {
  let paidCount = 0
  await fc.assert(
    fc.asyncProperty(anyOrder, async order => {
      const { quote, from, own } = await openCounter(() => Promise.resolve(order))
      own.add('own')
      const paid = await quote.approve().then(
        () => true,
        () => false
      )
      t.is(from.spent.length, paid ? 1 : 0)
      if (!paid) return
      paidCount += 1
      const [tx] = from.spent
      t.is(tx?.tokenId, null)
      t.true(BigInt(tx?.nativeAmount ?? 0) >= -1007n)
      t.true(BigInt(tx?.swapData?.payoutNativeAmount ?? 0) >= 900n)
      const payees = from.requested.spends.at(-1)?.spendTargets.map(({ publicAddress }) => publicAddress)
      t.deepEqual([...new Set(payees)], [SHOP_ADDRESS])
    }),
    { numRuns: 500 }
  )
  t.true(paidCount > 5, `${paidCount} of 500 orders were good`)
})

test('a provider gets the same addresses each time, and each wallet is queried once in a round', async t => {
  const given: string[][] = []
  const { query, clock, from, to } = openSwapTable(
    ['one', 'two'].map(id =>
      makeShop({
        id,
        answer: async tapContext => {
          given.push(
            await Promise.all([tapContext.depositTo(), tapContext.refundTo(), tapContext.depositTo()])
          )
          tapContext.offer(offerOf(tapContext))
        }
      })
    )
  )
  const round = query()
  await clock.advance(0)
  const [quote] = await round.settled
  const addresses = ['beta-wallet-address', 'alpha-wallet-address', 'beta-wallet-address']
  t.deepEqual(given, [addresses, addresses])
  const { transaction } = (await quote?.approve()) ?? {}
  t.is(transaction?.swapData?.refundAddress, 'alpha-wallet-address')
  t.deepEqual([from.requested.addresses, to.requested.addresses], [1, 1])
})

test('the order of a payment that was forgotten before it left is followed no longer, and any other is', async t => {
  const frozen = { txid: 'txid-1', coin: 'aa:1' }
  for (const [failure, isFollowed] of [
    [new WalletError('COIN_FROZEN', { ...frozen, isKept: false }), false],
    [new WalletError('COIN_FROZEN', { ...frozen, isKept: true }), true],
    [new WalletError('BROADCAST_UNKNOWN', { txid: 'txid-1' }), true]
  ] as const) {
    const { quote, from, followed } = await openCounter()
    from.failure = failure
    await t.throwsAsync(quote.approve(), { code: failure.code })
    t.is(followed.has('txid-1'), isFollowed, failure.code)
  }
})
