import test from 'ava'
import { nativeAmount, type QuoteContext, type SwapOffer, type SwapRequest } from '../../../kernel/index.ts'
import { likeList } from '../../helpers/like-list.ts'
import { makeShop, offerOf } from '../../helpers/swap-shop.ts'
import { openSwapTable, type SwapTable } from '../../helpers/swap-table.ts'

const GOLD = {
  currencyCode: 'GLD',
  displayName: 'Gold',
  denominations: [{ name: 'GLD', multiplier: '10' }],
  networkLocation: { contractAddress: '0xgold' }
}

/** Asks one shop that does at its desk what a test wants; gives what that came to. */
const inContext = async <T>(
  run: (tapContext: QuoteContext) => Promise<T> | T,
  { swapRequest, prepare }: { swapRequest?: Partial<SwapRequest>; prepare?: (table: SwapTable) => void } = {}
): Promise<{ readonly table: SwapTable; readonly value: T | undefined; readonly error: unknown }> => {
  let value: T | undefined
  const table = openSwapTable(
    [
      makeShop({
        answer: async tapContext => {
          value = await run(tapContext)
        }
      })
    ],
    { gold: GOLD }
  )
  prepare?.(table)
  const round = table.query(swapRequest)
  await table.clock.advance(0)
  const error = await round.settled.then(
    () => undefined,
    (failure: unknown) => failure
  )
  return { table, value, error }
}

const spendOf = (amount: string, publicAddress?: string) => [
  {
    tokenId: null,
    spendTargets: [
      { nativeAmount: nativeAmount(amount), ...(publicAddress === undefined ? {} : { publicAddress }) }
    ]
  }
]

test('a provider sees assets and settings, and neither a wallet nor what it cannot do without', async t => {
  const { value } = await inContext(
    tapContext => {
      t.true(Object.isFrozen(tapContext))
      t.true(Object.isFrozen(tapContext.request))
      return {
        request: tapContext.request,
        settings: tapContext.userSettings,
        promoCode: tapContext.promoCode
      }
    },
    {
      swapRequest: { toTokenId: null, fromTokenId: 'gold', quoteFor: 'max' },
      prepare: ({ settings }) => settings.set('shop', { userSettings: { apiKey: 'mine' } })
    }
  )
  t.deepEqual(value, {
    request: {
      from: {
        pluginId: 'alphacoin',
        tokenId: 'gold',
        currencyCode: 'GLD',
        multiplier: '10',
        networkLocation: { contractAddress: '0xgold' }
      },
      to: { pluginId: 'betacoin', tokenId: null, currencyCode: 'BET', multiplier: '100' },
      nativeAmount: nativeAmount('0'),
      quoteFor: 'max'
    },
    settings: { apiKey: 'mine' },
    promoCode: undefined
  })
})

test('a promotion code reaches only its provider', async t => {
  const codes: [string, string | undefined][] = []
  const { query, clock } = openSwapTable(
    ['one', 'two'].map(id =>
      makeShop({
        id,
        answer: tapContext => {
          codes.push([id, tapContext.promoCode])
          tapContext.offer(offerOf(tapContext))
        }
      })
    )
  )
  const round = query({}, { promoCodes: { two: 'half' } })
  await clock.advance(0)
  t.deepEqual(codes, [
    ['one', undefined],
    ['two', 'half']
  ])
  likeList(t, round.getSnapshot().providers, [
    { pluginId: 'two', hasPromoCode: true, rankReason: 'has a promotion code' },
    { pluginId: 'one', hasPromoCode: false }
  ])
})

test('fees are estimated with a sample recipient, and only the amount is returned', async t => {
  const { value, table } = await inContext(async tapContext => [
    await tapContext.feeFor(spendOf('100')),
    await tapContext.feeFor([...spendOf('100', 'known'), ...spendOf('100', '')])
  ])
  t.deepEqual(value, [nativeAmount('7'), nativeAmount('14')])
  t.deepEqual(
    table.from.requested.spends.map(({ spendTargets }) => spendTargets[0]?.publicAddress),
    ['alpha-sample', 'known', 'alpha-sample']
  )
  t.is(table.from.spent.length, 0)
})

test('the maximum is that of the wallet, and the fee of a token is in the coin of its chain', async t => {
  const [spend] = spendOf('0')
  const swapRequest = { fromTokenId: 'gold' }
  const { value } = await inContext(
    async tapContext => [
      await tapContext.maxFrom(spend as never),
      await tapContext.feeFor([{ ...spend, tokenId: 'gold' } as never])
    ],
    { swapRequest }
  )
  t.deepEqual(value, [nativeAmount('4993'), nativeAmount('7')])
})

test('a lack of funds becomes the error of the provider, so that the user sees it [8.36]', async t => {
  const { error } = await inContext(tapContext => tapContext.feeFor(spendOf('999999')))
  t.like(error, { code: 'INSUFFICIENT_FUNDS', message: 'Insufficient ALP' })
  const { error: offered } = await inContext(tapContext => tapContext.offer(offerOf(tapContext)), {
    prepare: ({ from }) => {
      from.balance = '999'
    }
  })
  t.like(offered, {
    code: 'INSUFFICIENT_FUNDS',
    details: { currencyCode: 'ALP', tokenId: null, needed: '1000', available: '999' }
  })
})

test('a provider learns nothing of other tokens in the paying wallet', async t => {
  for (const fromTokenId of [null, 'gold']) {
    const [spend] = spendOf('0')
    const { error, table } = await inContext(
      tapContext => tapContext.maxFrom({ ...spend, tokenId: 'silver' } as never),
      {
        swapRequest: { fromTokenId }
      }
    )
    t.like(error, { code: 'BOGUS_DATA', details: { pluginId: 'shop', what: 'swap question' } })
    t.deepEqual(table.from.requested.spends, [])
  }
})

test('a request that is not plain data is refused', async t => {
  const ring: unknown[] = []
  ring.push(ring)
  for (const odd of [
    undefined,
    null,
    'all',
    [],
    ring,
    [5],
    [{ tokenId: null }],
    [{ tokenId: 5, spendTargets: [] }]
  ]) {
    const { error } = await inContext(tapContext => tapContext.feeFor(odd as never))
    t.like(error, { code: 'BOGUS_DATA', details: { pluginId: 'shop', what: 'swap question' } })
  }
})

test('an offer that makes no sense is refused, with the field in the error [3.27]', async t => {
  const day = 86_400_000
  const cases: readonly (readonly [
    string,
    Partial<Record<keyof SwapOffer, unknown>>,
    Partial<SwapRequest>?
  ])[] = [
    ['fromNativeAmount', { fromNativeAmount: 'NaN' }],
    ['fromNativeAmount', { fromNativeAmount: '0' }],
    ['fromNativeAmount', { fromNativeAmount: '01000' }],
    ['fromNativeAmount', { fromNativeAmount: 1000 }],
    ['fromNativeAmount', { fromNativeAmount: '999' }],
    ['fromNativeAmount', { fromNativeAmount: '1'.padEnd(101, '0') }],
    ['toNativeAmount', { toNativeAmount: '-900' }],
    ['toNativeAmount', { toNativeAmount: '1e3' }],
    ['toNativeAmount', { toNativeAmount: undefined }],
    ['toNativeAmount', { toNativeAmount: '999' }, { quoteFor: 'to' }],
    ['minReceiveAmount', { minReceiveAmount: '901' }],
    ['minReceiveAmount', { minReceiveAmount: null }],
    ['networkFee', { networkFee: '-1' }],
    ['networkFee', { networkFee: undefined }],
    ['expirationDate', { expirationDate: new Date(Date.UTC(2026, 0, 1)) }],
    ['expirationDate', { expirationDate: new Date(Number.NaN) }],
    ['expirationDate', { expirationDate: Date.UTC(2026, 0, 1) + day }],
    ['maxFulfillmentSeconds', { maxFulfillmentSeconds: Number.NaN }],
    ['maxFulfillmentSeconds', { maxFulfillmentSeconds: -1 }],
    ['payment', { payment: undefined }],
    ['payment', { payment: {} }],
    ['payment', { payment: { order: 'please' } }],
    ['payment', { payment: { spends: spendOf('1001', 'shop') } }],
    ['payment', { payment: { spends: spendOf('1000') } }],
    ['payment', { payment: { spends: Array.from({ length: 11 }, () => spendOf('1', 'shop')[0]) } }],
    ['payment', { payment: { spends: spendOf('1', 'x'.repeat(1001)) } }]
  ]
  for (const [path, changes, swapRequest] of cases) {
    const offer = (tapContext: QuoteContext): void =>
      tapContext.offer({ ...offerOf(tapContext), ...changes } as SwapOffer)
    const { error, table } = await inContext(offer, swapRequest === undefined ? {} : { swapRequest })
    t.like(error, { code: 'BOGUS_DATA', details: { pluginId: 'shop', what: 'swap offer', path } }, path)
    t.is(table.faults.length, 1)
  }
})

test('an offer is copied: what a plugin makes of its own later changes nothing', async t => {
  const spends = spendOf('1000', 'shop')
  const { table } = await inContext(tapContext =>
    tapContext.offer(offerOf(tapContext, { payment: { spends }, canBePartial: true }))
  )
  const [row] = table.reported.slice(-1)
  t.true(row?.canBePartial)
  const round = openSwapTable([
    makeShop({
      answer: tapContext => {
        const mutable = { ...offerOf(tapContext, { payment: { spends } }) }
        tapContext.offer(mutable)
        Object.assign(mutable, { toNativeAmount: '1' })
        Object.assign(spends[0] as object, {
          spendTargets: [{ publicAddress: 'thief', nativeAmount: '1000' }]
        })
      }
    })
  ])
  const quotes = round.query()
  await round.clock.advance(0)
  const [quote] = await quotes.settled
  t.is(quote?.toNativeAmount, nativeAmount('900'))
  t.is((await quote?.approve())?.destinationAddress, 'shop')
})

test('a property with changing values is read once', async t => {
  /** An object whose fields are as given at the first look, and another's afterwards. */
  const fickle = <T extends object>(first: T, later: Partial<T>): T => {
    const seen = new Set<PropertyKey>()
    return new Proxy(first, {
      get(target, name) {
        const isSeen = seen.has(name)
        seen.add(name)
        return Reflect.get(isSeen ? { ...target, ...later } : target, name)
      }
    })
  }
  class FickleDate extends Date {
    override getTime(): number {
      return Number.MAX_VALUE
    }
  }
  const expirationDate = new FickleDate(Date.UTC(2026, 0, 1) + 1000)
  const amounts = { fromNativeAmount: nativeAmount('1000'), toNativeAmount: nativeAmount('900') }
  const worse = { fromNativeAmount: nativeAmount('5000'), toNativeAmount: nativeAmount('1') }
  const table = openSwapTable([
    makeShop({
      answer: tapContext =>
        tapContext.offer(
          fickle(
            offerOf(tapContext, {
              expirationDate,
              payment: {
                order: async () =>
                  fickle(
                    { ...amounts, spends: spendOf('1000', 'shop') },
                    { ...worse, spends: spendOf('5000', 'thief') }
                  )
              }
            }),
            { ...worse, isEstimate: true, payment: { spends: spendOf('1000', 'thief') } }
          )
        )
    })
  ])
  const round = table.query()
  await table.clock.advance(0)
  const [quote] = await round.settled
  t.deepEqual(
    [quote?.fromNativeAmount, quote?.toNativeAmount, quote?.isEstimate, quote?.expirationDate?.toISOString()],
    [amounts.fromNativeAmount, amounts.toNativeAmount, false, '2026-01-01T00:00:01.000Z']
  )
  const result = await quote?.approve()
  t.is(result?.destinationAddress, 'shop')
  t.is(result?.transaction.nativeAmount, nativeAmount('-1007'))
})

test('an offer is firm only if isEstimate is false', async t => {
  const { table } = await inContext(tapContext =>
    tapContext.offer(offerOf(tapContext, { isEstimate: undefined as never }))
  )
  t.true(table.reported.at(-1)?.isEstimate)
})
