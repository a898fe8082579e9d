import test from 'ava'
import fc from 'fast-check'
import { isWalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import type { Store } from '../../../../kernel/io/store.ts'
import { parseBlockKey, sealBody } from '../../../../kernel/repo/store/block.ts'
import {
  type BulkChange,
  type BulkRow,
  type BulkTable,
  parseBulkPrefixes,
  type SearchedRow,
  storeBelow
} from '../../../../kernel/repo/store/bulk.ts'
import { textOfKey } from '../../../../kernel/store/sorted-map.ts'
import { valuesIn } from '../../../helpers/damaged-log.ts'
import { passWalletError } from '../../../helpers/drawn-runs.ts'
import { FAULT_KINDS, makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { blockKeys, makePluginStore, openOn } from '../../../helpers/plugin-store.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'
import {
  allOf,
  keysOf,
  type OpenedStore,
  openTestStore as open,
  rowsAt,
  rowsOf
} from '../../../helpers/sealed-store.ts'

const scanned = async (table: BulkTable, ordered: boolean): Promise<string[]> =>
  keysOf(await allOf(table, ordered))

test('the rows of a write are each found by key or order, also after a reopening', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(rowsOf(100))
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
  await store.write(rowsOf(30))
  t.is(await table.count(), 30)
})

test('reads see every large write in flight, and the newest text of each key', async t => {
  const { store, table } = await open(new Map())
  await store.write(rowsOf(1, 500, 'older'))
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

test('while a write is on its way, what it writes is there and what it deletes is not, and a listing has no rows or other prefixes', async t => {
  const { store, table } = await open(new Map())
  await store.write(
    new Map([
      ['e/kept', '1'],
      ['e/gone', '2'],
      ['f/old', '3'],
      ['t/gone', 'row']
    ])
  )
  const write = store.write(
    new Map<string, BulkChange | string | null>([
      ...rowsOf(2),
      ['e/new', '4'],
      ['e/gone', null],
      ['f/new', '5'],
      ['t/gone', null]
    ])
  )
  const check = (): void => {
    t.deepEqual([...store.entries('e/')].sort(), [
      ['e/kept', '1'],
      ['e/new', '4']
    ])
    t.deepEqual([...store.entries('t/')], [])
    t.is(store.get('t/k1'), undefined, 'a row is no entry')
    t.is(store.get('e/gone'), undefined)
  }
  check()
  t.true(await table.has('k1'))
  t.false(await table.has('gone'))
  await write
  check()
  t.false(await table.has('gone'))
})

test('an entry with half a character, or with a zero letter before it, reads back as it was', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  const entries = new Map([
    ['e/half', 'a\ud800'],
    ['e/\udc00', 'its key is half'],
    ['e/zero', '\u0000'],
    ['e/spelt', '\u0000"text"'],
    ['\u0000e', 'begins with zero'],
    ['e/number', '\u00005'],
    ['e/whole', '\ud83c\udf89']
  ])
  await store.write(entries)
  for (const [key, text] of entries) t.is(store.get(key), text)
  await store.close()
  const again = await open(files)
  t.deepEqual([...again.store.entries('')].sort(), [...entries].sort())
  await again.store.write(new Map([...entries.keys()].map(key => [key, null])))
  t.deepEqual([...again.store.entries('')], [])
  t.deepEqual(again.reports, [])
})

test('a page has the places that there are of those that are wanted', async t => {
  const { store, table } = await open(new Map())
  await store.write(rowsOf(3))
  for (const [offset, limit, keys] of [
    [-2, 3, 'k2'],
    [0, 0, ''],
    [1, 9, 'k1,k0'],
    [3, 1, ''],
    [-5, 2, '']
  ] as const)
    t.is(keysOf(await table.page(offset, limit)).join(), keys, `${offset} ${limit}`)
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
  t.is(await table.get('new'), 'new')
  t.is(await table.offsetOf('new'), undefined, 'it waits for the end of the write')
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
  const check = async (there: Pick<OpenedStore, 'store' | 'table'>): Promise<void> => {
    t.is(await there.table.get('k1'), 'old')
    t.is(await there.table.get('k2'), undefined)
    t.is(there.store.get('resident'), 'old')
    t.is(await there.table.count(), 29)
  }
  await check({ store, table })
  await store.close()
  await check(await open(files))
})

test('a scan finds every row that writes move meanwhile', async t => {
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

test('a table without rows has none, whatever is asked of it', async t => {
  const { table } = await open(new Map())
  t.is(await table.count(), 0)
  t.deepEqual(await table.page(0, 10), [])
  t.deepEqual(await scanned(table, true), [])
  t.is(await table.offsetAt(0), 0)
  t.is(await table.offsetOf('k0'), undefined)
  t.deepEqual(await table.keysWhere(() => true), [])
})

test('a scan in order, a page and a search by mark go over rows of all blocks alike', async t => {
  const files = new Map<string, string>()
  const { store, table } = await open(files)
  await store.write(rowsAt([1, 9, 5, 7, 3, 11, 13, 15]))
  await store.write(rowsAt([2, 8, 4, 6, 10, 12, 14, 16], 8))
  await store.write(new Map([['t/small', { text: 'in memory', order: 8.5, mark: 3 }]]))
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

test('a row that is written without order and mark has neither', async t => {
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

test('a row that was deleted and comes back stands behind its equals', async t => {
  const { store, table } = await open(new Map())
  for (const key of ['a', 'b']) await store.write(new Map([[`t/${key}`, { text: key, order: 5 }]]))
  await store.write(new Map([['t/a', null]]))
  await store.write(new Map([['t/a', { text: 'again', order: 5 }]]))
  t.deepEqual(keysOf(await table.page(0, 9)), ['b', 'a'])
  await store.write(rowsAt([1, 1, 1, 1, 1, 1, 1, 1]))
  t.deepEqual(keysOf(await table.page(0, 2)), ['b', 'a'])
})

test('a row that leaves its order and comes back at once stands behind its equals', async t => {
  for (const between of [{ text: 'away', order: 9 }, null]) {
    const { store, table } = await open(new Map())
    for (const key of ['a', 'b']) await store.write(new Map([[`t/${key}`, { text: key, order: 5 }]]))
    const back = { text: 'again', order: 5 }
    await Promise.all([between, back].map(change => store.write(new Map([['t/a', change]]))))
    t.deepEqual(keysOf(await table.page(0, 9)), ['b', 'a'])
  }
})

test('each row is found by who reads it while it moves into another block', async t => {
  const keys = Array.from({ length: 11 }, (_, i) => `k${i}`)
  const textOf = (key: string): string => key.padEnd(5000, '.')
  for (const moving of keys) {
    const files = new Map<string, string>()
    const first = await open(files)
    await first.store.write(new Map(keys.map(key => [`t/${key}`, textOf(key)])))
    await first.store.close()
    let release = (): void => {}
    const gate = new Promise<void>(resolve => {
      release = resolve
    })
    const disk = makeFaultDisk(files)
    let holds = 0
    let isHeld = false
    const getSlice = async (path: string, start: number, end: number): Promise<string | undefined> => {
      if (holds > 0) {
        holds -= 1
        isHeld = true
        await gate
      }
      return (await disk.getText(path))?.slice(start, end)
    }
    const { store, table } = await open(files, { ...disk, getSlice })
    t.is(await table.count(), keys.length)
    holds = 1
    const wanted = [...keys.filter(key => key !== moving), moving]
    const reading = table.getMany(wanted)
    while (!isHeld) await new Promise(resolve => setImmediate(resolve))
    await store.write(new Map([[`t/${moving}`, textOf(`new ${moving}`)]]))
    release()
    const found = (await reading).map(text => text?.replace(/\.+$/, ''))
    t.deepEqual(found, [...wanted.slice(0, -1), `new ${moving}`])
    await store.close()
  }
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
  const { tableOf } = parseBulkPrefixes(['w/t/+/'])
  t.is(tableOf('w/t/a/key'), 'w/t/a/')
  t.is(tableOf('w/x/a/key'), undefined)
})

test('what a disk cannot read now is no damage: the read fails, and a later one finds it', async t => {
  const files = new Map<string, string>()
  const first = await open(files)
  await first.store.write(rowsAt([1, 2, 3, 4, 5, 6, 7, 8]))
  // What is small is read as a whole when the store is opened.
  await first.store.write(rowsOf(600, 100))
  await first.store.close()
  const disk = makeFaultDisk(files)
  let isBroken = false
  const getSlice = async (path: string, start: number, end: number): Promise<string | undefined> => {
    if (isBroken) throw new Error('EIO')
    return (await disk.getText(path))?.slice(start, end)
  }
  const { store, table, reports } = await open(files, { ...disk, getSlice })
  isBroken = true
  await t.throwsAsync(table.get('k3'), { message: 'EIO' })
  await t.throwsAsync(table.count(), { message: 'EIO' })
  isBroken = false
  t.is((await table.get('k3'))?.slice(0, 2), '3 ')
  t.is(await table.count(), 608)
  t.deepEqual(reports, [])
  await store.close()
})

test('a table of which every row is deleted is empty again', async t => {
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

test('a block goes with the last of its rows, also where they are replaced one by one', async t => {
  const plugin = makePluginStore()
  const store = await openOn(plugin)
  const rows = rowsOf(8)
  await store.write(rows)
  t.true((await blockKeys(plugin)).bodies.length > 0)
  for (const [key, row] of rows) await store.write(new Map([[key, { ...row, text: `again ${key}` }]]))
  const { heads, bodies } = await blockKeys(plugin)
  t.is(heads.length, bodies.length)
  t.true(bodies.length < rows.size, `${bodies.length} blocks for ${rows.size} rows`)
  for (const key of rows.keys()) await store.write(new Map([[key, null]]))
  const left = await blockKeys(plugin)
  t.deepEqual([left.heads.length, left.bodies.length, left.searches.length], [0, 0, 0])
  await store.close()
})

test('an entry beside the tables of a family is no row of theirs', async t => {
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

test('each name of a family is its own table, also after a reopening', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(
    new Map([
      ['t/1', { text: 'main', order: 1 }],
      ['u/a/1', { text: 'of a', order: 1 }],
      ['u/a/2', { text: 'of a too', order: 2 }],
      ['u/b/1', { text: 'of b', order: 1 }]
    ])
  )
  await store.close()

  const again = (await open(files)).store
  t.deepEqual(
    await Promise.all(['t/', 'u/a/', 'u/b/', 'u/c/'].map(prefix => again.table(prefix).count())),
    [1, 2, 1, 0]
  )
  t.deepEqual(
    (await again.table('u/a/').page(0, 9)).map(row => row.text),
    ['of a too', 'of a']
  )
  await again.write(new Map([['u/a/2', null]]))
  t.is(await again.table('u/a/').count(), 1)
  for (const prefix of ['u/', 'u/a', 'x/'])
    t.throws(() => again.table(prefix), { instanceOf: TypeError }, prefix)
  await again.close()
})

test('a store that is closed ends the writes that have begun, and keeps them', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  const writes = [store.write(rowsOf(30)), store.write(new Map([['entry', 'text']]))]
  await store.close()
  await Promise.all(writes)
  const again = await open(files)
  t.is(await again.table.count(), 30)
  t.is(again.store.get('entry'), 'text')
})

test('all that is in a store is read again if a table has come meanwhile', async t => {
  const files = new Map<string, string>()
  const first = await open(files)
  const rows = rowsOf(200)
  await first.store.write(new Map([...rows].map(([key, row]) => [key.replace('t/', 'u/a/'), row])))
  await first.store.close()
  let release = (): void => {}
  let isHeld = false
  let reads = 0
  const gate = new Promise<void>(resolve => {
    release = resolve
  })
  const disk = makeFaultDisk(files)
  const getSlice = async (path: string, start: number, end: number): Promise<string | undefined> => {
    if (isHeld) {
      reads += 1
      await gate
    }
    return (await disk.getText(path))?.slice(start, end)
  }
  const { store } = await open(files, { ...disk, getSlice })
  isHeld = true
  const reading = store.contents()
  while (reads === 0) await new Promise(resolve => setImmediate(resolve))
  const writing = store.write(new Map([['u/b/1', { text: 'of b', order: 1 }]]))
  release()
  await writing
  const keys = (await reading).map(([name]) => name)
  t.is(keys.filter(name => name.startsWith('u/a/')).length, 200)
  t.true(keys.includes('u/b/1'))
  t.is(new Set(keys).size, keys.length)
})

test('writes of few entries leave few blocks, and rewrite each byte only a few times', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  let written = 0
  const disk = makeFaultDisk(new Map())
  const other = await open(new Map(), {
    ...disk,
    async setText(path, text) {
      if (/(\d{12})-\1$/.test(path)) written += text.length
      await disk.setText(path, text)
    }
  })
  for (let i = 0; i < 300; i += 1) {
    const changes = new Map([[`e/${i}`, `${i}`.padEnd(100)]])
    await store.write(changes)
    await other.store.write(changes)
  }
  await store.close()
  // The log and its base64 take as much again.
  t.true(written < 300 * 100 * 12, String(written))
  const bodies = new Set(valuesIn(files).map(({ key }) => key))
  t.true(bodies.size < 40, String(bodies.size))
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

const crashStory = async (
  { store, table }: OpenedStore,
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
    await table.page(0, 5).catch(passWalletError)
  }
  await store.close().catch(passWalletError)
}

test('at every crash point of writes of many rows and of few, acknowledged rows stay and the next opening is clean', async t => {
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
      await second.store.close()
    }
  }
  t.true(whole.writeCount > 30)
  t.is(fired, whole.writeCount * FAULT_KINDS.length)
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

test('the search texts of rows are read without the rows, also beside rows that have none or an older one, through writes, moves and a reopening', async t => {
  const seed = Number(process.env.HOLDFAST_SEED ?? Date.now() % 2 ** 31)
  t.log(`seed ${seed}`)
  const step = fc.record({
    keys: fc.array(fc.nat({ max: 40 }), { maxLength: 30 }),
    kind: fc.constantFrom('write', 'write', 'write', 'delete', 'without', 'older', 'reopen')
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async steps => {
      const plugin = makePluginStore()
      let store = await openOn(plugin)
      const model = new Map<string, { readonly text: string; readonly search?: string }>()
      for (const [n, { keys, kind }] of steps.entries()) {
        if (kind === 'reopen') {
          await store.close()
          store = await openOn(plugin)
        }
        const changes = new Map<string, BulkChange | null>()
        for (const key of kind === 'reopen' ? [] : keys) {
          const row = { text: `row ${key} ${n} ${'x'.repeat(50)}`, order: key % 5 }
          const form = kind === 'older' ? 'seek' : 'find'
          const change = kind === 'without' ? row : { ...row, search: `${form} ${key} ${n}` }
          changes.set(`t/k${key}`, kind === 'delete' ? null : change)
          if (kind === 'delete') model.delete(`k${key}`)
          else model.set(`k${key}`, change)
        }
        await store.write(changes)
      }
      const found = new Map<string, SearchedRow>()
      for await (const rows of store.table('t/').scanSearchTexts('find '))
        for (const row of rows) found.set(row.key, row)
      t.deepEqual([...found.keys()].sort(), [...model.keys()].sort())
      for (const [key, { text, search = '' }] of model) {
        const row = found.get(key)
        const isOfForm = search.startsWith('find ')
        t.is(row?.search, isOfForm ? search.slice(5) : undefined)
        if (row?.search === undefined) t.is(row?.text, text)
      }
      // Nothing is left of blocks that are gone.
      const { heads, bodies, searches } = await blockKeys(plugin)
      t.is(bodies.length, heads.length)
      t.true(searches.length <= heads.length)
      await store.close()
    }),
    { numRuns: 150, seed }
  )
})

test('a search reads no body of a block, and the rows themselves where the texts are damaged or missing', async t => {
  const plugin = makePluginStore()
  const first = await openOn(plugin)
  const rows = [...rowsOf(40)].map(([key, row], i): [string, BulkChange] => [
    key,
    { ...row, search: `find ${i}` }
  ])
  await first.write(new Map(rows))
  await first.close()
  const read: string[] = []
  let searchReads = 0
  const noting: Store = {
    ...plugin,
    getMany(keys) {
      if (keys.some(key => key[8] === 2)) searchReads += 1
      for (const key of keys) read.push(['head', 'body', 'search'][key[8] ?? 3] ?? 'other')
      return plugin.getMany(keys)
    }
  }
  const searchesOf = async (): Promise<Map<string, string | undefined>> => {
    const store = await openOn(noting)
    read.length = 0
    const found = new Map<string, string | undefined>()
    for await (const some of store.table('t/').scanSearchTexts('find '))
      for (const { key, search } of some) found.set(key, search)
    await store.close()
    return found
  }
  t.is((await searchesOf()).get('k7'), '7')
  t.false(read.includes('body'))
  const { searches } = await blockKeys(plugin)
  t.is(read.filter(part => part === 'search').length, searches.length)
  // Of eight blocks at once.
  t.true(searches.length > 3)
  t.is(searchReads, Math.ceil(searches.length / 8))
  const [lost, damaged, short] = searches.map(key => textOfKey(key))
  plugin.values.delete(lost ?? '')
  plugin.values.set(damaged ?? '', new Uint8Array(50))
  const block = parseBlockKey(searches[2] ?? Uint8Array.of())?.block ?? 0
  const sealing = { io: makeRepoIo(), key: new Secret(new Uint8Array(32).fill(7)) }
  const one = sealBody(sealing, { table: 't/', block, part: 'search' }, [['k0', 'find 0']])
  plugin.values.set(short ?? '', one)
  const found = await searchesOf()
  t.is(found.size, 40)
  t.is(read.filter(part => part === 'body').length, 3)
  t.true([...found.values()].includes(undefined))
  t.true([...found.values()].includes('0'))
})

test('the search texts of rows that writes move meanwhile are those of the same rows', async t => {
  for (const changed of [[0, 9, 18, 27, 36], [...Array(40).keys()]]) {
    const store = await openOn(makePluginStore())
    const rowAt = (i: number, text: string): [string, BulkChange] => [
      `t/k${i}`,
      { text: `${text} ${'x'.repeat(60)}`, search: `find ${i}`, order: i }
    ]
    await store.write(new Map(Array.from({ length: 40 }, (_, i) => rowAt(i, 'old'))))
    const found = new Map<string, string | undefined>()
    let isFirst = true
    for await (const rows of store.table('t/').scanSearchTexts('find ')) {
      for (const { key, search } of rows) found.set(key, search)
      if (isFirst) await store.write(new Map(changed.map(i => rowAt(i, 'new'))))
      isFirst = false
    }
    t.is(found.size, 40)
    for (const [key, search] of found) t.true(search === undefined || search === key.slice(1), key)
  }
})
