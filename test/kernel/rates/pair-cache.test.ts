import test from 'ava'
import { memoryDisk } from '../../../plugins/storage/memory.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { openRateHome, pairOf, toySource } from '../../helpers/rate-home.ts'

const FILE = 'ratePairCache.json'
const USD = pairOf('BTC', 'iso:USD')

test('a start without a network shows the pairs of the last run with their age, marked as stale', async t => {
  const files = new Map<string, string>()
  const clock = makeFakeClock()
  const first = await openRateHome(t, {
    plugins: [toySource('one', [['BTC', 'iso:USD', 50_000]])],
    disk: memoryDisk(files),
    clock
  })
  await first.rates.refresh()
  const at = clock.now() / 1000
  await first.kernel.close()
  t.deepEqual(JSON.parse(files.get(FILE) ?? ''), {
    version: 1,
    pairs: [['one', 'BTC', 'iso:USD', 50_000, at]]
  })

  await clock.advance(3_600_000)
  const down = toySource('one', () => Promise.reject(new Error('no network')))
  const { rates } = await openRateHome(t, { plugins: [down], disk: memoryDisk(files), clock })
  t.is(rates.getSnapshot().pairCount, 1)
  t.is(rates.getSnapshot().updatedAt, at)
  await rates.refresh()
  const route = rates.findRoute('BTC', 'iso:USD')
  t.is(route?.rate, 50_000)
  t.is(route?.hops[0]?.ageSeconds, 3600)
  t.true(route?.isStale)
})

test('pairs are written at most every five minutes, and at the end', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  let rate = 0
  const source = toySource('one', tapContext => {
    rate += 1
    tapContext.offer(USD, rate)
  })
  const { rates, clock, kernel } = await openRateHome(t, { plugins: [source], disk })
  const written = () => JSON.parse(files.get(FILE) ?? '{"pairs":[]}').pairs[0]?.[3]
  rates.want([USD])
  await clock.advance(0)
  t.is(written(), 1)
  const before = disk.writeCount
  await clock.advance(299_999)
  t.is(disk.writeCount, before)
  await clock.advance(1)
  t.is(written(), 11)
  await clock.advance(30_000)
  t.is(written(), 11)
  await kernel.close()
  t.is(written(), 12)
})

test('without new rates, nothing is written', async t => {
  const files = new Map<string, string>()
  const { rates, kernel } = await openRateHome(t, {
    plugins: [toySource('one', [])],
    disk: memoryDisk(files)
  })
  await rates.refresh()
  await kernel.close()
  t.false(files.has(FILE))
})

test('invalid entries of a file of pairs are skipped', async t => {
  const clock = makeFakeClock()
  const now = clock.now() / 1000
  const good = ['one', 'BTC', 'iso:USD', 2, now - 5]
  const bad: unknown[] = [
    null,
    [],
    ['one', 'ETH', 'iso:USD', 2],
    ['one', 'ETH', 'iso:USD', '2', now],
    ['one', 'ETH', 'iso:USD', 0, now],
    ['one', 'ETH', 'iso:USD', -1, now],
    ['one', 'ETH', 5, 1, now],
    ['', 'ETH', 'iso:USD', 1, now],
    ['one', 'x'.repeat(65), 'iso:USD', 1, now],
    ['one', 'ETH', 'iso:USD', 1, '5'],
    ['one', 'ETH', 'iso:USD', 1, now + 1],
    ['one', 'ETH', 'iso:USD', 1, now - 30 * 86_400 - 1]
  ]
  const pairsAfter = async (text: string): Promise<unknown[]> => {
    const { rates, reports } = await openRateHome(t, { disk: memoryDisk(new Map([[FILE, text]])), clock })
    t.deepEqual(reports, [])
    return [...rates.pairs()]
  }
  const kept = { ...USD, rate: 2, source: 'one', at: now - 5 }
  t.deepEqual(await pairsAfter(JSON.stringify({ version: 1, pairs: [...bad, good] })), [kept])
  t.deepEqual(await pairsAfter(JSON.stringify({ version: 2, pairs: [good] })), [])
  for (const text of ['', '{', '[]', '{"version":1}', '{"version":1,"pairs":{}}', 'null']) {
    t.deepEqual(await pairsAfter(text), [])
  }
})

test('the file holds the newest 10,000 pairs', async t => {
  const files = new Map<string, string>()
  const clock = makeFakeClock()
  const offer = (id: string) =>
    toySource(id, tapContext => {
      for (let i = 0; i < 6000; i += 1) tapContext.offer(pairOf(`${id}${i}`, 'iso:USD'), 1)
    })
  const old = await openRateHome(t, { plugins: [offer('old')], disk: memoryDisk(files), clock })
  await old.rates.refresh()
  await old.kernel.close()
  await clock.advance(1000)
  const next = await openRateHome(t, { plugins: [offer('new')], disk: memoryDisk(files), clock })
  await next.rates.refresh()
  t.is(next.rates.getSnapshot().pairCount, 12_000)
  await next.kernel.close()
  const { pairs } = JSON.parse(files.get(FILE) ?? '')
  t.is(pairs.length, 10_000)
  t.is(pairs.filter(([source]: [string]) => source === 'new').length, 6000)
})

test('a failing disk loses only the pairs of the last run', async t => {
  const disk = makeFaultDisk(new Map())
  const { rates, kernel, reports, lines } = await openRateHome(t, {
    plugins: [toySource('one', [['BTC', 'iso:USD', 2]])],
    disk
  })
  disk.cutPower()
  await rates.refresh()
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 2)
  await kernel.close()
  t.true(lines.some(({ text }) => text.startsWith('Could not save the rates')))
  t.deepEqual(reports, [])
})
