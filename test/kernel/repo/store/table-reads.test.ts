import test from 'ava'
import { isWalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import {
  type BulkChange,
  type BulkRow,
  type BulkTable,
  storeBelow
} from '../../../../kernel/repo/store/bulk.ts'
import { parseBulkPrefixes } from '../../../../kernel/repo/store/bulk-prefixes.ts'
import { openPagedStore } from '../../../../kernel/repo/store/open-paged-store.ts'
import type { PagedStore } from '../../../../kernel/repo/store/paged-store.ts'
import { type FaultDisk, makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

const io = makeRepoIo()
const folder = 'repos/r/store'
const bulk = parseBulkPrefixes(['t/', 'u/+/'])
/** Small enough that a few rows make a large write. */
const limits = { large: 600, gathered: 100_000 }

interface Opened {
  readonly store: PagedStore
  readonly table: BulkTable
  readonly reports: unknown[]
}

const open = async (files: Map<string, string>, disk: FaultDisk = makeFaultDisk(files)): Promise<Opened> => {
  const reports: unknown[] = []
  const report = (error: unknown): void => void reports.push(error)
  const key = new Secret(new Uint8Array(32).fill(7))
  const store = await openPagedStore({ io, disk, folder, key, bulk, limits, report }, await disk.list(folder))
  return { store, table: store.table('t/'), reports }
}

const filesOf = (files: Map<string, string>, kind: 's' | 'i'): string[] =>
  [...files.keys()].filter(path => path.startsWith(`${folder}/${kind}`)).sort()

/** Rows k0, k1 … with these orders, large enough for files of their own. */
const rowsAt = (orders: readonly number[], from = 0): Map<string, BulkChange> =>
  new Map(
    orders.map((order, n) => [
      `t/k${from + n}`,
      { text: `${from + n} ${'x'.repeat(80)}`, order, mark: (order % 3) + 1 }
    ])
  )

const keysOf = (rows: readonly BulkRow[]): string[] => rows.map(({ key }) => key)

const scanned = async (table: BulkTable, ordered: boolean): Promise<string[]> => {
  const keys: string[] = []
  for await (const rows of table.scan({ ordered })) keys.push(...keysOf(rows))
  return keys
}

test('a table without rows has none, whatever is asked of it', async t => {
  const { table } = await open(new Map())
  t.is(await table.count(), 0)
  t.deepEqual(await table.page(0, 10), [])
  t.deepEqual(await scanned(table, true), [])
  t.is(await table.offsetAt(0), 0)
  t.is(await table.offsetOf('k0'), undefined)
  t.deepEqual(await table.keysWhere(() => true), [])
})

test('a scan in order, a page and a search by mark go over rows of the disk and of memory alike', async t => {
  const files = new Map<string, string>()
  const { store, table } = await open(files)
  await store.write(rowsAt([1, 9, 5, 7, 3, 11, 13, 15]))
  await store.write(rowsAt([2, 8, 4, 6, 10, 12, 14, 16], 8))
  await store.write(new Map([['t/small', { text: 'in memory', order: 8.5, mark: 3 }]]))
  t.true(filesOf(files, 's').length > 1)
  const inOrder = 'k15 k7 k14 k6 k13 k5 k12 k1 small k9 k3 k11 k2 k10 k4 k8 k0'.split(' ')
  t.deepEqual(await scanned(table, true), inOrder)
  t.deepEqual(keysOf(await table.page(0, 99)), inOrder)
  t.deepEqual((await scanned(table, false)).sort(), [...inOrder].sort())
  for (const [offset, key] of inOrder.entries()) t.is(await table.offsetOf(key), offset, key)
  t.is(await table.offsetAt(8.5), 8)
  t.is(await table.offsetAt(17), 0)
  t.is(await table.offsetAt(0), inOrder.length)
  t.is(await table.offsetOf('none'), undefined)
  t.deepEqual(await table.keysWhere((mark, order) => mark === 1 && order > 14), ['k7'])
  const marked = await table.keysWhere(mark => mark === 3)
  t.deepEqual(marked, ['k14', 'k5', 'small', 'k9', 'k2', 'k8'])
  t.deepEqual(await table.keysWhere((_, order) => order < 3), ['k8', 'k0'])
  await store.write(new Map([['t/k7', null]]))
  t.is(await table.offsetOf('k7'), undefined)
  t.is(await table.offsetOf('k15'), 0)
  await store.close()
})

test('a row that is written without order and mark has neither, in memory and on the disk', async t => {
  const { store, table } = await open(new Map())
  const look = async (): Promise<unknown> =>
    (await table.page(0, 9)).map(({ key, order, mark }) => [key, order, mark])
  await store.write(
    new Map<string, string | BulkChange>([
      ['t/a', 'text'],
      ['t/b', { text: 'text' }]
    ])
  )
  const expected = [
    ['a', 0, 0],
    ['b', 0, 0]
  ]
  t.deepEqual(await look(), expected)
  const long = 'x'.repeat(400)
  await store.write(
    new Map<string, string | BulkChange>([
      ['t/c', long],
      ['t/d', { text: long }]
    ])
  )
  t.deepEqual(await look(), [...expected, ['c', 0, 0], ['d', 0, 0]])
  t.is((await table.keysWhere((mark, order) => mark === 0 && order === 0)).length, 4)
})

test('the first row of a table keeps its place among its equals when it is written again', async t => {
  const { store, table } = await open(new Map())
  await store.write(rowsAt([5, 5, 5, 5, 5, 5, 5, 5]))
  const before = keysOf(await table.page(0, 9))
  await store.write(rowsAt([5, 5, 5, 5, 5, 5, 5, 5]))
  t.deepEqual(keysOf(await table.page(0, 9)), before)
  await store.write(new Map([['t/k0', { text: 'small', order: 5 }]]))
  t.deepEqual(keysOf(await table.page(0, 9)), before)
  for (const [offset, key] of before.entries()) t.is(await table.offsetOf(key), offset)
})

test('a deletion among the entries hides its row, whatever the lengths of its key and its table are', async t => {
  for (const key of ['k', 'ke', 'key']) {
    const files = new Map<string, string>()
    const first = (await open(files)).store
    await first.write(
      new Map([...rowsAt([1, 2, 3, 4, 5, 6, 7, 8], 10), [`t/${key}`, { text: 'old', order: 9 }]])
    )
    await first.close()
    const { store, table } = await open(files)
    await store.write(new Map([[`t/${key}`, null]]))
    t.is(await table.get(key), undefined)
    t.is(await table.count(), 8)
  }
})

test('a row among the entries is found, whatever the lengths of its text, its key and its table are', async t => {
  for (const [key, text] of [
    ['key', 'x'],
    ['k', 'xyz'],
    ['ke', ''],
    ['keys', 'xx']
  ] as const) {
    const { store, table } = await open(new Map())
    await store.write(new Map([[`t/${key}`, { text, order: 1 }]]))
    t.is(await table.get(key), text)
  }
})

test('a row that was deleted and comes back stands behind its equals, also once it is on the disk', async t => {
  const { store, table } = await open(new Map())
  for (const key of ['a', 'b']) await store.write(new Map([[`t/${key}`, { text: key, order: 5 }]]))
  await store.write(new Map([['t/a', null]]))
  await store.write(new Map([['t/a', { text: 'again', order: 5 }]]))
  t.deepEqual(keysOf(await table.page(0, 9)), ['b', 'a'])
  await store.write(rowsAt([1, 1, 1, 1, 1, 1, 1, 1]))
  t.deepEqual(keysOf(await table.page(0, 2)), ['b', 'a'])
})

test('an index that is made anew brings no deleted row back, and finds no fault with sound files', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(rowsAt([1, 2, 3, 4, 5, 6, 7, 8]))
  await store.write(new Map([...rowsAt([11, 12, 13, 14, 15, 16, 17, 18], 10), ['t/k3', null]]))
  await store.settled()
  // The index of the first rows alone; what was deleted stands in that of the second.
  files.set(filesOf(files, 'i')[0] ?? '', 'rubbish')
  const again = await open(new Map(files))
  t.is(await again.table.count(), 15)
  t.false(await again.table.has('k3'))
  t.true(await again.table.has('k4'))
  t.is(again.reports.length, 1)
  // Rows of a segment that is damaged as well are gone, and the others stay.
  files.set(filesOf(files, 's')[0] ?? '', 'rubbish')
  const third = await open(files)
  t.is(await third.table.count(), 8)
  t.is(third.reports.length, 2)
  await third.store.close()
})

test('files that a scan goes through stay until it ends, and then go', async t => {
  const files = new Map<string, string>()
  const { store, table } = await open(files)
  await store.write(rowsAt([1, 2, 3, 4, 5, 6, 7, 8]))
  const [old] = filesOf(files, 's')
  const scan = table.scan()[Symbol.asyncIterator]()
  await scan.next()
  // So many parts of an index are put in order, and segments without living rows go with that.
  for (let time = 0; time < 20; time += 1) await store.write(rowsAt([1, 2, 3, 4, 5, 6, 7, 8]))
  await store.settled()
  t.truthy(await table.get('k1'))
  t.true(files.has(old ?? ''))
  while ((await scan.next()).done !== true);
  await store.settled()
  t.false(files.has(old ?? ''))
})

test('a write after the end of a store is refused, and writes nothing', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const { store } = await open(files, disk)
  await store.write(rowsAt([1]))
  await store.close()
  const before = disk.writeCount
  for (const changes of [rowsAt([1]), rowsAt([1, 2, 3, 4, 5, 6, 7, 8]), new Map()])
    t.true(isWalletError(await t.throwsAsync(store.write(changes)), 'STORAGE_FAILED'))
  t.is(disk.writeCount, before)
})

test('a row of more than a megabyte in UTF-8 is read back as it was', async t => {
  const files = new Map<string, string>()
  const text = '€'.repeat(400_000)
  const { store } = await open(files)
  await store.write(new Map([['t/long', { text }]]))
  await store.close()
  t.is(await (await open(files)).table.get('long'), text)
})

test('a part of a store has its own entries under their own keys', async t => {
  const { store } = await open(new Map())
  const part = storeBelow(store, 'part/')
  await part.write(new Map([['a/1', 'one']]))
  await store.write(new Map([['other', 'two']]))
  t.deepEqual([...part.entries('a/')], [['a/1', 'one']])
  t.deepEqual([...part.entries('')], [['a/1', 'one']])
})

test('only what begins with the whole root of a family is a row of its tables', t => {
  const { roots, tableOf } = parseBulkPrefixes(['w/t/+/'])
  t.deepEqual(roots, ['w/t/'])
  t.is(tableOf('w/t/a/key'), 'w/t/a/')
  t.is(tableOf('w/x/a/key'), undefined)
})

test('what a disk cannot read now is no damage: the read fails, and a later one finds it', async t => {
  const files = new Map<string, string>()
  const first = await open(files)
  await first.store.write(rowsAt([1, 2, 3, 4, 5, 6, 7, 8]))
  await first.store.close()
  const disk = makeFaultDisk(files)
  let isBroken = true
  const getText = (path: string): Promise<string | undefined> =>
    isBroken && /\/[si]\d{12}$/.test(path) ? Promise.reject(new Error('EIO')) : disk.getText(path)
  const { store, table, reports } = await open(files, { ...disk, getText })
  await t.throwsAsync(table.get('k3'), { message: 'EIO' })
  await t.throwsAsync(table.count(), { message: 'EIO' })
  isBroken = false
  t.is((await table.get('k3'))?.slice(0, 2), '3 ')
  t.is(await table.count(), 8)
  t.deepEqual(reports, [])
  await store.close()
})

test('tables without their entries keep what their index says of deleted rows', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(rowsAt([1, 2, 3, 4, 5, 6, 7, 8]))
  await store.write(new Map([...rowsAt([11, 12, 13, 14, 15, 16, 17, 18], 10), ['t/k3', null]]))
  await store.settled()
  for (const path of files.keys()) if (/\/\d{12}-\d{12}$/.test(path)) files.set(path, 'rubbish')
  const again = await open(files)
  t.is(await again.table.count(), 15)
  t.false(await again.table.has('k3'))
  await again.store.close()
})

test('a table of which every row is deleted is empty again, also after it was put in order', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  const rows = rowsAt([1, 2, 3, 4, 5, 6, 7, 8])
  await store.write(rows)
  await store.write(new Map([...rows.keys()].map(key => [key, null])))
  await store.close()
  for (let time = 0; time < 2; time += 1) {
    const again = await open(files)
    t.is(await again.table.count(), 0)
    t.deepEqual(await scanned(again.table, false), [])
    t.deepEqual(again.reports, [])
    await again.store.close()
  }
})

test('the last row of a table stays when all others are deleted and the table is put in order', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  // Keys so long that the deletions are a large write as well.
  const keyOf = (n: number): string => `${'k'.repeat(100)}${n}`
  const numbers = [0, 1, 2, 3, 4, 5, 6, 7]
  await store.write(new Map(numbers.map(n => [`t/${keyOf(n)}`, { text: `${n}`, order: n }])))
  await store.write(new Map(numbers.slice(1).map(n => [`t/${keyOf(n)}`, null])))
  await store.close()
  const again = await open(files)
  t.deepEqual(await scanned(again.table, true), [keyOf(0)])
  t.is(await again.table.get(keyOf(0)), '0')
})

test('a segment that is missing is told once as missing, and one that is damaged is kept once', async t => {
  for (const [text, rule] of [
    [undefined, /missing/],
    ['rubbish', /decrypt/]
  ] as const) {
    const files = new Map<string, string>()
    const first = await open(files)
    await first.store.write(rowsAt([1, 2, 3, 4, 5, 6, 7, 8]))
    await first.store.close()
    const [path = ''] = filesOf(files, 's')
    if (text === undefined) files.delete(path)
    else files.set(path, text)
    const { table, reports } = await open(files)
    t.is(await table.get('k1'), undefined)
    t.is(await table.get('k2'), undefined)
    const rules = reports.map(error => (isWalletError(error, 'CORRUPT_FILE') ? error.details.rule : error))
    t.is(rules.length, 1)
    t.regex(String(rules[0]), rule)
    const kept = [...files.keys()].filter(name => name.startsWith('quarantine/'))
    t.is(kept.length, text === undefined ? 0 : 1)
  }
})

test('an entry beside the tables of a family stays an entry when their rows move to the disk', async t => {
  const { store } = await open(new Map())
  await store.write(new Map([['u/entry', 'text']]))
  await store.write(new Map([['u/a/small', { text: 'small', order: 1 }]]))
  const large = new Map(
    [...rowsAt([1, 2, 3, 4, 5, 6, 7, 8])].map(([key, row]) => [key.replace('t/', 'u/a/'), row])
  )
  await store.write(large)
  t.is(store.get('u/entry'), 'text')
  t.is(await store.table('u/a/').count(), 9)
  t.is(await store.table('u/a/').get('small'), 'small')
})
