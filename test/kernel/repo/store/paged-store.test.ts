import test from 'ava'
import fc from 'fast-check'
import { isWalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import type { BulkChange, BulkRow, BulkTable } from '../../../../kernel/repo/store/bulk.ts'
import { parseBulkPrefixes } from '../../../../kernel/repo/store/bulk-prefixes.ts'
import { openPagedStore } from '../../../../kernel/repo/store/open-paged-store.ts'
import type { PagedStore } from '../../../../kernel/repo/store/paged-store.ts'
import { FAULT_KINDS, type FaultDisk, makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

const io = makeRepoIo()
const key = new Secret(new Uint8Array(32).fill(7))
const folder = 'repos/r/store'
const bulk = parseBulkPrefixes(['t/', 'u/+/'])
/** Small enough that a few rows make a large write, and a few more a flush. */
const limits = { large: 600, gathered: 2000 }

interface Opened {
  readonly store: PagedStore
  readonly table: BulkTable
  readonly reports: unknown[]
  readonly damages: () => number
}

const open = async (files: Map<string, string>, disk: FaultDisk = makeFaultDisk(files)): Promise<Opened> => {
  const reports: unknown[] = []
  let damages = 0
  const damaged = (): void => {
    damages += 1
  }
  const report = (error: unknown): void => void reports.push(error)
  const place = { io, disk, folder, key, bulk, limits, report, damaged }
  const store = await openPagedStore(place, await disk.list(folder))
  return { store, table: store.table('t/'), reports, damages: () => damages }
}

const filesOf = (files: Map<string, string>, kind: 's' | 'i'): string[] =>
  [...files.keys()].filter(path => path.startsWith(`${folder}/${kind}`)).sort()

const rowsOf = (count: number, from = 0, text = 'x'.repeat(60)): Map<string, BulkChange> =>
  new Map(
    Array.from({ length: count }, (_, i) => {
      const number = from + i
      return [`t/k${number}`, { text: `${number} ${text}`, order: number, mark: number % 7 }]
    })
  )

const allOf = async (table: BulkTable, ordered = false): Promise<BulkRow[]> => {
  const rows: BulkRow[] = []
  for await (const batch of table.scan({ ordered })) rows.push(...batch)
  return rows
}

test('the rows of a large write are on the disk, and each is found by key or order without loading the others', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(rowsOf(100))
  t.is(filesOf(files, 's').length, 1)
  await store.close()
  const { table, reports } = await open(files)
  t.is(await table.count(), 100)
  t.is((await table.get('k42'))?.slice(0, 3), '42 ')
  t.is(await table.get('k100'), undefined)
  t.true(await table.has('k7'))
  t.false(await table.has('none'))
  t.deepEqual(
    (await table.page(10, 3)).map(row => [row.key, row.order, row.mark]),
    [
      ['k89', 89, 5],
      ['k88', 88, 4],
      ['k87', 87, 3]
    ]
  )
  t.is(await table.offsetOf('k89'), 10)
  t.is(await table.offsetOf('none'), undefined)
  t.is(await table.offsetAt(89), 10)
  t.is(await table.offsetAt(88.5), 11)
  t.deepEqual(await table.getMany(['k3', 'none', 'k1']), [
    `3 ${'x'.repeat(60)}`,
    undefined,
    `1 ${'x'.repeat(60)}`
  ])
  t.is((await table.keysWhere((mark, order) => mark === 0 && order > 90)).length, 2)
  t.deepEqual(reports, [])
})

test('small writes replace rows of the disk in every read, and move to the disk once they are many', async t => {
  const files = new Map<string, string>()
  const { store, table } = await open(files)
  await store.write(rowsOf(50))
  await store.write(new Map([['t/k10', { text: 'edited', order: 10 }]]))
  await store.write(new Map([['t/k11', null]]))
  await store.write(new Map([['t/k12', { text: 'moved', order: 99 }]]))
  const check = async (there: BulkTable): Promise<void> => {
    t.is(await there.count(), 49)
    t.deepEqual(
      (await there.page(0, 2)).map(row => row.key),
      ['k12', 'k49']
    )
    t.is(await there.get('k11'), undefined)
    t.is(await there.get('k10'), 'edited')
    t.is(await there.offsetOf('k10'), 38)
  }
  await check(table)
  t.is(filesOf(files, 's').length, 1)
  for (let i = 0; i < 40; i += 1)
    await store.write(
      new Map<string, BulkChange | string>([
        ['t/k10', { text: 'edited', order: 10 }],
        [`u/a/${i}`, `${i}`.repeat(40)]
      ])
    )
  await store.settled()
  t.true(filesOf(files, 's').length > 1)
  await check(table)
  await store.close()
  await check((await open(files)).table)
})

test('small writes move to the disk each time that they are many', async t => {
  const files = new Map<string, string>()
  const { store, table } = await open(files)
  let [gathered, most] = [0, 0]
  let segments = filesOf(files, 's').join()
  for (let i = 0; i < 150; i += 1) {
    await store.write(rowsOf(1, i))
    await store.settled()
    const now = filesOf(files, 's').join()
    gathered = now === segments ? gathered + 1 : 0
    most = Math.max(most, gathered)
    segments = now
  }
  t.true(most < 40, `${most} rows have gathered`)
  t.is(await table.count(), 150)
  await store.close()
})

test('a row that is written during a search for its position has its old or its new position', async t => {
  const { store, table } = await open(new Map())
  await store.write(rowsOf(20))
  const found = new Set<number | undefined>()
  for (let steps = 0; steps < 30; steps += 1) {
    const place = table.offsetOf(`new${steps}`)
    for (let i = 0; i < steps; i += 1) await Promise.resolve()
    const write = store.write(new Map([[`t/new${steps}`, { text: 'new', order: -1 }]]))
    const offset = await place
    t.true(offset === undefined || offset === 20 + steps, `${offset} after ${steps} steps`)
    found.add(offset === undefined ? undefined : 20)
    await write
  }
  t.is(found.size, 2)
})

test('the count of small writes restarts when none is left to move', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  // They are no rows: the table is empty.
  for (let i = 0; i < 60; i += 1) {
    await store.write(new Map([[`u/none/${i}${'x'.repeat(30)}`, null]]))
    await store.settled()
  }
  await store.write(new Map([['t/row', 'row']]))
  await store.settled()
  t.deepEqual(filesOf(files, 's'), [])
})

test('rows of equal order stay in order of arrival, also when one is written again', async t => {
  const files = new Map<string, string>()
  const { store, table } = await open(files)
  for (const name of ['a', 'b', 'c']) await store.write(new Map([[`t/${name}`, name]]))
  await store.write(rowsOf(20).set('t/d', { text: 'd' }))
  await store.write(new Map([['t/b', 'again']]))
  await store.write(new Map([['t/e', 'e']]))
  const order = async (there: BulkTable): Promise<string> =>
    (await allOf(there, true))
      .filter(row => row.order === 0)
      .map(row => row.key)
      .join()
  t.is(await order(table), 'a,b,c,k0,d,e')
  await store.close()
  t.is(await order((await open(files)).table), 'a,b,c,k0,d,e')
})

test('reads see a large write before it is durable, and no longer once it has failed', async t => {
  const files = new Map<string, string>()
  const { store, table } = await open(files, makeFaultDisk(files, { at: 1, kind: 'full' }))
  const write = store.write(new Map<string, BulkChange | string>([...rowsOf(30), ['resident', 'new']]))
  t.is(store.get('resident'), 'new')
  t.deepEqual([...store.entries('')], [['resident', 'new']])
  t.is((await table.get('k5'))?.slice(0, 2), '5 ')
  t.true(isWalletError(await t.throwsAsync(write), 'STORAGE_FULL'))
  t.is(store.get('resident'), undefined)
  t.is(await table.get('k5'), undefined)
  t.is(await table.count(), 0)
  t.deepEqual(filesOf(files, 's'), [])
  await store.write(rowsOf(30))
  t.is(await table.count(), 30)
})

test('reads see every large write in flight, and the newest text of each key', async t => {
  const { store, table } = await open(new Map())
  const numbers = [0, 1, 2, 3]
  const writes = numbers.map(n => {
    const rows = [...rowsOf(20, n * 20), ...rowsOf(1, 500, `text ${n}`)]
    return store.write(new Map<string, BulkChange | string>([...rows, [`e${n}`, `${n}`], ['e', `${n}`]]))
  })
  const check = async (): Promise<void> => {
    for (const n of numbers) t.is(store.get(`e${n}`), `${n}`)
    t.is(store.get('e'), '3')
    t.deepEqual([...store.entries('e')].sort(), [['e', '3'], ...numbers.map(n => [`e${n}`, `${n}`])] as never)
    for (const n of numbers) t.is((await table.get(`k${n * 20}`))?.split(' ')[0], `${n * 20}`)
    t.is(await table.get('k500'), '500 text 3')
  }
  await check()
  await Promise.all(writes)
  await check()
  t.is(await table.count(), 81)
})

test('a failed small write of rows leaves the table unchanged, also for a reader that started before it', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files, { at: 2, kind: 'full' })
  const { store, table } = await open(files, disk)
  await store.write(new Map([['t/old', { text: 'old', order: 5 }]]))
  t.is(await table.count(), 1)
  const write = store.write(
    new Map([
      ['t/old', null],
      ['t/new', { text: 'new', order: 9 }]
    ])
  )
  const ended = t.throwsAsync(write)
  t.is(await table.offsetOf('new'), 0)
  t.true(isWalletError(await ended, 'STORAGE_FULL'))
  t.is(await table.count(), 1)
  t.is(await table.offsetOf('new'), undefined)
  t.is(await table.offsetOf('old'), 0)
  t.deepEqual(
    (await table.page(0, 9)).map(row => row.key),
    ['old']
  )
})

test('a small write during a large one of the same keys is the newer one', async t => {
  const files = new Map<string, string>()
  const { store, table } = await open(files)
  await store.write(
    new Map([
      ['t/k1', 'old'],
      ['resident', 'old']
    ])
  )
  const large = store.write(new Map<string, BulkChange | string>([...rowsOf(30), ['resident', 'large']]))
  const small = store.write(
    new Map([
      ['t/k1', 'old'],
      ['resident', 'old'],
      ['t/k2', null]
    ])
  )
  t.is(await table.get('k1'), 'old')
  t.is(store.get('resident'), 'old')
  await Promise.all([large, small])
  const check = async (there: Opened): Promise<void> => {
    t.is(await there.table.get('k1'), 'old')
    t.is(await there.table.get('k2'), undefined)
    t.is(there.store.get('resident'), 'old')
    t.is(await there.table.count(), 29)
  }
  await check({ store, table, reports: [], damages: () => 0 })
  await store.close()
  await check(await open(files))
})

test('a read during tidying still finds every row', async t => {
  const files = new Map<string, string>()
  const { store, table } = await open(files)
  await store.write(rowsOf(4000, 0, 'y'.repeat(100)))
  const seen: string[] = []
  for await (const batch of table.scan({ ordered: true })) {
    for (const row of batch) seen.push(row.key)
    if (seen.length < 600) await store.write(rowsOf(3000, 0, 'z'.repeat(100)))
  }
  t.is(seen.length, 4000)
  t.is(new Set(seen).size, 4000)
  t.is((await table.get('k5'))?.at(-1), 'z')
})

test('files that a reader needs stay until it ends, also when other readers end before, and are then deleted', async t => {
  const files = new Map<string, string>()
  const { store, table, reports } = await open(files)
  await store.write(rowsOf(4000, 0, 'y'.repeat(200)))
  const before = filesOf(files, 's')
  const seen: string[] = []
  for await (const batch of table.scan({ ordered: true })) {
    for (const row of batch) seen.push(row.key)
    if (seen.length > batch.length) continue
    await store.write(rowsOf(4000, 0, 'z'.repeat(200)))
    await store.write(rowsOf(1100, 9000))
    await store.settled()
    t.is((await table.get('k5'))?.at(-1), 'z')
    t.true(before.every(path => files.has(path)))
  }
  t.is(new Set(seen).size, 4000)
  t.deepEqual(reports, [])
  await store.settled()
  t.false(before.some(path => files.has(path)))
})

test('a row in memory that is written again keeps its position among equal rows unless its order changes', async t => {
  const { store, table } = await open(new Map())
  const keys = async (): Promise<string> => (await allOf(table, true)).map(({ key: name }) => name).join()
  for (const name of ['a', 'b', 'c', 'a']) await store.write(new Map([[`t/${name}`, `${name}!`]]))
  t.is(await keys(), 'a,b,c')
  await store.write(new Map([['t/b', { text: 'b', order: 1 }]]))
  t.is(await keys(), 'b,a,c')
  await store.write(new Map([['t/b', { text: 'b' }]]))
  t.is(await keys(), 'a,c,b')
})

test('many writes leave few files, and obsolete files are deleted', async t => {
  const files = new Map<string, string>()
  const { store, table } = await open(files)
  for (let round = 0; round < 120; round += 1)
    await store.write(rowsOf(40, (round % 5) * 20, `${round}`.padEnd(60)))
  await store.settled()
  t.true(filesOf(files, 'i').length <= 17, `${filesOf(files, 'i').length} parts`)
  t.true(filesOf(files, 's').length <= 30, `${filesOf(files, 's').length} segments`)
  t.is(await table.count(), 120)
  await store.write(new Map([...Array(120).keys()].map(i => [`t/k${i}`, null])))
  for (let round = 0; round < 20; round += 1)
    await store.write(new Map([...rowsOf(20)].map(([name]) => [name, null])))
  t.is(await table.count(), 0)
  await store.close()
  const again = await open(files)
  t.is(await again.table.count(), 0)
  t.deepEqual(again.reports, [])
})

test('a long addition to an index is merged at once, a short one when the store closes', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(rowsOf(3000))
  await store.write(rowsOf(20, 3000))
  await store.settled()
  t.is(filesOf(files, 'i').length, 2)
  await store.write(rowsOf(1100, 4000))
  await store.settled()
  t.is(filesOf(files, 'i').length, 1)
  await store.write(rowsOf(20, 6000))
  await store.close()
  t.is(filesOf(files, 'i').length, 1)
  const { table, reports } = await open(files)
  t.is(await table.count(), 4140)
  t.deepEqual(reports, [])
})

test('a large write that begins while a store closes is durable', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  const closing = store.close()
  await store.write(rowsOf(20))
  await closing
  const { table, reports } = await open(files)
  t.is(await table.count(), 20)
  t.deepEqual(reports, [])
})

test('a small write in flight that fills the memory while the store closes is durable, and the closing reports nothing', async t => {
  const files = new Map<string, string>()
  const { store, reports } = await open(files)
  for (let n = 0; n < 10; n += 1) await store.write(rowsOf(5, n * 5, 'x'.repeat(20)))
  const writes = Array.from({ length: 20 }, (_, n) => store.write(rowsOf(5, 100 + n * 5, 'x'.repeat(60))))
  await Promise.all([store.close(), ...writes])
  await store.settled()
  t.deepEqual(reports, [])
  const again = await open(files)
  t.is(await again.table.count(), 150)
  t.deepEqual(again.reports, [])
  await again.store.close()
})

test('the next large write deletes the files of a failed one', async t => {
  let isWritten = false
  for (let at = 1; !isWritten; at += 1) {
    const files = new Map<string, string>()
    const { store } = await open(files, makeFaultDisk(files, { at, kind: 'full' }))
    const others = [...rowsOf(20)].map(([name, change]) => [name.replace('t/', 'u/a/'), change] as const)
    isWritten = await store.write(new Map([...rowsOf(20), ...others])).then(
      () => true,
      () => false
    )
    await store.settled()
    if (isWritten) break
    await store.write(rowsOf(20))
    await store.settled()
    t.deepEqual([filesOf(files, 's').length, filesOf(files, 'i').length], [1, 1], `${at}`)
  }
})

test('no row of a table is readable on the disk, and texts with any letters read back unchanged', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  const texts = new Map(
    [...Array(40).keys()].map(i => [`t/geheim${i}`, `geheim ß – 漢字 🎉 ${'ü'.repeat(40 + i)}`])
  )
  await store.write(texts)
  t.true([...files.values()].every(text => !text.includes('geheim') && /^[\x20-\x7e\n]*$/.test(text)))
  const { table } = await open(files)
  for (const [name, text] of texts) t.is(await table.get(name.slice(2)), text)
})

test('a text with half a character fails the write that holds it, large or small, and nothing else', async t => {
  const { store, table } = await open(new Map())
  const small = store.write(new Map([['t/half', '\ud800']]))
  t.true(isWalletError(await t.throwsAsync(small), 'STORAGE_FAILED'))
  t.is(await table.count(), 0)
  await store.write(new Map([['t/whole', '\ud83c\udf89']]))
  const write = store.write(new Map<string, BulkChange | string>([...rowsOf(30), ['t/half', '\ud800']]))
  t.true(isWalletError(await t.throwsAsync(write), 'STORAGE_FAILED'))
  await store.write(rowsOf(30))
  t.is(await table.count(), 31)
})

const crashStory = async (
  { store, table }: Opened,
  acknowledged: Map<string, string | null>
): Promise<void> => {
  const write = async (changes: Map<string, BulkChange | string | null>): Promise<void> => {
    const isSaved = await store.write(changes).then(
      () => true,
      () => false
    )
    for (const [name, change] of changes) {
      const text = change === null || typeof change === 'string' ? change : change.text
      if (isSaved) acknowledged.set(name, text)
      else acknowledged.delete(name)
    }
  }
  for (let i = 0; i < 5; i += 1) {
    await write(new Map<string, BulkChange | string>([...rowsOf(12, i * 6), [`e${i}`, `${i}`]]))
    await write(
      new Map([
        [`t/k${i}`, { text: `edited ${i}`, order: 1000 + i }],
        [`t/k${i + 3}`, null]
      ])
    )
    await write(new Map(Array.from({ length: 8 }, (_, j) => [`t/s${i}.${j}`, `small ${'s'.repeat(70)}`])))
    await table.page(0, 5).catch(() => {})
  }
  await store.settled()
}

test('at every crash point of large writes, flushes and tidying, acknowledged rows stay and the next opening is clean', async t => {
  const whole = makeFaultDisk(new Map())
  await crashStory(await open(new Map(), whole), new Map())
  let fired = 0
  for (const kind of FAULT_KINDS) {
    for (let at = 1; at <= whole.writeCount; at += 1) {
      const files = new Map<string, string>()
      const disk = makeFaultDisk(files, { at, kind })
      const acknowledged = new Map<string, string | null>()
      await crashStory(await open(files, disk), acknowledged)
      fired += disk.hasFired ? 1 : 0
      const { store, table } = await open(files)
      for (const [name, text] of acknowledged) {
        const found = name.startsWith('t/') ? await table.get(name.slice(2)) : store.get(name)
        t.is(found, text ?? undefined, `${kind} at write ${at}: ${name}`)
      }
      await store.write(rowsOf(20, 500))
      await store.close()
      const second = await open(files)
      t.is((await allOf(second.table)).filter(row => /^k5[01]\d$/.test(row.key)).length, 20)
      t.deepEqual(second.reports, [], `${kind} at write ${at}: the second opening is clean`)
      const named = filesOf(files, 's').length + filesOf(files, 'i').length
      await second.store.close()
      await (await open(files)).store.close()
      t.is(filesOf(files, 's').length + filesOf(files, 'i').length, named, 'no file without a name is left')
    }
  }
  t.true(whole.writeCount > 30)
  t.is(fired, whole.writeCount * FAULT_KINDS.length)
})

const damagedWorld = async (): Promise<Map<string, string>> => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(rowsOf(2000, 0, 'w'.repeat(60)))
  await store.write(rowsOf(20, 5000))
  await store.write(
    new Map([
      ['t/k3', null],
      ['e', '1']
    ])
  )
  await store.close()
  return files
}

test('the next opening deletes the files of a write that a crash interrupted', async t => {
  const whole = makeFaultDisk(new Map())
  await (await open(new Map(), whole)).store.write(rowsOf(50))
  let left = 0
  for (let at = 1; at <= whole.writeCount; at += 1) {
    const files = new Map<string, string>()
    const { store } = await open(files, makeFaultDisk(files, { at, kind: 'lost' }))
    await t.throwsAsync(store.write(rowsOf(50)))
    left += filesOf(files, 's').length + filesOf(files, 'i').length
    const { table, reports } = await open(files)
    t.is(await table.count(), 0)
    t.deepEqual([...filesOf(files, 's'), ...filesOf(files, 'i')], [], `write ${at}`)
    t.deepEqual(reports, [])
  }
  t.true(left > 0)
})

test('a damaged block is kept and reported; its rows are lost, the others stay, and the next opening is clean', async t => {
  const files = await damagedWorld()
  const [path = ''] = filesOf(files, 's')
  const text = files.get(path) ?? ''
  const torn = `${text.slice(0, 60_000)}AAAAAAAA${text.slice(60_008)}`
  files.set(path, torn)
  const { store, table, reports, damages } = await open(files)
  const rows = await allOf(table)
  t.true(rows.length > 500 && rows.length < 1600, `${rows.length} rows`)
  t.true(rows.some(row => row.key === 'k5019'))
  t.is(reports.length, 1)
  t.true(isWalletError(reports[0], 'CORRUPT_FILE'))
  t.is(damages(), 1)
  t.true([...files].some(([name, kept]) => name.startsWith('quarantine/') && kept === torn))
  await store.close()
  const again = await open(files)
  t.is((await allOf(again.table)).length, rows.length)
  t.is(await again.table.count(), rows.length)
  t.deepEqual(again.reports, [])
})

const ruleOf = (error: unknown): string | undefined =>
  isWalletError(error, 'CORRUPT_FILE') ? error.details.rule : undefined

for (const [name, damage, rule] of [
  ['damaged', (files: Map<string, string>, path: string) => void files.set(path, 'rubbish'), /decrypt/],
  ['missing', (files: Map<string, string>, path: string) => void files.delete(path), /^it is missing$/]
] as const) {
  test(`an index part that is ${name} is rebuilt from the segments, and nothing is lost`, async t => {
    const files = await damagedWorld()
    damage(files, filesOf(files, 'i')[0] ?? '')
    const { store, table, reports } = await open(files)
    t.is((await table.get('k1999'))?.slice(0, 4), '1999')
    t.is(await table.get('k3'), undefined)
    t.is(await table.count(), 2019)
    t.is(reports.length, 1)
    t.regex(ruleOf(reports[0]) ?? '', rule)
    await store.close()
    const again = await open(files)
    t.is(await again.table.count(), 2019)
    t.deepEqual(
      (await again.table.page(0, 1)).map(row => row.key),
      ['k5019']
    )
    t.deepEqual(again.reports, [])
  })

  test(`a segment that is ${name} loses its own rows only`, async t => {
    const files = await damagedWorld()
    damage(files, filesOf(files, 's').at(-1) ?? '')
    const { store, table, reports } = await open(files)
    t.is((await allOf(table)).length, 1999)
    t.is(reports.length, 1)
    await store.close()
    const again = await open(files)
    t.is(await again.table.count(), 1999)
    t.deepEqual(again.reports, [])
  })
}

test('tables whose entries are damaged are rebuilt from their segments', async t => {
  const files = await damagedWorld()
  for (const path of [...files.keys()]) if (/\/\d{12}-\d{12}$/.test(path)) files.set(path, 'rubbish')
  const { store, table, damages } = await open(files)
  t.is(damages(), 1)
  t.is(await table.count(), 2020, 'the deletion was among the entries')
  await store.close()
  const again = await open(files)
  t.is(await again.table.count(), 2020)
  t.deepEqual(again.reports, [])
})

test('the number of a missing file is not reused, and its loss is reported once', async t => {
  for (const kind of ['s', 'i'] as const) {
    const files = new Map<string, string>()
    const { store } = await open(files)
    await store.write(rowsOf(20))
    await store.close()
    files.delete(filesOf(files, kind)[0] ?? '')
    // The newest one, whose number the next would take.
    if (kind === 's') for (const path of filesOf(files, 'i')) files.delete(path)
    const { store: again, table } = await open(files)
    t.is(await table.count(), kind === 's' ? 0 : 20)
    await again.write(rowsOf(20, 100))
    await again.close()
    const third = await open(files)
    t.is(await third.table.count(), kind === 's' ? 20 : 40)
    t.is((await third.table.get('k100'))?.slice(0, 4), '100 ')
    t.deepEqual(third.reports, [])
    await third.store.close()
  }
})

test('a store without its last entries is rebuilt from its segments', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(rowsOf(20))
  const before = new Map(files)
  await store.write(rowsOf(20, 100))
  await store.close()
  for (const path of [...files.keys()]) if (/\/\d{12}-\d{12}$/.test(path)) files.delete(path)
  for (const [path, text] of before) if (/\/\d{12}-\d{12}$/.test(path)) files.set(path, text)
  const { store: again, table, reports, damages } = await open(files)
  t.is(await table.count(), 40)
  t.is(damages(), 1)
  t.true(isWalletError(reports[0], 'CORRUPT_FILE'))
  await again.close()
  const third = await open(files)
  t.is(await third.table.count(), 40)
  t.deepEqual(third.reports, [])
})

test('a crash between the repair of the entries and the rebuild of the tables loses no row', async t => {
  const files = await damagedWorld()
  for (const path of [...files.keys()]) if (/\/\d{12}-\d{12}$/.test(path)) files.set(path, 'rubbish')
  for (let crash = 0; crash < 3; crash += 1) {
    const disk = makeFaultDisk(files)
    await open(files, disk)
    disk.cutPower()
  }
  const { store, table, damages } = await open(files)
  t.is(await table.count(), 2020)
  t.is(damages(), 1)
  await store.close()
  const again = await open(files)
  t.is(await again.table.count(), 2020)
  t.is(again.damages(), 0, 'in order again')
  await again.store.close()

  for (const path of [...files.keys()]) if (/\/\d{12}-\d{12}$/.test(path)) files.set(path, 'rubbish')
  await open(files, makeFaultDisk(files)).then(second => second.store.close())
  t.is(await (await open(files)).table.count(), 2020, 'the second loss is one, too')
})

test('damaged entries and files of an unknown table do not prevent a store from opening', async t => {
  const files = await damagedWorld()
  for (const path of [...files.keys()]) if (/\/\d{12}-\d{12}$/.test(path)) files.set(path, 'rubbish')
  const disk = makeFaultDisk(files)
  const place = { io, disk, folder, key, bulk: parseBulkPrefixes(['other/']), limits, report: () => {} }
  const store = await openPagedStore(place, await disk.list(folder))
  await store.write(new Map([['other/1', 'row']]))
  t.is(await store.table('other/').count(), 1)
  await store.close()
})

test('random writes, deletions and reopenings agree with a plain list', async t => {
  const change = fc.tuple(fc.integer({ min: 0, max: 40 }), fc.option(fc.integer({ min: 0, max: 5 })))
  const step = fc.oneof(
    fc.array(change, { minLength: 1, maxLength: 3 }),
    fc.array(change, { minLength: 12, maxLength: 30 }),
    fc.constant('reopen' as const)
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      const files = new Map<string, string>()
      let model: BulkRow[] = []
      let opened = await open(files)
      let count = 0
      for (const one of steps) {
        if (one === 'reopen') {
          await opened.store.close()
          opened = await open(files)
          continue
        }
        const changes = new Map<string, BulkChange | null>()
        for (const [name, rank] of one) {
          // Ties are another test's: a row that leaves its order and comes back may stand before or behind its equals.
          const order = rank === null ? null : rank * 100 + name
          count += 1
          const text = `${count} ${'t'.repeat(50)}`
          changes.set(`t/k${name}`, order === null ? null : { text, order, mark: count })
        }
        model = applied(model, changes)
        await opened.store.write(changes)
        t.deepEqual(await opened.table.page(3, 7), model.slice(3, 10))
      }
      await opened.store.settled()
      const { table, reports } = opened
      t.deepEqual(await allOf(table, true), model)
      t.deepEqual((await allOf(table)).sort(byMark), [...model].sort(byMark))
      for (const [offset, row] of model.entries()) {
        t.is(await table.offsetOf(row.key), offset)
        t.is(await table.get(row.key), row.text)
      }
      t.deepEqual(reports, [])
      await opened.store.close()
    }),
    { numRuns: 60 }
  )
})

const byMark = (left: BulkRow, right: BulkRow): number => left.mark - right.mark

const applied = (rows: readonly BulkRow[], changes: ReadonlyMap<string, BulkChange | null>): BulkRow[] => {
  let next = [...rows]
  for (const [name, change] of changes) {
    const at = next.findIndex(row => row.key === name.slice(2))
    if (change === null) next = next.filter((_, i) => i !== at)
    else {
      const { text, order = 0, mark = 0 } = change
      const row = { key: name.slice(2), text, order, mark }
      if (next[at]?.order === order) next[at] = row
      else next = [...next.filter((_, i) => i !== at), row]
    }
  }
  return next.sort((left, right) => right.order - left.order)
}
