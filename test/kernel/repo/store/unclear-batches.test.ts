import test from 'ava'
import { isWalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import type { StoreChange } from '../../../../kernel/io/store.ts'
import { parseBlockKey, sealBody } from '../../../../kernel/repo/store/block.ts'
import { type BulkChange, parseBulkPrefixes } from '../../../../kernel/repo/store/bulk.ts'
import { LOSS_KEY } from '../../../../kernel/repo/store/sealed-store.ts'
import { textOfKey } from '../../../../kernel/store/sorted-map.ts'
import { drawSeed, makeSeededRandom } from '../../../helpers/drawn-runs.ts'
import { blockKeys, makePluginStore, openOn, type PluginStore } from '../../../helpers/plugin-store.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'
import { openTestStore, rowsOf } from '../../../helpers/sealed-store.ts'
import { makeShakyDisk } from '../../../helpers/shaky-disk.ts'
import { applied, type Rows, spelt } from '../../../helpers/store-model.ts'

test('whatever becomes of a batch whose answer is lost, a store shows all of its write or nothing, and so does the next one', async t => {
  const random = makeSeededRandom(drawSeed(t))
  const counts = { made: 0, lost: 0, 'lost but made': 0, refused: 0 }
  for (let run = 0; run < 60; run += 1) {
    const medium = makePluginStore()
    let store = await openOn(medium)
    let model: Rows = new Map()
    for (let step = 0; step < 40; step += 1) {
      const changes = new Map<string, string | BulkChange | null>()
      for (let n = random.oneIn(4) ? 25 : 1 + random.below(3); n > 0; n -= 1) {
        const number = random.below(30)
        const text = `${step} ${'x'.repeat(40)}`
        if (random.oneIn(3)) changes.set(`e/${number}`, random.oneIn(4) ? null : text)
        // Of few orders, so that many rows have the same.
        else changes.set(`t/${number}`, random.oneIn(4) ? null : { text, order: random.below(3), mark: step })
      }
      medium.fate = random.pick(['made', 'made', 'made', 'lost', 'lost but made', 'refused'])
      counts[medium.fate] += 1
      const writing = store.write(changes)
      // By their keys they are read at once.
      for (const [key, change] of changes)
        if (key.startsWith('e/')) t.is(store.get(key), (change as string | null) ?? undefined)
      const error = await writing.then(
        () => undefined,
        (thrown: unknown) => thrown
      )
      t.is(error === undefined, medium.fate === 'made')
      const next = applied(model, changes)
      const ended = medium.fate
      medium.fate = 'made'
      // An unclear batch is looked at again with the next write, or when all that failed is to be forgotten.
      const more = new Map(random.oneIn(2) ? [['e/next', `${step}`]] : [])
      await store.write(more)
      const both = [model, next].map(rows => applied(rows, more))
      const found = spelt(new Map(await store.contents()))
      const wanted = ended === 'made' || ended === 'lost but made' ? both[1] : both[0]
      t.is(found, spelt(wanted ?? new Map()), `run ${run}, step ${step}, ${ended}`)
      model = wanted ?? new Map()
      if (random.oneIn(10)) {
        await store.close()
        store = await openOn(medium)
        t.is(spelt(new Map(await store.contents())), spelt(model))
      }
    }
  }
  t.true(Math.min(...Object.values(counts)) > 50)
})

test('a batch that lands after it was given up is no damage: its rows are found where they are by then', async t => {
  const medium = makePluginStore()
  const first = await openOn(medium)
  for (let i = 0; i < 6; i += 1) await first.write(rowsOf(3, 3 * i))
  await first.close()
  const store = await openOn(medium)
  const table = store.table('t/')
  t.is(await table.count(), 18)
  medium.fate = 'late'
  // Every block goes, with what is moved out of it.
  await t.throwsAsync(store.write(rowsOf(17, 0, 'edited')), { code: 'STORAGE_TIMEOUT' })
  medium.land()
  const keys = Array.from({ length: 18 }, (_, i) => `k${i}`)
  const texts = await table.getMany(keys)
  // Where the old block is still there the row may be as it was.
  for (const [i, text] of texts.entries()) t.true(text?.startsWith(`${i} `), `k${i}`)
  t.true(texts.filter(text => text?.endsWith('edited')).length > 10)
  t.is((await table.page(0, 99)).length, 18)
})

for (const part of ['heads', 'bodies', 'entries'] as const)
  test(`a damaged value among the ${part} is put aside and read no more: no number of a block is used again, and damage is reported once`, async t => {
    const medium = makePluginStore()
    const first = await openOn(medium)
    for (let i = 0; i < 12; i += 1) {
      await first.write(rowsOf(1, i, 'x'.repeat(300)))
      await first.write(new Map([[`e/${i}`, `${i}`.padEnd(5000)]]))
    }
    await first.close()
    const before = await blockKeys(medium)
    const [damaged] = before[part]
    if (damaged === undefined) throw new Error('There should be such a value')
    medium.values.set(textOfKey(damaged), new Uint8Array(64).fill(1))
    const reports: unknown[] = []
    const counts: number[] = []
    for (let opening = 0; opening < 5; opening += 1) {
      const store = await openOn(medium, { report: error => void reports.push(error) })
      for await (const _ of store.table('t/').scan());
      await store.write(rowsOf(4, 100 * (opening + 1), 'y'.repeat(300)))
      counts.push(await store.table('t/').count())
      t.is(store.get('damaged'), 'yes')
      await store.close()
    }
    t.is(reports.length, 1)
    t.deepEqual(
      counts.map((count, i) => count - (counts[0] ?? 0) - 4 * i),
      [0, 0, 0, 0, 0]
    )
    const { others } = await blockKeys(medium)
    // With a head its body, which nothing would find any more.
    t.is(others.length, part === 'heads' ? 2 : 1)
    t.true(others.every(key => key.length === 14))
  })

test('entries stay readable while they are read again after a lost answer, also if that fails', async t => {
  const medium = makePluginStore()
  const store = await openOn(medium, { report: () => {} })
  await store.write(new Map([['e/a', '1']]))
  for (const keysFailure of [undefined, new Error('EIO')]) {
    Object.assign(medium, { fate: 'lost', keysFailure })
    const failing = t.throwsAsync(store.write(new Map([['e/b', '2']])))
    let isRunning = true
    const watching = (async () => {
      while (isRunning) {
        t.is(store.get('e/a'), '1')
        await new Promise(resolve => setImmediate(resolve))
      }
    })()
    await failing
    isRunning = false
    await watching
    t.is(store.get('e/a'), '1')
    Object.assign(medium, { fate: 'made', keysFailure: undefined })
  }
})

for (const fate of ['lost', 'refused'] as const)
  test(`a store below that has lost something and whose batches are ${fate} gets one batch that notes it, and a later write notes it`, async t => {
    const medium = makePluginStore()
    medium.values.set(textOfKey(LOSS_KEY), Uint8Array.of(1))
    medium.fate = fate
    let batches = 0
    const counted = {
      ...medium,
      keys: medium.keys,
      batch(changes: readonly StoreChange[]): Promise<void> {
        batches += 1
        return medium.batch(changes)
      }
    }
    const reports: unknown[] = []
    const store = await openOn(counted, { report: error => void reports.push(error) })
    for (let i = 0; i < 100; i += 1) await new Promise(resolve => setImmediate(resolve))
    t.deepEqual([batches, reports.length], [1, 1], fate)
    await t.throwsAsync(store.write(new Map([['e/a', '1']])))
    medium.fate = 'made'
    await store.write(new Map([['e/b', '2']]))
    t.false(medium.values.get(textOfKey(LOSS_KEY)) !== undefined)
    await store.close()
    t.is(batches, 3)
    const again = await openOn(medium)
    t.deepEqual([again.get('damaged'), again.get('e/b')], ['yes', '2'], fate)
  })

test('a write whose answer was lost is shown as what became of it when its caller hears of that', async t => {
  for (const fate of ['lost', 'lost but made'] as const) {
    const medium = makePluginStore()
    const store = await openOn(medium)
    await store.write(new Map([['e/a', '1']]))
    medium.fate = fate
    await t.throwsAsync(store.write(new Map([['e/a', '2']])))
    t.is(store.get('e/a'), fate === 'lost' ? '1' : '2')
  }
})

test('a row that damage shows again is gone for good once it is deleted', async t => {
  const medium = makePluginStore()
  const first = await openOn(medium)
  await first.write(rowsOf(8))
  const [key] = (await blockKeys(medium)).heads
  const older = key === undefined ? undefined : medium.values.get(textOfKey(key))
  if (key === undefined || older === undefined) throw new Error('There should be a head')
  await first.write(new Map([['t/k3', { text: 'newer', order: 3 }]]))
  await first.close()
  // As after the loss of the chunk that had the newer head.
  medium.values.set(textOfKey(key), older)
  const store = await openOn(medium, { hasLost: true })
  t.is(await store.table('t/').get('k3'), 'newer')
  t.is(await store.table('t/').count(), 8)
  await store.write(new Map([['t/k3', null]]))
  await store.close()
  const again = await openOn(medium)
  t.is(await again.table('t/').get('k3'), undefined)
  t.is(await again.table('t/').count(), 7)
})

for (const fate of ['made', 'undone'] as const)
  test(`rows that a batch has moved are found while its answer is not there yet, and are no damage, if it is ${fate}`, async t => {
    const medium = makePluginStore()
    const store = await openOn(medium)
    await store.write(rowsOf(120))
    const table = store.table('t/')
    const names = (await table.page(0, 9)).map(({ key }) => key)
    // Blocks that were read lately would be remembered.
    await table.getMany(Array.from({ length: 90 }, (_, i) => `k${i}`))
    let answer = (): void => {}
    medium.answer = new Promise(resolve => {
      answer = resolve
    })
    const edits = new Map(
      names.slice(0, 6).map(name => [`t/${name}`, { text: 'new', order: Number(name.slice(1)) }])
    )
    const before = (await blockKeys(medium)).bodies.map(textOfKey).join()
    medium.fate = fate
    const ended = store.write(edits).catch((error: unknown) => error)
    while ((await blockKeys(medium)).bodies.map(textOfKey).join() === before);
    const reading = table.getMany(names)
    const contents = store.contents()
    for (let i = 0; i < 20; i += 1) await new Promise(resolve => setImmediate(resolve))
    answer()
    t.is((await ended) === undefined, fate === 'made')
    t.true((await reading).every(text => text !== undefined))
    t.is((await contents).filter(([key]) => key.startsWith('t/')).length, 120)
    t.is(store.get('damaged'), undefined)
  })

test('a key or a text with half a character fails its own write, and none that shares its batch', async t => {
  const row = { text: 'a', search: 'a', order: 1 }
  for (const [key, change] of [
    ['t/\ud800', row],
    ['u/\ud800/x', row],
    // The other half begins the text.
    ['t/\ud83d', { ...row, text: '\ude00' }],
    ['t/text', { ...row, text: '\ud800' }],
    ['t/search', { ...row, search: '\ud800' }]
  ] as const) {
    const store = await openOn(makePluginStore())
    const bad = t.throwsAsync(store.write(new Map([[key, change]])), {
      code: 'STORAGE_FAILED'
    })
    await store.write(new Map([['e/good', '1']]))
    await bad
    t.is(store.get('e/good'), '1')
  }
})

test('a row that is deleted and comes back stands behind its equals, whether its writes share a batch or not', async t => {
  const steps: readonly (readonly [string, string | null])[] = [
    ['a', 'first'],
    ['b', 'b'],
    ['a', null],
    ['a', 'again']
  ]
  // Of the steps from this one on none waits for the one before.
  for (const shared of [0, 2, 4]) {
    const store = await openOn(makePluginStore())
    const writes: Promise<void>[] = []
    for (const [at, [name, text]] of steps.entries()) {
      const writing = store.write(new Map([[`t/${name}`, text === null ? null : { text, order: 5 }]]))
      if (at < shared) await writing
      else writes.push(writing)
    }
    await Promise.all(writes)
    t.deepEqual(
      (await store.table('t/').page(0, 9)).map(({ key }) => key),
      ['b', 'a'],
      String(shared)
    )
  }
})

test('an entry that damage shows again is gone for good once it is deleted', async t => {
  const medium = makePluginStore()
  const first = await openOn(medium)
  await first.write(new Map([['e/a', 'older']]))
  const [key] = (await blockKeys(medium)).entries
  const older = key === undefined ? undefined : medium.values.get(textOfKey(key))
  if (key === undefined || older === undefined) throw new Error('There should be a block')
  await first.write(new Map([['e/a', 'newer']]))
  await first.close()
  medium.values.set(textOfKey(key), older)
  const store = await openOn(medium)
  t.is(store.get('e/a'), 'newer')
  await store.write(new Map([['e/a', null]]))
  await store.close()
  t.is((await openOn(medium)).get('e/a'), undefined)
})

/** A store with eight rows, in which one value of their blocks is damaged; and the key of that value. */
const makeDamaged = async (part: 'bodies' | 'heads'): Promise<{ medium: PluginStore; damaged: string }> => {
  const medium = makePluginStore()
  const store = await openOn(medium)
  await store.write(rowsOf(8))
  await store.close()
  const [key] = (await blockKeys(medium))[part]
  if (key === undefined) throw new Error('There should be a block')
  const damaged = textOfKey(key)
  medium.values.set(damaged, new Uint8Array(64))
  return { medium, damaged }
}

test('what notes damage is in the first batch that is made of it', async t => {
  const { medium, damaged } = await makeDamaged('bodies')
  const batches: boolean[] = []
  const store = await openOn(
    {
      ...medium,
      async batch(changes) {
        await medium.batch(changes)
        if (changes.length > 0 && medium.values.get(damaged) === undefined) {
          const after = await openOn(medium)
          batches.push(after.get('damaged') === 'yes')
        }
      }
    },
    { report: () => {} }
  )
  // Most of the block is replaced, so that the rest would move.
  await store.write(rowsOf(7, 0, 'y'.repeat(60)))
  t.deepEqual(batches.slice(0, 1), [true])
})

test('a table that is edited at random for long has few blocks, and about as much on the disk as it has rows', async t => {
  const random = makeSeededRandom(drawSeed(t))
  const medium = makePluginStore()
  const store = await openOn(medium)
  await store.write(rowsOf(300))
  for (let i = 0; i < 600; i += 1) await store.write(rowsOf(1, random.below(300), 'y'.repeat(60)))
  t.is(await store.table('t/').count(), 300)
  const { heads, bodies } = await blockKeys(medium)
  t.is(heads.length, bodies.length)
  let size = 0
  for (const key of bodies) size += medium.values.get(textOfKey(key))?.length ?? 0
  // A row has some 70 letters; a block that lost less than half of its rows stays.
  t.true(size < 300 * 70 * 4, String(size))
  t.true(heads.length < 120, String(heads.length))
})

test('of one batch the heads come before the bodies, so that a table is opened with few reads', async t => {
  const medium = makePluginStore()
  const orders: string[] = []
  const store = await openOn({
    ...medium,
    async batch(changes) {
      orders.push(changes.map(({ key }) => (key.length === 13 && key[8] === 0 ? 'h' : 'b')).join(''))
      await medium.batch(changes)
    }
  })
  await store.write(rowsOf(100))
  t.regex(orders[0] ?? '', /^h{5,}b{5,}$/)
})

test('a batch whose answer was lost and that arrives while a table is read is in the table afterwards', async t => {
  const medium = makePluginStore()
  const reports: unknown[] = []
  let late: readonly StoreChange[] = []
  let isRead = (): void => {}
  let release = (): void => {}
  const reading = new Promise<void>(resolve => {
    isRead = resolve
  })
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  let isSlow = false
  const store = await openOn(
    {
      ...medium,
      keys: range => medium.keys(range),
      async batch(changes) {
        if (medium.fate === 'lost') late = changes
        await medium.batch(changes)
      },
      async getMany(keys) {
        const values = await medium.getMany(keys)
        if (isSlow && keys.some(key => key[8] === 0)) {
          isSlow = false
          isRead()
          await released
        }
        return values
      }
    },
    { report: error => void reports.push(error) }
  )
  await store.write(rowsOf(8))
  Object.assign(medium, { fate: 'lost', keysFailure: new Error('EIO') })
  await t.throwsAsync(store.write(rowsOf(8, 100)))
  Object.assign(medium, { fate: 'made', keysFailure: undefined })
  isSlow = true
  const counting = store.table('t/').count()
  await reading
  await medium.batch(late)
  await store.write(new Map([['e/next', '1']]))
  release()
  t.is(await counting, 16)
  t.is((await store.contents()).filter(([key]) => key.startsWith('t/')).length, 16)
  t.is(reports.length, 1)
})

test('a table whose last row goes while everything is read is no damage', async t => {
  const medium = makePluginStore()
  let remove: (() => Promise<void>) | undefined
  const store = await openOn({
    ...medium,
    keys: range => medium.keys(range),
    async getMany(keys) {
      if (keys.some(key => key[8] === 0)) {
        const once = remove
        remove = undefined
        await once?.()
      }
      return medium.getMany(keys)
    }
  })
  await store.write(new Map<string, string | BulkChange>([...rowsOf(1), ['u/a/x', { text: 'x' }]]))
  for (const prefix of ['t/', 'u/a/']) await store.table(prefix).count()
  remove = () =>
    store.write(
      new Map([
        ['t/k0', null],
        ['u/a/x', null]
      ])
    )
  t.deepEqual(await store.contents(), [])
  await store.settled()
  t.is(store.get('damaged'), undefined)
})

test('a table whose rows move for long reads its heads again, and is the same', async t => {
  const medium = makePluginStore()
  let heads = 0
  const store = await openOn(
    {
      ...medium,
      getMany(keys) {
        heads += keys.filter(key => key[8] === 0).length
        return medium.getMany(keys)
      }
    },
    { blockLength: 50_000 }
  )
  const moved = (time: number): Rows =>
    new Map(Array.from({ length: 1000 }, (_, i) => [`t/${i}`, { text: `${i}`, order: time * 1000 + i }]))
  const table = store.table('t/')
  for (let time = 0; time < 5; time += 1) await store.write(moved(time))
  t.is(await table.count(), 1000)
  t.is(heads, 0)
  for (let time = 5; time < 8; time += 1) await store.write(moved(time))
  t.is(await table.count(), 1000)
  t.true(heads > 0)
  t.deepEqual((await table.page(0, 1))[0], { key: '999', text: '999', order: 7999, mark: 0 })
})

test('what a failed write has left on the disk is gone when a write of nothing has ended', async t => {
  const files = new Map<string, string>()
  const disk = makeShakyDisk(files, 1)
  const { store } = await openTestStore(files, disk)
  await store.write(new Map([['e/a', '1']]))
  disk.fail({ call: 'set', at: 1, arrives: true })
  await t.throwsAsync(store.write(new Map([['e/a', '2']])), { code: 'STORAGE_FAILED' })
  const afterCrash = async (): Promise<string | undefined> =>
    (await openTestStore(new Map(files))).store.get('e/a')
  t.is(await afterCrash(), '2')
  t.is(store.get('e/a'), '1')
  await store.write(new Map())
  t.is(await afterCrash(), '1')
})

test('a closed store writes nothing, also when a read that had begun finds damage', async t => {
  const { medium } = await makeDamaged('bodies')
  const reports: unknown[] = []
  const store = await openOn(medium, { report: error => void reports.push(error) })
  await store.close()
  await store.table('t/').page(0, 9)
  await store.settled()
  t.is(reports.length, 1)
  t.is((await openOn(medium)).get('damaged'), undefined)
})

test('rows that are written into a damaged table are there, and what is left of the others', async t => {
  const { medium } = await makeDamaged('bodies')
  const store = await openOn(medium, { report() {} })
  const table = store.table('t/')
  // What would put it right by itself fails.
  medium.fate = 'refused'
  const left = (await table.page(0, 9)).length
  await store.settled()
  medium.fate = 'made'
  await store.write(rowsOf(3, 20))
  t.is((await table.page(0, 99)).length, left + 3)
  t.is(store.get('damaged'), 'yes')
  await store.close()
  const again = await openOn(medium)
  t.deepEqual(
    (await again.table('t/').getMany(['k20', 'k21', 'k22'])).map(text => text?.slice(0, 3)),
    ['20 ', '21 ', '22 ']
  )
  t.is((await again.table('t/').page(0, 99)).length, left + 3)
})

test('a table that only another version knows is no part of what is in a store', async t => {
  const medium = makePluginStore()
  const first = await openOn(medium)
  await first.write(new Map<string, string | BulkChange>([...rowsOf(2), ['u/a/x', { text: 'x', order: 3 }]]))
  t.is((await first.contents()).length, 3)
  await first.close()
  const store = await openOn(medium, { bulk: parseBulkPrefixes(['t/']) })
  t.deepEqual((await store.contents()).map(([key]) => key).sort(), ['t/k0', 't/k1'])
})

test('a block whose body has fewer rows than its head shows those that are there', async t => {
  const medium = makePluginStore()
  const first = await openOn(medium)
  await first.write(rowsOf(4))
  await first.close()
  const [body] = (await blockKeys(medium)).bodies
  const block = body === undefined ? undefined : parseBlockKey(body)?.block
  if (body === undefined || block === undefined) throw new Error('There should be a body')
  const sealing = { io: makeRepoIo(), key: new Secret(new Uint8Array(32).fill(7)) }
  const short = sealBody(sealing, { table: 't/', block, part: 'body' }, [['k0', 'alone']])
  medium.values.set(textOfKey(body), short)
  const store = await openOn(medium)
  const page = await store.table('t/').page(0, 9)
  t.deepEqual(
    page.map(({ text }) => text),
    ['alone']
  )
})

test('a damaged head is reported once, however often its table is read', async t => {
  const { medium } = await makeDamaged('heads')
  const reports: unknown[] = []
  const store = await openOn(medium, { report: error => void reports.push(error) })
  medium.fate = 'refused'
  await store.contents()
  await store.table('t/').page(0, 9)
  await store.contents()
  await store.settled()
  const damage = reports.filter(error => isWalletError(error, 'CORRUPT_FILE'))
  t.is(damage.length, 1)
})
