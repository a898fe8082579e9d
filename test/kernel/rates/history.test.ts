import test from 'ava'
import type { HistoricRateContext, RatePlugin } from '../../../kernel/index.ts'
import { openRateHome, pairOf } from '../../helpers/rate-home.ts'

const USD = pairOf('BTC', 'iso:USD')
const DAY_MS = 86_400_000
const DATE = new Date('2024-02-29T12:00:00.000Z')

interface Historian extends RatePlugin {
  readonly contexts: HistoricRateContext[]
}

const historian = (
  id: string,
  answer: (tapContext: HistoricRateContext) => void | Promise<void>,
  more: Partial<RatePlugin> = {}
): Historian => {
  const contexts: HistoricRateContext[] = []
  return {
    kind: 'rates',
    id,
    displayName: id,
    ...more,
    contexts,
    apply({ hooks }) {
      hooks.fetchHistoricRates.tapPromise(id, async tapContext => {
        contexts.push(tapContext)
        await answer(tapContext)
      })
    }
  }
}

/** Offers a rate for everything, so many days after the date. */
const offering = (id: string, rate: number, daysAfter = 0, more: Partial<RatePlugin> = {}): Historian =>
  historian(
    id,
    tapContext => {
      for (const { date, ...pair } of tapContext.wanted)
        tapContext.offer({ ...pair, date: new Date(date.getTime() + daysAfter * DAY_MS) }, rate)
    },
    more
  )

test('a rate of the past comes from a provider that has it, with its date, and is remembered', async t => {
  const source = offering('past', 61_000, 0.5)
  const { rates } = await openRateHome(t, { plugins: [source, historian('empty', () => {})] })
  const expected = { ...USD, rate: 61_000, source: 'past', at: DATE.getTime() / 1000 + 43_200 }
  t.deepEqual(await rates.historicRate(USD, DATE), expected)
  t.deepEqual(await rates.historicRate(USD, new Date(DATE)), expected)
  t.is(source.contexts.length, 1)
  t.is(rates.getSnapshot().pairCount, 0, 'it is no rate of the present')
})

test('a rate that no provider has is absent, and is requested again', async t => {
  const source = historian('empty', () => {})
  const { rates } = await openRateHome(t, { plugins: [source] })
  t.is(await rates.historicRate(USD, DATE), undefined)
  t.is(await rates.historicRate(USD, DATE), undefined)
  t.is(source.contexts.length, 2)
  const alone = await openRateHome(t)
  t.is(await alone.rates.historicRate(USD, DATE), undefined)
})

test('within a day of the date the lower bias wins, else the nearest, and a rate a week away is ignored', async t => {
  const answerOf = async (...plugins: readonly RatePlugin[]): Promise<string | undefined> => {
    const { rates } = await openRateHome(t, { plugins })
    return (await rates.historicRate(USD, DATE))?.source
  }
  t.is(await answerOf(offering('dear', 1, 0, { bias: 0.2 }), offering('cheap', 1, -1)), 'cheap')
  t.is(await answerOf(offering('cheap', 1, 1.1), offering('dear', 1, -1, { bias: 0.2 })), 'dear')
  t.is(await answerOf(offering('far', 1, 3), offering('near', 1, -2, { bias: 0.2 })), 'near')
  t.is(await answerOf(offering('far', 1, 7.1), offering('past', 1, -8)), undefined)
})

test('simultaneous queries are batched, a hundred pairs at a time', async t => {
  const source = offering('past', 2)
  const { rates } = await openRateHome(t, { plugins: [source] })
  const dates = Array.from({ length: 250 }, (_, at) => new Date(DATE.getTime() + at * DAY_MS))
  const answers = await Promise.all([...dates, ...dates].map(date => rates.historicRate(USD, date)))
  t.deepEqual(
    source.contexts.map(({ wanted }) => wanted.length),
    [100, 100, 50]
  )
  t.deepEqual(
    answers.map(answer => answer?.at),
    [...dates, ...dates].map(date => date.getTime() / 1000)
  )
})

test('the last thousand historic rates are cached', async t => {
  const source = offering('past', 2)
  const { rates } = await openRateHome(t, { plugins: [source] })
  const dates = Array.from({ length: 1001 }, (_, at) => new Date(DATE.getTime() + at * DAY_MS))
  await Promise.all(dates.map(date => rates.historicRate(USD, date)))
  const count = source.contexts.length
  await rates.historicRate(USD, dates[1] ?? DATE)
  t.is(source.contexts.length, count)
  await rates.historicRate(USD, dates[0] ?? DATE)
  t.is(source.contexts.length, count + 1, 'the oldest is forgotten')
})

test('after 5 s the rates so far count; without any, the first later one', async t => {
  const slow = historian('slow', async tapContext => {
    await new Promise<void>(resolve => void clock.after(8000, resolve))
    for (const pair of tapContext.wanted) tapContext.offer(pair, 2)
  })
  const quick = historian('quick', tapContext => {
    const [pair] = tapContext.wanted
    if (pair?.fromCurrency === 'BTC') tapContext.offer(pair, 1)
  })
  const { rates, clock } = await openRateHome(t, { plugins: [slow, quick] })
  const known = rates.historicRate(USD, DATE)
  const unknown = rates.historicRate(pairOf('ETH', 'iso:USD'), DATE)
  await clock.advance(5000)
  t.is((await known)?.source, 'quick')
  await clock.advance(3000)
  t.is((await unknown)?.source, 'slow')
})

test('a provider that has not finished is skipped for the next query', async t => {
  const hanging = historian('hanging', () => new Promise<void>(() => {}))
  const quick = offering('quick', 1)
  const { rates, clock, lines } = await openRateHome(t, { plugins: [hanging, quick] })
  for (const hours of [0, 1, 2]) {
    const pendingQuery = rates.historicRate(USD, new Date(DATE.getTime() + hours * 3_600_000))
    await clock.advance(5000)
    t.is((await pendingQuery)?.source, 'quick')
  }
  t.deepEqual([hanging.contexts.length, quick.contexts.length], [1, 3])
  await clock.advance(15_000)
  t.true(hanging.contexts[0]?.signal.aborted, 'given up after 30 s')
  t.is(lines.filter(({ source }) => source === 'hanging').length, 1)
})

test('a failure is only logged, a bad entry is a fault of its provider, and a retired provider gets no query', async t => {
  const bad: [unknown, unknown][] = [
    [{ ...USD, date: DATE }, 0],
    [{ ...USD, date: DATE }, '1'],
    [{ ...USD, date: new Date(Number.NaN) }, 1],
    [{ ...USD, date: '2024-02-29' }, 1],
    [USD, 1],
    [{ fromCurrency: 'BTC', date: DATE }, 1],
    [null, 1]
  ]
  for (const [pair, rate] of bad) {
    const { rates, faults } = await openRateHome(t, {
      plugins: [historian('bad', tapContext => tapContext.offer(pair as never, rate as never))]
    })
    t.is(await rates.historicRate(USD, DATE), undefined)
    t.deepEqual(faults, [
      { pluginId: 'bad', hook: 'fetchHistoricRates', errorName: 'Error', message: 'Invalid data format' }
    ])
  }
  const retired = offering('old', 3, 0, { bias: -0.5, retired: 'gone' })
  const { rates, faults, lines } = await openRateHome(t, {
    plugins: [historian('down', () => Promise.reject(new Error('down'))), retired, offering('good', 2)]
  })
  t.is((await rates.historicRate(USD, DATE))?.source, 'good')
  t.deepEqual([faults.length, retired.contexts.length], [0, 0])
  t.deepEqual(
    lines.map(({ source, level }) => [source, level]),
    [['down', 'warn']]
  )
})

test('an offer for a pair that was not requested is ignored', async t => {
  const { rates, faults } = await openRateHome(t, {
    plugins: [
      historian('other', tapContext =>
        tapContext.offer({ fromCurrency: 'iso:USD', toCurrency: 'BTC', date: DATE }, 1)
      )
    ]
  })
  t.is(await rates.historicRate(USD, DATE), undefined)
  t.is(faults.length, 0)
})

test('an invalid pair or date is refused', async t => {
  const { rates } = await openRateHome(t)
  const questions: [typeof USD, Date][] = [
    [pairOf('', 'iso:USD'), DATE],
    [pairOf('BTC', 'BTC'), DATE],
    [USD, new Date(Number.NaN)],
    [USD, 5 as never]
  ]
  for (const [pair, date] of questions) {
    await t.throwsAsync(rates.historicRate(pair, date), { code: 'OPTION_INVALID' })
  }
})

test('a pending query returns no rate when the kernel closes', async t => {
  const { rates, kernel, clock } = await openRateHome(t, {
    plugins: [historian('hanging', () => new Promise<void>(() => {}))]
  })
  const pendingQuery = rates.historicRate(USD, DATE)
  await clock.advance(0)
  await kernel.close()
  t.is(await pendingQuery, undefined)
})
