import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import type { BulkChange } from '../../../kernel/repo/store/bulk.ts'
import { openRepoStore } from '../../../kernel/repo/store/open-store.ts'
import type { SealedStore } from '../../../kernel/repo/store/sealed-store.ts'
import { PendingChanges, RepoFiles } from '../../../kernel/sync/repo-files.ts'
import {
  BULK,
  boxText,
  LARGE_FOLDERS,
  type PendingChange,
  PREFIX,
  pendingEntry
} from '../../../kernel/sync/repo-record.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { boxOf } from '../../helpers/repo-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'

type Writes = Map<string, string | BulkChange | null>

const filesOver = (
  entries: ReadonlyMap<string, string>,
  store: { readings: number } = { readings: 0 }
): RepoFiles =>
  new RepoFiles({
    get readings() {
      return store.readings
    },
    get: (key: string) => entries.get(key),
    *entries(prefix: string) {
      for (const entry of entries) if (entry[0].startsWith(prefix)) yield entry
    }
  } as unknown as SealedStore)

/** Marks of deleted files, the number of each its revision; every other one in the place of an older one. */
const goneOf = (count: number): Map<string, string> =>
  new Map(Array.from({ length: count }, (_, n) => [`x/f${n}`, String(n ^ 1)] as const))

test('the newest hundred thousand deletions are remembered, and pruned once there are a tenth more', t => {
  const writes: Writes = new Map([
    ['x/new', '110002'],
    ['x/f109999', null],
    ['f/other', null]
  ])
  const files = filesOver(goneOf(110_001))
  files.pruneDeletions(writes)
  const forgotten = [...writes].filter(([key, change]) => change === null && key.startsWith('x/'))
  t.is(forgotten.length, 10_002)
  t.false(writes.has('x/f110000'))
  const revisions = forgotten.filter(([key]) => key !== 'x/f109999').map(([key]) => Number(key.slice(3)) ^ 1)
  t.is(Math.max(...revisions), 10_000)
  t.is(new Set(revisions).size, 10_001)
  t.true(files.wasDeleted('f110000'))
  const again: Writes = new Map()
  files.pruneDeletions(again)
  t.is(again.size, 0, 'they were counted')

  const few: Writes = new Map()
  filesOver(goneOf(110_000)).pruneDeletions(few)
  t.is(few.size, 0)
})

test('a file of a large folder is a row with its date, and remembered when it is deleted; any other is its box', t => {
  const folder = LARGE_FOLDERS[0] ?? ''
  const row = `${folder}1700000000-a.json`
  const box = JSON.stringify(boxOf('text'))
  const files = filesOver(new Map())
  const written: Writes = new Map()
  files.put(written, 'plain.json', box)
  files.put(written, row, box)
  t.is(written.get('f/plain.json'), box)
  t.like(written.get(`f/${row}`), { text: box, order: 1_700_000_000 })
  t.false([...written.keys()].some(key => key.startsWith('x/')))
  const deleted: Writes = new Map()
  files.put(deleted, 'plain.json', null)
  files.put(deleted, row, null)
  t.deepEqual(
    [...deleted].filter(([key]) => key.startsWith('f/')),
    [
      ['f/plain.json', null],
      [`f/${row}`, null]
    ]
  )
  t.deepEqual(
    [...deleted.keys()].filter(key => key.startsWith('x/')),
    [`x/${row}`]
  )
})

test('a folder within a large folder lists only its own files', async t => {
  const rows = ['1-a.json', '2-b.json', '10-c.json']
  const store = {
    *entries() {},
    table: () => ({ keysWhere: async () => rows })
  }
  const files = new RepoFiles(store as unknown as SealedStore)
  const folder = LARGE_FOLDERS[0] ?? ''
  t.deepEqual(await files.list(`${folder}1`), [`${folder}1-a.json`, `${folder}10-c.json`])
  t.deepEqual(await files.list(`${folder}3`), [])
})

test('only changes of pending entries and past versions update the lists, and a failed write reloads them from the store', t => {
  const entries = new Map([
    ['c/kept', 'new'],
    ['v/kept', '1[]']
  ])
  const files = filesOver(entries)
  const known = (): readonly string[][] => [[...files.pending].sort(), [...files.past].sort()]
  files.learn(new Map<string, string | null>(['f/a', 'x/b', 'o/d', 's'].map(key => [key, 'text'])), false)
  t.deepEqual(known(), [['kept'], ['kept']])
  const changes = new Map([
    ['c/new', 'new'],
    ['v/other', '1[]'],
    ['c/kept', null],
    ['v/kept', null]
  ])
  files.learn(changes, false)
  t.deepEqual(known(), [['new'], ['other']])
  files.learn(changes, true)
  t.deepEqual(known(), [['kept'], ['kept']])
})

test('the revision, pending changes and past versions are those of the store once it has read its entries again', t => {
  const looks: readonly ((files: RepoFiles) => unknown)[] = [
    ({ revision }) => revision,
    ({ pending }) => [...pending],
    ({ past }) => [...past]
  ]
  for (const [which, expected] of [5, ['a'], ['a']].entries()) {
    const entries = new Map<string, string>([[PREFIX.revision, '4']])
    const store = { readings: 1 }
    const files = filesOver(entries, store)
    t.deepEqual(
      looks.map(look => look(files)),
      [4, [], []]
    )
    // A batch whose answer was lost has been made.
    entries.set(PREFIX.revision, '5').set('c/a', 'new').set('v/a', '1[]')
    store.readings += 1
    t.deepEqual(looks[which]?.(files), expected)
  }
})

test('a file of a large folder is a row at the date of its name, with the revision of its write', t => {
  const files = filesOver(
    new Map([
      ['r', '41'],
      ['x/transaction/1700000001-b.json', '7']
    ])
  )
  const names = ['1700000000-a.json', '1700000001-b.json', 'x-c.json', '1.5-d', '-e']
  const writes: Writes = new Map()
  for (const name of names) files.put(writes, `transaction/${name}`, 'text')
  const dates = [1_700_000_000, 1_700_000_001, 0, 0, 0]
  t.deepEqual(
    names.map(name => writes.get(`f/transaction/${name}`)),
    dates.map(order => ({ text: 'text', order, mark: 42 }))
  )
  t.deepEqual(
    [...writes].filter(([key]) => !key.startsWith('f/')),
    [
      ['r', '42'],
      ['x/transaction/1700000001-b.json', null]
    ]
  )
  const next: Writes = new Map()
  files.put(next, 'transaction/12-f.json', null)
  t.deepEqual(
    [...next],
    [
      ['r', '43'],
      ['f/transaction/12-f.json', null],
      ['x/transaction/12-f.json', '43']
    ]
  )
})

test('a file of a large folder is remembered as deleted from its first deletion on, until it is written', t => {
  const entries = new Map<string, string>()
  const files = filesOver(entries)
  const [path, other] = [`${LARGE_FOLDERS[0]}1-a.json`, `${LARGE_FOLDERS[0]}2-b.json`]
  const put = (at: string, box: string | null): void => {
    const writes: Writes = new Map()
    files.put(writes, at, box)
    for (const [key, change] of writes) {
      if (change === null) entries.delete(key)
      else entries.set(key, String(change))
    }
  }
  t.false(files.wasDeleted(path))
  put(path, null)
  t.deepEqual(
    [path, other].map(at => files.wasDeleted(at)),
    [true, false]
  )
  put(other, null)
  put(path, '{}')
  t.deepEqual(
    [path, other].map(at => files.wasDeleted(at)),
    [false, true]
  )
})

/** The files of a store on a disk in memory, large folders among them. */
const openFiles = async (): Promise<{
  files: RepoFiles
  put: (texts: Readonly<Record<string, string | null>>) => Promise<void>
  store: SealedStore
}> => {
  const place = {
    ...{ io: makeRepoIo(), disk: makeFaultDisk(new Map()), folder: 'repos/r', paths: [] },
    ...{ key: new Secret(new Uint8Array(32).fill(7)), report: () => {} },
    bulk: BULK
  }
  const store = await openRepoStore(place)
  const files = new RepoFiles(store)
  return {
    ...{ files, store },
    put: async texts => {
      const writes: Writes = new Map()
      for (const [path, text] of Object.entries(texts)) files.put(writes, path, text)
      await store.write(writes)
      files.learn(writes, false)
    }
  }
}

test('files of large folders and others are read, counted and listed together, each once', async t => {
  const { files, put } = await openFiles()
  const all = ['a', 'transaction/1-x', 'b', 'transaction/2-y', 'Transactions/3-z', 'c', 'transaction/3-w']
  await put(Object.fromEntries(all.map(path => [path, `box of ${path}`])))
  const paths = [...all, 'none', 'transaction/9-none']
  t.deepEqual(
    await files.boxes(paths),
    paths.map(path => (path.endsWith('none') ? undefined : `box of ${path}`))
  )
  t.is(await files.count(), 7)
  t.deepEqual(await files.list(''), [...all].sort())
  const scanned = []
  for await (const batch of files.scan()) scanned.push(...batch)
  t.deepEqual(
    scanned.sort((left, right) => (left.path < right.path ? -1 : 1)),
    [...all]
      .sort()
      .map(path => ({ path, data: `box of ${path}`, pending: undefined, past: undefined, isLost: false }))
  )
})

test('a scan names each pending deletion once, though there is no file of it', async t => {
  const { files, put, store } = await openFiles()
  await put({ a: 'box' })
  const deletion = { box: null, base: 'base', sent: [] }
  const writes: Writes = new Map([
    ['c/gone', pendingEntry({ data: undefined, pending: deletion })],
    ['c/a', pendingEntry({ data: 'old', pending: { box: 'box', base: 'old', sent: [] } })]
  ])
  await store.write(writes)
  files.learn(writes, false)
  const scanned = []
  for await (const batch of files.scan()) scanned.push(...batch)
  t.deepEqual(
    scanned.map(({ path, pending }) => [path, pending?.box]),
    [
      ['a', 'box'],
      ['gone', null]
    ]
  )
})

test('what changed after a revision are the files written or deleted since, but for those of one’s own writes', async t => {
  const { files, put } = await openFiles()
  await put({ 'transaction/1-a': 'a', 'transaction/2-b': 'b' })
  const first = files.revision
  await put({ 'transaction/2-b': null, 'transaction/3-c': 'c' })
  const second = files.revision
  await put({ 'transaction/4-d': 'd', other: 'x' })
  const third = files.revision
  const since = async (revision: number, ...except: readonly number[]): Promise<readonly string[]> => {
    const { paths, revision: present } = await files.changedSince(revision, new Set(except))
    t.is(present, third)
    return [...paths].sort()
  }
  t.deepEqual(await since(first), ['transaction/2-b', 'transaction/3-c', 'transaction/4-d'])
  t.deepEqual(await since(second), ['transaction/4-d'])
  t.deepEqual(await since(third), [])
  t.deepEqual(await since(first, second), ['transaction/4-d'])
  t.deepEqual(await since(first, third), ['transaction/2-b', 'transaction/3-c'])
})

test('which texts a server may have is known of each change apart, until the change is over', async t => {
  const pending = new Set(['p', 'q', 'earlier'])
  const changes = new Map<string, PendingChange>()
  const [box, other] = [boxText(boxOf('1')), boxText(boxOf('2'))]
  for (const path of pending) changes.set(path, { box, base: null, sent: [] })
  const files = {
    pending: new Set(['earlier']),
    read: async (paths: readonly string[]) => paths.map(path => ({ path, pending: changes.get(path) }))
  }
  const sent = new PendingChanges(files as unknown as RepoFiles)
  const mayHave = (path: string, present = box): readonly string[] =>
    sent.sentBefore(path, { box: present, base: null, sent: [] })
  t.deepEqual(mayHave('earlier'), [box], 'an earlier process may have sent it')
  files.pending = pending
  t.deepEqual(mayHave('p'), [])
  const batch = await sent.takeBatch({ limit: 100, skipped: new Set(['earlier']), takesDeletions: true })
  t.deepEqual([...batch.keys()], ['p', 'q'])
  t.deepEqual([mayHave('p'), mayHave('q'), mayHave('q', other)], [[box], [box], []])
  sent.forgetSent(
    new Map([
      ['f/p', null],
      ['c/p', 'entry']
    ])
  )
  t.deepEqual(mayHave('p'), [box], 'it waits again')
  pending.delete('p')
  sent.forgetSent(new Map([['c/p', null]]))
  t.deepEqual([mayHave('p'), mayHave('q')], [[], [box]])
  pending.delete('earlier')
  sent.forgetSent(new Map([['c/earlier', null]]))
  t.deepEqual(mayHave('q'), [box])
})
