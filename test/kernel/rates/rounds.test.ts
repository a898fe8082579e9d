import test from 'ava'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { openRateHome, pairOf, toySource } from '../../helpers/rate-home.ts'

const USD = pairOf('BTC', 'iso:USD')

test('a request that is no list of pairs is refused, and leaves nothing behind', async t => {
  const source = toySource('one', [['BTC', 'iso:USD', 1]])
  const { rates, clock } = await openRateHome(t, { plugins: [source] })
  const { timerCount } = clock
  for (const pair of [
    null,
    undefined,
    'BTC',
    {},
    { fromCurrency: 'BTC' },
    { fromCurrency: 1, toCurrency: 2 }
  ]) {
    t.throws(() => rates.want([USD, pair as never]), { code: 'OPTION_INVALID' })
  }
  t.is(clock.timerCount, timerCount)
  await rates.refresh()
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 1)
})

test('a round that fails before its requests is tried again after 30 s, and not at once', async t => {
  const source = toySource('one', [])
  const { rates, clock, reports } = await openRateHome(t, { plugins: [source] })
  let isBroken = true
  rates.addHintSource(() => {
    if (isBroken) throw new Error('no wallets')
    return [USD]
  })
  rates.want([USD])
  await clock.advance(29_999)
  t.is(reports.length, 1)
  isBroken = false
  await clock.advance(1)
  t.deepEqual([reports.length, source.requested.length], [1, 1])
})

test('waiting for a round ends when the kernel closes, also before all plugins are added', async t => {
  for (const laterPlugins of [[], ['late']]) {
    const source = toySource('one', () => new Promise<void>(() => {}))
    const { rates, kernel, clock } = await openRateHome(t, { plugins: [source], laterPlugins })
    const over = rates.refresh().catch(error => error.code)
    await clock.advance(0)
    await kernel.close()
    t.is(await over, 'CONTEXT_CLOSED')
  }
})

test('a lasting failure is logged once, and again if its text changes or after a success', async t => {
  let say = 'no network'
  const source = toySource('bad', tapContext => {
    if (say === 'bad pair') tapContext.offer(USD, -1)
    else if (say !== '') throw new Error(say)
  })
  const { rates, lines, faults } = await openRateHome(t, { plugins: [source] })
  const reported: number[][] = []
  for (say of [
    'no network',
    'no network',
    'other',
    'other',
    '',
    '',
    'other',
    'bad pair',
    'bad pair',
    '',
    'bad pair'
  ]) {
    await rates.refresh()
    reported.push([lines.filter(({ level }) => level === 'warn').length, faults.length])
  }
  t.deepEqual(reported, [
    ...[
      [1, 0],
      [1, 0],
      [2, 0],
      [2, 0],
      [2, 0],
      [2, 0],
      [3, 0]
    ],
    ...[
      [3, 1],
      [3, 1],
      [3, 1],
      [3, 2]
    ]
  ])
})

test('a provider whose options are incomplete gets no request, and shows the reason', async t => {
  const source = toySource('keyed', [['BTC', 'iso:USD', 1]])
  const plugin = {
    ...source,
    checkOptions: (options: object) => ('apiKey' in options ? undefined : 'It needs a key')
  }
  const { rates, lines } = await openRateHome(t, { plugins: [plugin] })
  await rates.refresh()
  await rates.historicRate(USD, new Date(0))
  t.deepEqual([source.requested.length, lines.length], [0, 0])
  t.deepEqual(rates.getSnapshot().providers, [
    {
      pluginId: 'keyed',
      displayName: 'Toy keyed',
      bias: 0,
      state: 'idle',
      pairCount: 0,
      message: 'It needs a key'
    }
  ])
})

test('a rate of the future, left by a clock that was set back, is old and stale, and the next one is the newest', async t => {
  const still = makeFakeClock()
  let shift = 0
  const clock = Object.defineProperties(
    { ...still, now: () => still.now() + shift },
    { timerCount: { get: () => still.timerCount } }
  )
  let isUp = true
  const silent = toySource('silent', tapContext => {
    if (isUp) tapContext.offer(USD, 1)
  })
  const { rates } = await openRateHome(t, {
    plugins: [silent, toySource('steady', [['BTC', 'iso:USD', 2]])],
    clock
  })
  await rates.refresh()
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 1)
  isUp = false
  shift = -86_400_000
  const route = rates.findRoute('BTC', 'iso:USD')
  t.deepEqual([route?.isStale, route?.hops[0]?.ageSeconds], [true, 86_400])
  await rates.refresh()
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 2, 'the one of the present is the cheaper')
  t.is(rates.getSnapshot().updatedAt, clock.now() / 1000)
})

test('no route and no hop has a rate beyond the range of numbers', async t => {
  const { rates, faults } = await openRateHome(t, {
    plugins: [
      toySource('one', [
        ['C', 'B', 1e300],
        ['C', 'E', 1e300],
        ['E', 'B', 1e300],
        ['A', 'B', 5e-324]
      ])
    ]
  })
  await rates.refresh()
  t.is(faults.length, 1, 'what is endless when it is turned around is refused')
  const found = rates.findRoute('C', 'B', { alternatives: 5 })
  t.is(found?.rate, 1e300)
  t.deepEqual(found?.alternatives, [])
})

test('an added hint is on the disk, even if the write before it failed', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const { rates } = await openRateHome(t, { disk })
  disk.strike({ at: 1, kind: 'full' })
  await t.throwsAsync(rates.hints.add(USD), { code: 'RATE_HINTS_UNSAVED' })
  t.false(files.has('rateHintCache.json'))
  await rates.hints.add(USD)
  t.deepEqual(JSON.parse(files.get('rateHintCache.json') ?? ''), [USD])
  const { writeCount } = disk
  await rates.hints.add(USD)
  t.is(disk.writeCount, writeCount, 'it is there already')
})
