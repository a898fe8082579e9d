import { readFileSync } from 'node:fs'
import test from 'ava'
import { mapStore } from '../../../../examples/map-store.ts'
import { isWalletError, WalletError } from '../../../../kernel/base/errors.ts'
import type { StoreContents } from '../../../../kernel/repo/store/sealed-store.ts'
import { openLogStore } from '../../../../kernel/store/log-store.ts'
import { SortedMap, textOfKey } from '../../../../kernel/store/sorted-map.ts'
import { storeDisk } from '../../../../kernel/store/store-disk.ts'
import { FAULT_KINDS, makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { openOn } from '../../../helpers/plugin-store.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'
import { type OpenedStore, openTestStore as open } from '../../../helpers/sealed-store.ts'

/**
 * A store that version 0.2 wrote, with chunks, segments, parts of an index, and rows that wait among the entries; and what that
 * version said was in it.
 */
const fixture = JSON.parse(readFileSync('test/fixtures/old-store.json', 'utf8')) as {
  readonly files: Readonly<Record<string, string>>
  readonly contents: StoreContents
}
const oldFiles = (): Map<string, string> => new Map(Object.entries(fixture.files))
const isOld = (path: string): boolean => path.startsWith('repos/r/store/')
const oldPaths = (files: ReadonlyMap<string, string>): string[] => [...files.keys()].filter(isOld)
const contentsOf = async ({ store }: OpenedStore): Promise<StoreContents> => [
  ...[...store.entries('')].sort(),
  ...(await store.contents()).filter(([, change]) => typeof change !== 'string')
]
const expected = [
  ...fixture.contents.filter(([, change]) => typeof change === 'string').sort(),
  ...fixture.contents.filter(([, change]) => typeof change !== 'string')
]

test('a store of the old layout is converted at its first opening, entries and rows in their order, and its files go', async t => {
  const files = oldFiles()
  const first = await open(files)
  t.deepEqual(await contentsOf(first), expected)
  t.deepEqual(first.reports, [])
  t.deepEqual(oldPaths(files), [])
  await first.store.close()
  const second = await open(files)
  t.deepEqual(await contentsOf(second), expected)
  t.deepEqual(second.reports, [])
})

test('at every crash point of a conversion the next opening has everything, and the one after it finds nothing to do', async t => {
  const whole = makeFaultDisk(oldFiles())
  await open(oldFiles(), whole)
  let fired = 0
  for (const kind of FAULT_KINDS) {
    for (let at = 1; at <= whole.writeCount; at += 1) {
      const files = oldFiles()
      const disk = makeFaultDisk(files, { at, kind })
      await open(files, disk).catch(() => {})
      fired += Number(disk.hasFired)
      const next = await open(files)
      t.deepEqual(
        (await contentsOf(next)).filter(([key]) => key !== 'damaged'),
        expected,
        `${kind} at write ${at}`
      )
      t.deepEqual(oldPaths(files), [])
      await next.store.close()
      const before = new Map(files)
      const last = await open(files)
      t.deepEqual(last.reports, [], `${kind} at write ${at}`)
      t.deepEqual([...files.keys()], [...before.keys()])
    }
  }
  t.true(whole.writeCount > 10)
  t.is(fired, whole.writeCount * FAULT_KINDS.length)
})

test('what a full disk does not take stays where it was, and is converted when there is room', async t => {
  const files = oldFiles()
  const error = await t.throwsAsync(open(files, makeFaultDisk(files, { at: 1, kind: 'full' })))
  t.true(isWalletError(error, 'STORAGE_FULL'))
  t.deepEqual(oldPaths(files), Object.keys(fixture.files))
  t.deepEqual(await contentsOf(await open(files)), expected)
})

test('what an older version wrote after the conversion is taken over, and replaces nothing', async t => {
  const files = oldFiles()
  const first = await open(files)
  await first.store.write(
    new Map([
      ['e/second', 'newer'],
      ['e/third', null]
    ])
  )
  await first.store.close()
  // Another version with the old store wrote this; the names of its files are the same.
  for (const [path, text] of Object.entries(fixture.files)) files.set(path, text)
  const { store, table } = await open(files)
  t.is(store.get('e/second'), 'newer')
  t.is(store.get('e/third'), 'ü\n"3"')
  t.is(await table.count(), fixture.contents.filter(([key]) => key.startsWith('t/')).length)
  t.is(store.get('damaged'), 'yes', 'everything is fetched anew')
  t.deepEqual(oldPaths(files), [])
})

for (const [what, name] of [
  ['chunk', '000000000005-000000000005'],
  ['segment', 's000000000003'],
  ['part of an index', 'i000000000004']
])
  test(`of an old store with a damaged ${what} the rest is converted, the damage is noted, and the file is kept`, async t => {
    const files = oldFiles()
    files.set(`repos/r/store/${name}`, 'rubbish')
    const opened = await open(files)
    const wanted = new Map(expected)
    const found = new Map(await contentsOf(opened))
    const same = [...wanted].filter(
      ([key, change]) => JSON.stringify(found.get(key)) === JSON.stringify(change)
    )
    t.true(same.length > 30, String(same.length))
    t.is(opened.store.get('damaged'), 'yes')
    t.true(opened.reports.every(report => isWalletError(report, 'CORRUPT_FILE')))
    t.true([...files].some(([path, text]) => path.startsWith('quarantine/') && text === 'rubbish'))
    t.deepEqual(oldPaths(files), [])
  })

test('where the storage plugin has a store, an old one that lies in its table of files becomes a part of it', async t => {
  const values = new SortedMap<Uint8Array>()
  const disk = storeDisk(mapStore(values))
  for (const [path, text] of oldFiles()) await disk.setText(path, text)
  const first = await open(new Map(), disk)
  t.deepEqual(await contentsOf(first), expected)
  await first.store.close()
  t.deepEqual(await disk.list(''), [])
  const keys = values.keys({ limit: 1000 })
  t.true(keys.length > 5)
  t.true(keys.every(key => textOfKey(key).startsWith('repos/r/log/')))
  t.deepEqual(await contentsOf(await open(new Map(), disk)), expected)
})

test('an old file that cannot be read now ends the opening, deletes nothing, and is converted when it can', async t => {
  for (const failing of [1, 5, 13, 20]) {
    const files = oldFiles()
    const disk = makeFaultDisk(files)
    let reads = 0
    const getText = async (path: string): Promise<string | undefined> => {
      if (isOld(path)) {
        reads += 1
        if (reads === failing) throw new WalletError('STORAGE_FAILED', { path, reason: 'EIO' })
      }
      return disk.getText(path)
    }
    await t.throwsAsync(open(files, { ...disk, getText }), { code: 'STORAGE_FAILED' })
    t.deepEqual(oldPaths(files), Object.keys(fixture.files))
    t.deepEqual(await contentsOf(await open(files)), expected)
  }
})

test('where what was written reads otherwise, no old file goes, and once the database is sound all of it is there', async t => {
  const values = new SortedMap<Uint8Array>()
  const good = mapStore(values)
  let isForgetful = false
  const disk = storeDisk({
    ...good,
    async batch(changes) {
      // A database that loses a value of each large batch.
      if (isForgetful && changes.length > 3) await good.batch(changes.slice(0, -1))
      else await good.batch(changes)
    }
  })
  for (const [path, text] of oldFiles()) await disk.setText(path, text)
  isForgetful = true
  for (let opening = 0; opening < 2; opening += 1) {
    await t.throwsAsync(open(new Map(), disk), { code: 'STORAGE_FAILED' })
    t.deepEqual(await disk.list('repos/r/store'), Object.keys(fixture.files).sort())
  }
  isForgetful = false
  const opened = await open(new Map(), disk)
  t.deepEqual(
    (await contentsOf(opened)).filter(([key]) => key !== 'damaged'),
    expected
  )
  t.deepEqual(await disk.list('repos/r/store'), [])
})

test('what a write has garbled counts for nothing as long as it was not read back, also after a crash', async t => {
  const files = oldFiles()
  const whole = makeFaultDisk(oldFiles())
  await open(oldFiles(), whole)
  // The first write is what is taken over; the power goes before it is read back.
  await t.throwsAsync(open(files, makeFaultDisk(files, { at: 1, kind: 'late' })))
  t.deepEqual(oldPaths(files), Object.keys(fixture.files))
  // The database gives another text of a row than was written.
  const { crypto, clock } = makeRepoIo()
  const quiet = { report: () => {}, onLoss: () => {} }
  const log = await openLogStore({
    disk: makeFaultDisk(files),
    folder: 'repos/r/log',
    crypto,
    clock,
    ...quiet
  })
  const garbling = await openOn(log)
  await garbling.write(new Map([['t/k59', { text: 'garbled', order: 59, mark: 59 }]]))
  await garbling.close()
  const opened = await open(files)
  t.deepEqual(await contentsOf(opened), expected)
  t.deepEqual(opened.reports, [])
  t.is(opened.store.get('damaged'), undefined, 'nothing was lost')
})

test('at every crash point of the conversion of a damaged old store a copy of the damaged file is kept', async t => {
  const damagedFiles = (): Map<string, string> => oldFiles().set('repos/r/store/s000000000003', 'rubbish')
  const whole = makeFaultDisk(damagedFiles())
  await open(damagedFiles(), whole)
  for (const kind of ['full', 'late', 'lost'] as const) {
    for (let at = 1; at <= whole.writeCount; at += 1) {
      const files = damagedFiles()
      await open(files, makeFaultDisk(files, { at, kind })).catch(() => {})
      const { store } = await open(files)
      t.deepEqual(oldPaths(files), [])
      t.true(
        [...files].some(([path, text]) => path.startsWith('quarantine/') && text === 'rubbish'),
        `${kind} at write ${at}`
      )
      t.is(store.get('damaged'), 'yes', `${kind} at write ${at}`)
    }
  }
})
