import test from 'ava'
import type { RateContext } from '../../../kernel/index.ts'
import { openRateHome, pairOf, toySource } from '../../helpers/rate-home.ts'

const USD = pairOf('BTC', 'iso:USD')
const later = (tapContext: RateContext, rate: number): void => tapContext.offer(USD, rate)
const statesOf = (providers: readonly { pluginId: string; state: string }[]): string[] =>
  providers.map(({ pluginId, state }) => `${pluginId} ${state}`)

test('rates are requested while a consumer wants them, every 30 s after each round, and on demand [9.19]', async t => {
  const source = toySource('one', [['BTC', 'iso:USD', 50_000]])
  const { rates, clock } = await openRateHome(t, { plugins: [source] })
  await clock.advance(120_000)
  t.is(source.requested.length, 0, 'nobody wants any')
  t.is(clock.timerCount, 0)

  const release = rates.want([USD])
  await clock.advance(0)
  t.is(source.requested.length, 1, 'at once')
  t.deepEqual(source.requested[0], [USD])
  t.is(rates.convertCurrency('BTC', 'iso:USD', 2), 100_000)
  await clock.advance(29_999)
  t.is(source.requested.length, 1)
  await clock.advance(1)
  t.is(source.requested.length, 2)

  release()
  t.is(clock.timerCount, 0)
  await clock.advance(120_000)
  t.is(source.requested.length, 2)
  await rates.refresh()
  t.is(source.requested.length, 3, 'by hand')
  t.is(clock.timerCount, 0)
})

test('a want of just requested pairs waits for the next round; one of new pairs starts a round at once', async t => {
  const source = toySource('one', [])
  const { rates, clock } = await openRateHome(t, { plugins: [source] })
  const releases = [rates.want([USD]), rates.want([USD]), rates.want()]
  await clock.advance(0)
  t.is(source.requested.length, 1, 'three that begin together are one question')
  await clock.advance(10_000)
  for (const release of releases) release()
  rates.want([USD])
  await clock.advance(0)
  t.is(source.requested.length, 1)
  rates.want([pairOf('ETH', 'iso:USD')])
  await clock.advance(0)
  t.deepEqual(source.requested[1], [USD, pairOf('ETH', 'iso:USD')])
  await clock.advance(30_000)
  t.is(source.requested.length, 3)
})

test('a want of invalid pairs starts no rounds', async t => {
  const source = toySource('one', [])
  const { rates, clock } = await openRateHome(t, { plugins: [source] })
  const odd = [
    pairOf('BTC', 'BTC'),
    pairOf('', 'iso:USD'),
    pairOf('x'.repeat(65), 'iso:USD'),
    pairOf('A\nB', 'C')
  ]
  rates.want(odd)
  await clock.advance(10_000)
  rates.want(odd)
  await clock.advance(19_999)
  t.is(source.requested.length, 1)
})

test('rates within 5 s are published together, and later ones one by one [9.20]', async t => {
  const { rates, clock, changes } = await openRateHome(t, {
    plugins: [
      toySource('quick', [['BTC', 'iso:USD', 1]]),
      toySource(
        'slow',
        tapContext => new Promise(resolve => clockOf(() => resolve(later(tapContext, 2)), 4000))
      ),
      toySource(
        'late',
        tapContext => new Promise(resolve => clockOf(() => resolve(later(tapContext, 3)), 7000))
      ),
      toySource('partly', async tapContext => {
        tapContext.offer(USD, 4)
        await new Promise<void>(resolve => clockOf(resolve, 9000))
        tapContext.offer(pairOf('ETH', 'iso:USD'), 5)
      })
    ]
  })
  const clockOf = (task: () => void, delayMs: number): void => void clock.after(delayMs, task)
  rates.want([USD])
  await clock.advance(4999)
  t.is(changes.length, 0)
  t.true(rates.getSnapshot().isRefreshing)
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 0)
  await clock.advance(1)
  const reported = () => changes.map(({ pairs }) => pairs.map(({ source, rate }) => `${source} ${rate}`))
  t.deepEqual(reported(), [['quick 1', 'slow 2', 'partly 4']])
  t.deepEqual(statesOf(rates.getSnapshot().providers), [
    'quick answered',
    'slow answered',
    'late silent',
    'partly silent'
  ])
  t.false(rates.getSnapshot().isRefreshing)
  await clock.advance(5000)
  t.deepEqual(reported().slice(1), [['late 3'], ['partly 5']])
  t.deepEqual(statesOf(rates.getSnapshot().providers).slice(2), ['late answered', 'partly answered'])
  t.is(rates.getSnapshot().providers[3]?.pairCount, 2)
})

test('a round ends as soon as all providers have answered', async t => {
  const { rates, clock, changes } = await openRateHome(t, {
    plugins: [toySource('one', [['BTC', 'iso:USD', 1]])]
  })
  await rates.refresh()
  t.is(changes.length, 1)
  t.is(rates.getSnapshot().updatedAt, clock.now() / 1000)
  t.like(rates.getSnapshot().providers[0], {
    state: 'answered',
    pairCount: 1,
    answeredAt: clock.now() / 1000
  })
})

test('a provider that has not finished gets no further request, and is abandoned after 30 s', async t => {
  const hanging = toySource('hanging', () => new Promise<void>(() => {}))
  const quick = toySource('quick', [['BTC', 'iso:USD', 1]])
  const { rates, clock, lines } = await openRateHome(t, { plugins: [hanging, quick] })
  rates.want([USD])
  await clock.advance(5000)
  await rates.refresh()
  await rates.refresh()
  t.is(quick.requested.length, 3)
  t.is(hanging.requested.length, 1)
  t.false(hanging.contexts[0]?.signal.aborted)
  await clock.advance(25_000)
  t.true(hanging.contexts[0]?.signal.aborted)
  t.like(rates.getSnapshot().providers[0], { state: 'failed', errorCode: 'DEADLINE' })
  t.is(lines.filter(({ source }) => source === 'hanging').length, 1)
  await clock.advance(10_000)
  t.is(hanging.requested.length, 2)
  hanging.contexts[0]?.offer(USD, 9)
  await clock.advance(5000)
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 1, 'nobody hears it any more')
})

test('a want that ends before its round starts no round', async t => {
  const source = toySource('one', [])
  const { rates, clock } = await openRateHome(t, { plugins: [source] })
  rates.want([USD])
  await clock.advance(0)
  rates.want([pairOf('ETH', 'iso:USD')])()
  await clock.advance(29_999)
  t.is(source.requested.length, 1)
  await clock.advance(1)
  t.deepEqual(source.requested[1], [USD])
})

test('offers of a provider after its call has ended are ignored, valid or not', async t => {
  const source = toySource('one', [['BTC', 'iso:USD', 1]])
  const { rates, faults } = await openRateHome(t, { plugins: [source] })
  await rates.refresh()
  source.contexts[0]?.offer(USD, 2)
  source.contexts[0]?.offer(USD, Number.NaN)
  await rates.refresh()
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 1)
  t.deepEqual(faults, [])
})

test('rate providers that fail are only logged, and the others count [8.52]', async t => {
  const { rates, lines, faults, reports } = await openRateHome(t, {
    plugins: [
      toySource('bad', () => Promise.reject(new Error('no network'))),
      toySource('worse', () => {
        throw new TypeError('a mistake')
      }),
      toySource('half', tapContext => {
        tapContext.offer(USD, 7)
        throw new Error('the rest is missing')
      }),
      toySource('good', [['ETH', 'iso:USD', 1]])
    ]
  })
  await rates.refresh()
  t.deepEqual(lines.map(({ source, level }) => `${source} ${level}`).sort(), [
    'bad warn',
    'half warn',
    'worse warn'
  ])
  t.deepEqual([faults.length, reports.length], [0, 0])
  t.deepEqual(statesOf(rates.getSnapshot().providers), [
    'bad failed',
    'worse failed',
    'half failed',
    'good answered'
  ])
  t.is(rates.getSnapshot().providers[0]?.message, 'Error: no network')
  t.is(rates.convertCurrency('ETH', 'iso:USD'), 1)
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 7, 'what it offered before is as good as any')
})

test("an entry without text codes and a rate above zero is refused as 'Invalid data format', the others count [5.38]", async t => {
  const bad: [unknown, unknown][] = [
    [{ fromCurrency: 1, toCurrency: 'iso:USD' }, 1],
    [{ fromCurrency: 'AAA' }, 1],
    [{ fromCurrency: 'AAA', toCurrency: '' }, 1],
    [{ fromCurrency: 'A'.repeat(65), toCurrency: 'iso:USD' }, 1],
    [{ fromCurrency: 'A\u0000', toCurrency: 'iso:USD' }, 1],
    [null, 1],
    [undefined, undefined],
    ...['1', 0, -1, Number.NaN, Number.POSITIVE_INFINITY, null].map((rate): [unknown, unknown] => [
      { fromCurrency: 'AAA', toCurrency: 'iso:USD' },
      rate
    ])
  ]
  const { rates, faults } = await openRateHome(t, {
    plugins: [
      toySource('one', tapContext => {
        for (const [pair, rate] of bad) tapContext.offer(pair as never, rate as never)
        tapContext.offer(USD, 50_000)
      })
    ]
  })
  await rates.refresh()
  t.deepEqual(
    [...rates.pairs()].map(({ fromCurrency, rate }) => [fromCurrency, rate]),
    [['BTC', 50_000]]
  )
  t.deepEqual(faults, [
    { pluginId: 'one', hook: 'fetchRates', errorName: 'Error', message: 'Invalid data format' }
  ])
})

test('each kind of bad entry is refused', async t => {
  const rates = ['1', 0, -1, Number.NaN, Number.POSITIVE_INFINITY, null, undefined, {}]
  const codes = [1, '', 'A'.repeat(65), 'A\n', undefined, null, {}]
  for (const [fromCurrency, rate] of [...rates.map(rate => ['AAA', rate]), ...codes.map(code => [code, 1])]) {
    const offer = { fromCurrency, toCurrency: 'iso:USD' }
    const source = toySource('one', tapContext => tapContext.offer(offer as never, rate as never))
    const home = await openRateHome(t, { plugins: [source] })
    await home.rates.refresh()
    t.is(home.faults.length, 1, `${fromCurrency} ${rate}`)
    t.is(home.rates.getSnapshot().pairCount, 0)
  }
})

test('a round accepts at most 10,000 pairs of one provider', async t => {
  const { rates, faults } = await openRateHome(t, {
    plugins: [
      toySource('one', tapContext => {
        for (let i = 0; i < 10_100; i += 1) tapContext.offer(pairOf(`C${i}`, 'iso:USD'), 1)
      })
    ]
  })
  await rates.refresh()
  t.is(rates.getSnapshot().pairCount, 10_000)
  t.deepEqual(
    faults.map(({ message }) => message),
    ['More than 10000 pairs']
  )
})

test('pairs of a silent or failing provider are kept, and age', async t => {
  let isUp = true
  const source = toySource('one', tapContext => {
    if (!isUp) throw new Error('down')
    tapContext.offer(USD, 50_000)
  })
  const { rates, clock } = await openRateHome(t, { plugins: [source] })
  const release = rates.want([USD])
  await clock.advance(0)
  isUp = false
  await clock.advance(294_000)
  t.false(rates.findRoute('BTC', 'iso:USD')?.isStale)
  await clock.advance(6000)
  const hop = () => rates.findRoute('BTC', 'iso:USD')?.hops[0]
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 50_000)
  t.is(hop()?.ageSeconds, 300)
  t.is(hop()?.cost, 300 / 330 + 1)
  t.is(rates.getSnapshot().providers[0]?.state, 'failed')
  t.is(rates.getSnapshot().providers[0]?.pairCount, 1, 'what it gave last')
  release()
  t.true(rates.findRoute('BTC', 'iso:USD')?.isStale, 'after ten rounds without it')
})

test('a retired provider shows the reason, and gets no request', async t => {
  const retired = toySource('nomics', [['BTC', 'iso:USD', 1]], {
    bias: 0.1,
    retired: 'Closed in March 2023.'
  })
  const { rates } = await openRateHome(t, { plugins: [retired] })
  await rates.refresh()
  t.is(retired.requested.length, 0)
  t.deepEqual(rates.getSnapshot().providers, [
    {
      pluginId: 'nomics',
      displayName: 'Toy nomics',
      bias: 0.1,
      state: 'retired',
      pairCount: 0,
      message: 'Closed in March 2023.'
    }
  ])
})

test('the bias of a plugin counts, and one that would make hops cost nothing counts as none', async t => {
  const { rates } = await openRateHome(t, {
    plugins: [
      toySource('plain', [['BTC', 'iso:USD', 1]]),
      toySource('liked', [['BTC', 'iso:USD', 2]], { bias: -0.25 }),
      toySource('free', [['BTC', 'iso:USD', 3]], { bias: -1 })
    ]
  })
  await rates.refresh()
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 2)
  t.deepEqual(
    rates.getSnapshot().providers.map(({ bias }) => bias),
    [0, -0.25, 0]
  )
  t.is(rates.convertCurrency('BTC', 'iso:USD', 1, { biases: { free: -0.5 } }), 3)
  for (const bias of [-1, Number.NaN, Number.POSITIVE_INFINITY, '1']) {
    const options = { biases: { free: bias as number } }
    t.throws(() => rates.convertCurrency('BTC', 'iso:USD', 1, options), { code: 'OPTION_INVALID' })
    t.throws(() => rates.findRoute('BTC', 'iso:USD', options), { code: 'OPTION_INVALID' })
  }
})

test('a route shows its hops and its alternatives', async t => {
  const { rates, clock } = await openRateHome(t, {
    plugins: [
      toySource('one', [
        ['BTC', 'iso:USD', 50_000],
        ['iso:EUR', 'iso:USD', 1.25]
      ]),
      toySource('two', [['BTC', 'iso:EUR', 41_000]], { bias: 2 })
    ]
  })
  await rates.refresh()
  const at = clock.now() / 1000
  const aged = { at, ageSeconds: 0, bias: 0 }
  t.deepEqual(rates.findRoute('BTC', 'iso:EUR', { alternatives: 5 }), {
    fromCurrency: 'BTC',
    toCurrency: 'iso:EUR',
    rate: 40_000,
    cost: 2.1,
    isStale: false,
    hops: [
      {
        fromCurrency: 'BTC',
        toCurrency: 'iso:USD',
        rate: 50_000,
        source: 'one',
        isInverted: false,
        cost: 1,
        ...aged
      },
      {
        fromCurrency: 'iso:USD',
        toCurrency: 'iso:EUR',
        rate: 0.8,
        source: 'one',
        isInverted: true,
        cost: 1.1,
        ...aged
      }
    ],
    alternatives: [
      {
        fromCurrency: 'BTC',
        toCurrency: 'iso:EUR',
        rate: 41_000,
        cost: 3,
        isStale: false,
        hops: [
          {
            ...{ fromCurrency: 'BTC', toCurrency: 'iso:EUR', rate: 41_000, source: 'two' },
            ...{ isInverted: false, cost: 3, at, ageSeconds: 0, bias: 2 }
          }
        ]
      }
    ]
  })
  t.deepEqual(rates.findRoute('BTC', 'iso:EUR')?.alternatives, [])
  t.is(rates.findRoute('BTC', 'ZZZ'), undefined)
  for (const alternatives of [-1, 21, 1.5, Number.NaN]) {
    t.throws(() => rates.findRoute('BTC', 'iso:EUR', { alternatives }), { code: 'OPTION_INVALID' })
  }
})

test('events hold only the new pairs, and a route event is emitted when it is computed, not when it is cached', async t => {
  const { rates, changes, routes, clock } = await openRateHome(t, {
    plugins: [
      toySource('one', tapContext =>
        tapContext.offer(pairOf(tapContext.wanted[0]?.fromCurrency ?? '', 'iso:USD'), 2)
      )
    ]
  })
  rates.want([USD])
  await clock.advance(0)
  const release = rates.want([pairOf('ETH', 'iso:USD')])
  await clock.advance(0)
  release()
  t.deepEqual(
    changes.map(({ pairs }) => pairs.length),
    [1, 1]
  )
  for (let i = 0; i < 3; i += 1) rates.convertCurrency('BTC', 'iso:USD')
  rates.findRoute('BTC', 'iso:USD')
  t.deepEqual(
    routes.map(({ fromCurrency, rate, hops }) => [fromCurrency, rate, hops.length]),
    [['BTC', 2, 1]]
  )
})

test('a late plugin is a provider too', async t => {
  const { rates, kernel, clock } = await openRateHome(t, { laterPlugins: ['late'] })
  rates.want([USD])
  await clock.advance(60_000)
  t.deepEqual(rates.getSnapshot().providers, [])
  kernel.addPlugin(toySource('late', [['BTC', 'iso:USD', 3]]))
  kernel.lockPlugins()
  await clock.advance(0)
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 3)
  t.deepEqual(statesOf(rates.getSnapshot().providers), ['late answered'])
})

test('a paused context starts no timed round, and a resume starts one at once', async t => {
  const source = toySource('one', [])
  const { rates, kernel, clock } = await openRateHome(t, { plugins: [source] })
  rates.want([USD])
  await clock.advance(0)
  kernel.context.changePaused(true)
  await clock.advance(300_000)
  t.is(source.requested.length, 1)
  await rates.refresh()
  t.is(source.requested.length, 2, 'by hand it is asked all the same')
  await clock.advance(300_000)
  kernel.context.changePaused(false)
  await clock.advance(0)
  t.is(source.requested.length, 3)
})

test('a refresh joins the running round, and starts another one for pairs that it lacks', async t => {
  const source = toySource(
    'one',
    tapContext => new Promise(resolve => void clock.after(1000, () => resolve(later(tapContext, 1))))
  )
  const { rates, clock, changes } = await openRateHome(t, { plugins: [source] })
  const first = Promise.all([rates.refresh(), rates.refresh()])
  await clock.advance(1000)
  await first
  t.is(source.requested.length, 1)
  const second = rates.refresh()
  await clock.advance(1)
  rates.want([pairOf('DOGE', 'iso:USD')])
  const counts: number[] = []
  const third = rates.refresh().then(() => void counts.push(changes.length))
  await clock.advance(2000)
  await Promise.all([second, third])
  t.deepEqual(counts, [3], 'not before the round that asked for more was published')
  t.deepEqual(source.requested[2], [pairOf('DOGE', 'iso:USD')])
  t.is(source.requested.length, 3)
})

test('a subscriber is notified of each round, and a listener that throws breaks nothing', async t => {
  const { rates, reports } = await openRateHome(t, { plugins: [toySource('one', [['BTC', 'iso:USD', 1]])] })
  const seen: number[] = []
  rates.subscribe(() => {
    throw new Error('a listener')
  })
  const unsubscribe = rates.subscribe(() => void seen.push(rates.getSnapshot().pairCount))
  await rates.refresh()
  unsubscribe()
  t.is(seen.at(-1), 1)
  t.is(rates.getSnapshot(), rates.getSnapshot())
  t.true(reports.length > 0)
})

test('a closed kernel sends no request, and drops late offers', async t => {
  const source = toySource('one', () => new Promise<void>(() => {}))
  const { rates, kernel, clock, changes } = await openRateHome(t, { plugins: [source] })
  rates.want([USD])
  await clock.advance(0)
  await kernel.close()
  t.true(source.contexts[0]?.signal.aborted)
  source.contexts[0]?.offer(USD, 1)
  await clock.advance(60_000)
  t.deepEqual([source.requested.length, changes.length, rates.getSnapshot().pairCount], [1, 0, 0])
  await t.throwsAsync(rates.refresh(), { code: 'CONTEXT_CLOSED' })
  await t.throwsAsync(rates.historicRate(USD, new Date(0)), { code: 'CONTEXT_CLOSED' })
  t.throws(() => rates.want([USD]), { code: 'CONTEXT_CLOSED' })
})

test('a value is exact decimal text that loses no small coin', async t => {
  const { rates } = await openRateHome(t, {
    plugins: [
      toySource('one', [
        ['SHIB', 'iso:USD', 1e-8],
        ['BTC', 'iso:USD', 65_432.1],
        ['BIG', 'iso:USD', 1.5e22]
      ])
    ]
  })
  await rates.refresh()
  const valueIn = (amount: string, multiplier: string, code: string) =>
    rates.valueOf(amount, multiplier, code, 'iso:USD')?.value
  t.is(valueIn('1', `1${'0'.repeat(18)}`, 'SHIB'), '0.00000000000000000000000001')
  t.is(valueIn('1', '100000000', 'BTC'), '0.000654321')
  t.is(valueIn('123456789012345678901234567890', '100000000', 'BTC'), '80780369643347036964334703.69635269')
  t.is(valueIn('-100000000', '100000000', 'BTC'), '-65432.1')
  t.is(valueIn('0', '100000000', 'BTC'), '0')
  t.is(valueIn('2', '1', 'BIG'), '30000000000000000000000')
  t.is(valueIn('2', '1', 'ZZZ'), undefined)
  t.is(rates.valueOf('1', '100000000', 'BTC', 'iso:USD')?.route.hops.length, 1)
  t.throws(() => valueIn('1.5', '1', 'BTC'), { code: 'AMOUNT_INVALID' })
})
