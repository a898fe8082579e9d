import test from 'ava'
import { WalletError } from '../../../../kernel/base/errors.ts'
import type { StoreChange } from '../../../../kernel/io/store.ts'
import type { BulkChange } from '../../../../kernel/repo/store/bulk.ts'
import type { SealedStore } from '../../../../kernel/repo/store/sealed-store.ts'
import { drawSeed, makeSeededRandom } from '../../../helpers/drawn-runs.ts'
import { makePluginStore, openOn } from '../../../helpers/plugin-store.ts'
import { applied, type Rows, spelt } from '../../../helpers/store-model.ts'

/** What each kind of read of the table finds, in words that a model has, too. */
const readAll = async (store: SealedStore): Promise<unknown> => {
  const table = store.table('t/')
  const page = await table.page(0, 1000)
  const keys = page.map(({ key }) => key)
  const searched: (readonly [string, string])[] = []
  for await (const rows of table.scanSearchTexts(''))
    for (const row of rows) searched.push([row.key, row.search ?? row.text])
  const offsets: (number | undefined)[] = []
  for (const key of keys) offsets.push(await table.offsetOf(key))
  return {
    page: page.map(({ key, text, order, mark }) => [key, text, order, mark]),
    count: await table.count(),
    texts: await table.getMany(keys),
    marked: (await table.keysWhere(mark => mark % 2 === 1)).sort(),
    above: await table.offsetAt(1),
    offsets,
    searched: searched.sort(),
    entries: [...store.entries('e/')].sort()
  }
}

const expected = (rows: Rows): unknown => {
  const listed = [...rows].flatMap(([key, change]) =>
    typeof change === 'string' ? [] : [{ key: key.slice(2), ...change, order: change.order ?? 0 }]
  )
  listed.sort((left, right) => right.order - left.order)
  return {
    page: listed.map(({ key, text, order, mark }) => [key, text, order, mark]),
    count: listed.length,
    texts: listed.map(({ text }) => text),
    marked: listed.flatMap(({ key, mark = 0 }) => (mark % 2 === 1 ? [key] : [])).sort(),
    above: listed.filter(({ order }) => order > 1).length,
    offsets: listed.map((_, at) => at),
    searched: listed.map(({ key, search, text }) => [key, search ?? text]).sort(),
    entries: [...rows].filter(([, change]) => typeof change === 'string').sort()
  }
}

test('what the network gave and no batch could save is in every read, goes with the next batch, and is gone after a crash before that', async t => {
  const random = makeSeededRandom(drawSeed(t))
  const counts = { held: 0, crashed: 0, closed: 0 }
  for (let run = 0; run < 20; run += 1) {
    const medium = makePluginStore()
    let store = await openOn(medium)
    let [shown, saved]: Rows[] = [new Map(), new Map()]
    for (let step = 0; step < 40; step += 1) {
      const changes = new Map<string, string | BulkChange | null>()
      for (let n = random.oneIn(4) ? 25 : 1 + random.below(3); n > 0; n -= 1) {
        const number = random.below(30)
        const text = `${step} ${'x'.repeat(40)}`
        const row = { text, order: random.below(3), mark: step, search: `find ${step}` }
        if (random.oneIn(3)) changes.set(`e/${number}`, random.oneIn(4) ? null : text)
        else changes.set(`t/${number}`, random.oneIn(4) ? null : row)
      }
      medium.fate = random.pick(['made', 'made', 'refused', 'refused', 'lost', 'lost but made'])
      const isHeld = random.oneIn(2)
      const failures: unknown[] = []
      const note = (failure: unknown): void => void failures.push(failure)
      await store.write(changes, isHeld ? { onHeld: note } : {}).catch(note)
      t.is(failures.length, medium.fate === 'made' ? 0 : 1, 'who wrote hears of it')
      const isMade = medium.fate === 'made' || medium.fate === 'lost but made'
      if (isMade || isHeld) shown = applied(shown as Rows, changes)
      if (isMade) saved = shown
      else if (isHeld) counts.held += 1
      medium.fate = 'made'
      const end = random.below(8)
      // What became of an unclear batch is found out by a read, or at the end.
      if (end !== 1 || random.oneIn(2))
        t.deepEqual(await readAll(store), expected(shown as Rows), `run ${run}, step ${step}`)
      if (end === 0) {
        // Without its end, as in a crash.
        store = await openOn(medium)
        t.is(spelt(new Map(await store.contents())), spelt(saved as Rows))
        shown = saved
        counts.crashed += 1
      } else if (end === 1) {
        await store.close()
        store = await openOn(medium)
        t.is(spelt(new Map(await store.contents())), spelt(shown as Rows))
        saved = shown
        counts.closed += 1
      }
    }
  }
  t.true(Math.min(...Object.values(counts)) > 20, JSON.stringify(counts))
})

test('of two writes that share a batch which fails, only the one that is to be held is shown', async t => {
  const medium = makePluginStore()
  const store = await openOn(medium)
  medium.fate = 'refused'
  const failures: unknown[] = []
  const ends = await Promise.allSettled([
    store.write(new Map([['e/network', 'given']]), { onHeld: failure => void failures.push(failure) }),
    store.write(new Map([['e/barrier', 'signed']]))
  ])
  t.deepEqual(
    ends.map(({ status }) => status),
    ['fulfilled', 'rejected']
  )
  t.is(failures.length, 1)
  t.deepEqual([store.get('e/network'), store.get('e/barrier')], ['given', undefined])
  medium.fate = 'made'
  await store.write(new Map())
  const again = await openOn(medium)
  t.deepEqual([again.get('e/network'), again.get('e/barrier')], ['given', undefined])
})

test('a write of nothing fails as long as something that is held cannot be saved', async t => {
  const medium = makePluginStore()
  const store = await openOn(medium)
  medium.fate = 'refused'
  await store.write(new Map([['e/network', 'given']]), { onHeld: () => undefined })
  await t.throwsAsync(store.write(new Map()), { code: 'STORAGE_FAILED' })
  t.is(store.get('e/network'), 'given')
  // What failed writes have left can be settled all the same.
  await t.notThrowsAsync(async () => {
    medium.fate = 'made'
    await store.settleFailed()
  })
  t.is((await openOn(medium)).get('e/network'), undefined)
  await store.write(new Map())
  t.is((await openOn(medium)).get('e/network'), 'given')
})

test('while nobody knows what is stored nothing is held, and the write fails', async t => {
  const medium = makePluginStore()
  const reports: unknown[] = []
  const store = await openOn(medium, { report: error => void reports.push(error) })
  await store.write(new Map([['e/network', 'old']]))
  medium.fate = 'lost'
  medium.keysFailure = new Error('The network of the database is gone')
  const onHeld = (): void => t.fail('nothing can be held')
  await t.throwsAsync(store.write(new Map([['e/network', 'given']]), { onHeld }))
  await t.throwsAsync(store.write(new Map([['e/note', 'typed']])))
  medium.keysFailure = undefined
  medium.fate = 'made'
  await store.write(new Map([['e/other', 'typed']]))
  const again = await openOn(medium)
  t.deepEqual(
    ['e/network', 'e/note', 'e/other'].map(key => again.get(key)),
    ['old', undefined, 'typed']
  )
  t.true(reports.length > 0)
})

test('why nothing can be held is reported, and the write fails as it did', async t => {
  const medium = makePluginStore()
  const first = await openOn(medium)
  await first.write(new Map([['t/a', { text: 'old', order: 1 }]]))
  await first.close()
  const reports: unknown[] = []
  const store = await openOn(medium, { report: error => void reports.push(error) })
  medium.isDown = true
  const onHeld = (): void => t.fail('nothing can be held')
  await t.throwsAsync(store.write(new Map([['t/b', { text: 'given', order: 1 }]]), { onHeld }), {
    code: 'STORAGE_FAILED'
  })
  t.is(reports.length, 1)
  medium.isDown = false
  t.deepEqual(
    (await store.table('t/').page(0, 9)).map(({ key }) => key),
    ['a']
  )
})

test('what is held for long is no more than what there is, however often it changes', async t => {
  const medium = makePluginStore()
  const store = await openOn(medium)
  const sizes: number[] = []
  const counted = {
    ...medium,
    async batch(changes: readonly StoreChange[]) {
      sizes.push(changes.length)
      throw new WalletError('STORAGE_FULL', { path: '' })
    }
  }
  const full = await openOn(counted)
  for (let n = 0; n < 400; n += 1)
    await full.write(new Map([[`t/${n % 40}`, { text: `${n} ${'x'.repeat(40)}`, order: n % 40 }]]), {
      onHeld: () => undefined
    })
  t.is(await full.table('t/').count(), 40)
  t.true((sizes.at(-1) ?? 0) < 100, `${sizes.at(-1)} changes in the last batch`)
  await store.close()
})

for (const isMade of [true, false])
  test(`a store that is closed while nobody knows what became of a batch saves what it holds, and nothing older than that batch (made: ${isMade})`, async t => {
    const medium = makePluginStore()
    const store = await openOn(medium, { report: () => undefined })
    medium.fate = 'refused'
    const given = new Map(['e/network', 'e/other'].map(key => [key, 'given']))
    await store.write(given, { onHeld: () => undefined })
    medium.fate = isMade ? 'lost but made' : 'lost'
    medium.keysFailure = new Error('The network of the database is gone')
    await t.throwsAsync(store.write(new Map([['e/network', 'typed']])))
    medium.keysFailure = undefined
    medium.fate = 'made'
    await store.close()
    const again = await openOn(medium)
    t.deepEqual([again.get('e/network'), again.get('e/other')], [isMade ? 'typed' : 'given', 'given'])
  })
