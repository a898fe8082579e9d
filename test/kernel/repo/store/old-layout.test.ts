import { readFileSync } from 'node:fs'
import test from 'ava'
import { mapStore } from '../../../../examples/map-store.ts'
import { isWalletError, WalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import { sealPacked, sealText } from '../../../../kernel/crypto/box.ts'
import { utf8Of } from '../../../../kernel/crypto/encoding.ts'
import { type BulkChange, parseBulkPrefixes } from '../../../../kernel/repo/store/bulk.ts'
import { type OldContents, readOldStore } from '../../../../kernel/repo/store/old-layout.ts'
import type { StoreContents } from '../../../../kernel/repo/store/sealed-store.ts'
import { openLogStore } from '../../../../kernel/store/log-store.ts'
import { SortedMap, textOfKey } from '../../../../kernel/store/sorted-map.ts'
import { storeDisk } from '../../../../kernel/store/store-disk.ts'
import {
  drawSeed,
  makeSeededRandom,
  passWalletError,
  type SeededRandom
} from '../../../helpers/drawn-runs.ts'
import { FAULT_KINDS, makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { openOn } from '../../../helpers/plugin-store.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'
import { type OpenedStore, openTestStore as open } from '../../../helpers/sealed-store.ts'
import { applied, type Rows } from '../../../helpers/store-model.ts'

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
      await open(files, disk).catch(passWalletError)
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

test('at every crash point of taking over what an older version wrote after the conversion, nothing newer is replaced', async t => {
  const again = async (): Promise<Map<string, string>> => {
    const files = oldFiles()
    const { store } = await open(files)
    await store.write(new Map([['e/second', 'newer']]))
    await store.close()
    for (const [path, text] of Object.entries(fixture.files)) files.set(path, text)
    return files
  }
  const counted = await again()
  const whole = makeFaultDisk(counted)
  await open(counted, whole)
  for (let at = 1; at <= whole.writeCount; at += 1) {
    const files = await again()
    await open(files, makeFaultDisk(files, { at, kind: 'late' })).catch(passWalletError)
    const { store } = await open(files)
    t.is(store.get('e/second'), 'newer', `write ${at}`)
    t.deepEqual(oldPaths(files), [])
  }
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
  // A disk that takes no text, and says that it has, does not lose the old files.
  const disk = makeFaultDisk(files)
  await t.throwsAsync(open(files, { ...disk, setText: async () => {} }), { code: 'STORAGE_FAILED' })
  t.deepEqual(oldPaths(files), Object.keys(fixture.files))
  const opened = await open(files)
  t.deepEqual(await contentsOf(opened), expected)
  t.deepEqual(opened.reports, [])
  t.is(opened.store.get('damaged'), undefined, 'nothing was lost')
})

test('a store is converted beside a file that the disk calls damaged, of which there is no copy', async t => {
  const files = oldFiles()
  const disk = makeFaultDisk(files)
  const path = pathOf(`s${nameOf(3)}`)
  const getText = async (wanted: string): Promise<string | undefined> => {
    if (wanted === path) throw new WalletError('CORRUPT_FILE', { path, rule: 'it is no text' })
    return disk.getText(wanted)
  }
  const { store, reports } = await open(files, { ...disk, getText })
  t.is(store.get('damaged'), 'yes')
  t.true([...store.entries('e/')].length > 1)
  t.deepEqual(reports, [])
  t.deepEqual(oldPaths(files), [])
  t.false([...files.keys()].some(name => name.startsWith('quarantine/')))
})

test('what an older version wrote beside a single newer entry is taken over, and everything is fetched', async t => {
  const files = new Map<string, string>()
  const first = await open(files)
  await first.store.write(new Map([['e/second', 'newer']]))
  await first.store.close()
  for (const [path, text] of Object.entries(fixture.files)) files.set(path, text)
  const { store } = await open(files)
  t.is(store.get('e/second'), 'newer')
  t.is(store.get('damaged'), 'yes')
})

test('at every crash point of the conversion of a damaged old store a copy of the damaged file is kept', async t => {
  const damagedFiles = (): Map<string, string> => oldFiles().set('repos/r/store/s000000000003', 'rubbish')
  const whole = makeFaultDisk(damagedFiles())
  await open(damagedFiles(), whole)
  for (const kind of ['full', 'late', 'lost'] as const) {
    for (let at = 1; at <= whole.writeCount; at += 1) {
      const files = damagedFiles()
      await open(files, makeFaultDisk(files, { at, kind })).catch(passWalletError)
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

const io = makeRepoIo()
const KEY: Uint8Array = new Uint8Array(32).fill(7)
const nameOf = (number: number): string => String(number).padStart(12, '0')
const pathOf = (name: string): string => `repos/r/store/${name}`
const chunkPath = (from: number, to: number = from): string => pathOf(`${nameOf(from)}-${nameOf(to)}`)

type Entries = Readonly<Record<string, string | null>>

/** A chunk of the old layout; each of its lines has some of the entries. */
const chunk = (from: number, to: number, ...lines: readonly Entries[]): [path: string, text: string] => {
  const boxes = lines.map((entries, index) => {
    const payload = [from, to, index, lines.length, Object.entries(entries).flat()]
    return JSON.stringify(sealText(io, KEY, JSON.stringify(payload)))
  })
  return [chunkPath(from, to), boxes.join('\n')]
}

interface SegmentRow {
  readonly key: string
  readonly text: string
  readonly order: number
  readonly mark?: number
}

const packed = (size: number, write: (buffer: ArrayBuffer, start: number) => void): string =>
  io.crypto.toBase64(
    sealPacked(io, KEY, {
      room: size,
      write(bytes, start) {
        write(bytes.buffer as ArrayBuffer, start)
        return start + size
      }
    })
  )

/** A segment of the old layout: pieces of rows, behind a head that says where each ends. */
const segment = (
  table: string,
  id: number,
  ...pieces: readonly (readonly SegmentRow[])[]
): [path: string, text: string] => {
  const sealed = pieces.map((rows, piece) => {
    const body = utf8Of(table + rows.map(({ key, text }) => key + text).join(''))
    return packed(24 + rows.length * 20 + body.length, (buffer, start) => {
      new Uint32Array(buffer, start, 6).set([0x31534648, id, piece, rows.length, table.length, 0])
      const words = start + 24 + rows.length * 8
      new Float64Array(buffer, start + 24, rows.length).set(rows.map(({ order }) => order))
      new Int32Array(buffer, words, rows.length).set(rows.map(({ mark = 0 }) => mark))
      new Uint32Array(buffer, words + rows.length * 4, rows.length).set(rows.map(({ key }) => key.length))
      new Uint32Array(buffer, words + rows.length * 8, rows.length).set(rows.map(({ text }) => text.length))
      new Uint8Array(buffer).set(body, start + 24 + rows.length * 20)
    })
  })
  let end = 96
  const ends = sealed.map(text => {
    end += text.length
    return String(end).padStart(8)
  })
  return [pathOf(`s${nameOf(id)}`), ends.join('').padEnd(96) + sealed.join('')]
}

interface IndexRow {
  /** In place of the hash of a key. */
  readonly hash: number
  readonly order: number
  /** Of a deleted row 0. */
  readonly segment: number
  readonly piece?: number
  readonly slot?: number
}

/** A part of an index of the old layout. */
const indexPart = (table: string, id: number, rows: readonly IndexRow[]): [path: string, text: string] => {
  const name = utf8Of(table)
  const text = packed(16 + rows.length * 26 + name.length, (buffer, start) => {
    new Uint32Array(buffer, start, 4).set([0x31494648, id, rows.length, name.length])
    const words = start + 16 + rows.length * 8
    new Float64Array(buffer, start + 16, rows.length).set(rows.map(({ order }) => order))
    new Uint32Array(buffer, words, rows.length).set(rows.map(({ hash }) => hash))
    new Uint32Array(buffer, words + rows.length * 4, rows.length).set(rows.map(({ hash }) => hash % 2))
    new Uint32Array(buffer, words + rows.length * 12, rows.length).set(
      rows.map(({ segment: number, piece = 0 }) => number * 16 + piece)
    )
    new Uint16Array(buffer, words + rows.length * 16, rows.length).set(rows.map(({ slot = 0 }) => slot))
    new Uint8Array(buffer).set(name, start + 16 + rows.length * 26)
  })
  return [pathOf(`i${nameOf(id)}`), text]
}

/** Reads an old store; `opened` is called after each file. */
const readOld = (
  files: readonly (readonly [path: string, text: string])[],
  key: Secret<Uint8Array> = new Secret(KEY.slice()),
  opened: (path: string) => void = () => {}
): Promise<OldContents> => {
  const paths = files.map(([path]) => path)
  const disk = makeFaultDisk(new Map(files))
  const getText = async (path: string): Promise<string | undefined> => {
    if (!paths.includes(path)) throw new Error(`There is no ${path}`)
    const text = await disk.getText(path)
    opened(path)
    return text
  }
  const bulk = parseBulkPrefixes(['t/', 'u/+/'])
  return readOldStore({ io, key, disk: { ...disk, getText }, bulk, paths })
}

test('of old chunks the widest of a range counts, and a later one replaces an earlier one', async t => {
  const chunks = [
    chunk(1, 1, { a: 'one', b: 'one' }),
    chunk(1, 4, { a: 'merged', c: 'merged', e: 'merged' }),
    chunk(2, 2, { a: 'two', d: 'two' }),
    chunk(5, 6, { c: 'five', e: null }, { f: 'six' }),
    chunk(6, 6, { f: 'a part' }),
    chunk(7, 7, { f: 'seven' })
  ]
  for (const files of [chunks, chunks.toReversed()])
    t.deepEqual(await readOld(files), {
      contents: [
        ['a', 'merged'],
        ['c', 'five'],
        ['f', 'seven']
      ],
      isDamaged: false,
      damagedPaths: []
    })
})

for (const [what, files, contents, damagedPaths] of [
  [
    'a merged chunk that was cut short counts for nothing if its parts are there',
    [
      [chunkPath(1, 3), 'rubbish'],
      chunk(1, 2, { a: 'older' }, { b: 'b' }),
      chunk(3, 3, { a: 'newer' }),
      chunk(4, 4, { c: 'c' })
    ],
    { a: 'newer', b: 'b', c: 'c' },
    undefined
  ],
  [
    'a damaged chunk is damage where a part in the middle of it is missing',
    [[chunkPath(1, 3), 'rubbish'], chunk(1, 1, { a: 'a' }), chunk(3, 3, { c: 'c' })],
    { a: 'a', c: 'c' },
    [chunkPath(1, 3)]
  ],
  [
    'what is left of a damaged chunk is newer than the parts that are there of it',
    [
      [chunkPath(1, 3), `${chunk(1, 3, { a: 'merged' }, {})[1].split('\n')[0]}\nrubbish`],
      chunk(1, 1, { a: 'first', b: 'first' }),
      chunk(2, 2, { b: 'second' }),
      chunk(4, 4, { c: 'c' })
    ],
    { a: 'merged', b: 'second', c: 'c' },
    [chunkPath(1, 3)]
  ],
  [
    'a chunk without its last line is damaged',
    [[chunkPath(1), chunk(1, 1, { a: 'a' }, { b: 'b' })[1].split('\n')[0]]],
    { a: 'a' },
    [chunkPath(1)]
  ],
  [
    'a chunk with its lines in another order is damaged',
    [[chunkPath(1), chunk(1, 1, { a: 'a' }, { b: 'b' })[1].split('\n').reverse().join('\n')]],
    { b: 'b', a: 'a' },
    [chunkPath(1)]
  ],
  [
    'a chunk in the place of another one is damaged, and nothing of it counts',
    [chunk(1, 1, { a: 'a' }), [chunkPath(2), chunk(1, 1, { a: 'other' })[1]]],
    { a: 'a' },
    [chunkPath(2)]
  ],
  [
    'a chunk in the place of another one that begins or ends with the same batch is damaged, and nothing of it counts',
    [
      chunk(1, 1, { a: 'a' }),
      [chunkPath(2), chunk(2, 3, { a: 'other' })[1]],
      [chunkPath(3), chunk(2, 3, { a: 'other' })[1]]
    ],
    { a: 'a' },
    [chunkPath(2), chunkPath(3)]
  ],
  [
    'the parts of a damaged chunk count in their order, of two that end alike the wider one',
    [
      [chunkPath(1, 4), 'rubbish'],
      chunk(1, 1, { a: 'first', b: 'first', c: 'first' }),
      chunk(2, 3, { b: 'merged', c: 'second' }),
      chunk(3, 3, { b: 'third' })
    ],
    { a: 'first', b: 'merged', c: 'second' },
    [chunkPath(1, 4)]
  ],
  [
    'what is behind a damaged chunk is no part of it',
    [[chunkPath(1, 2), 'rubbish'], chunk(3, 4, { a: 'a' }), chunk(3, 3, { a: 'a', gone: 'gone' })],
    { a: 'a' },
    [chunkPath(1, 2)]
  ],
  ['a missing chunk is damage', [chunk(1, 1, { a: 'a' }), chunk(3, 3, { b: 'b' })], { a: 'a', b: 'b' }, []],
  [
    'the note of an earlier loss is damage, and no entry',
    [chunk(1, 1, { a: 'a', 'm/ 1': '' })],
    { a: 'a' },
    []
  ]
] as [string, [string, string][], Record<string, string>, string[] | undefined][])
  test(`in an old store ${what}`, async t => {
    const found = await readOld(files)
    t.deepEqual(found, {
      contents: Object.entries(contents),
      isDamaged: damagedPaths !== undefined,
      damagedPaths: damagedPaths ?? []
    })
  })

const row = (key: string, order: number, text: string = `text ${key}`): SegmentRow => ({
  ...{ key, text, order, mark: order + 1 }
})
const manifest = (parts: readonly number[], segments: readonly number[]): string =>
  JSON.stringify({ parts: parts.map(id => [id, 1]), segments: segments.map(id => [id, 1]) })

/** Two segments, one with two pieces, and rows among the entries. */
const tableFiles = (): [path: string, text: string][] => [
  segment('t/', 1, [row('a', 5), row('ß', 4), row('c', 5)], [row('d', 5), row('gone', 3)]),
  indexPart('t/', 2, [
    { hash: 1, order: 5, segment: 1 },
    { hash: 2, order: 4, segment: 1, slot: 1 },
    { hash: 3, order: 5, segment: 1, slot: 2 },
    { hash: 4, order: 5, segment: 1, piece: 1 },
    { hash: 5, order: 3, segment: 1, piece: 1, slot: 1 }
  ]),
  segment('t/', 3, [row('a', 5, 'again'), row('c', 6, 'moved'), row('e', 5)]),
  indexPart('t/', 4, [
    { hash: 1, order: 5, segment: 3 },
    { hash: 3, order: 6, segment: 3, slot: 1 },
    { hash: 5, order: 3, segment: 0 },
    { hash: 6, order: 5, segment: 3, slot: 2 }
  ]),
  chunk(1, 1, {
    'm/t/': manifest([2, 4], [1, 3]),
    't/r2': '5 8 2 recent second',
    't/r1': '5 7 1 recent\nfirst',
    't/d': '5 9 3 again, recent',
    't/ß': ''
  })
]

const spelt = ({ contents }: OldContents): string[] =>
  contents.map(([key, change]) =>
    typeof change === 'string' ? `${key} ${change}` : `${key} ${change.order} ${change.mark} ${change.text}`
  )

test('the rows of an old table are those of its index, in their order; those among the entries are newer', async t => {
  const found = await readOld(tableFiles())
  t.deepEqual(spelt(found), [
    't/c 6 7 moved',
    't/a 5 6 again',
    't/d 5 9 again, recent',
    't/e 5 6 text e',
    't/r1 5 7 recent\nfirst',
    't/r2 5 8 recent second'
  ])
  t.false(found.isDamaged)
})

test('of an old table whose index is damaged every row counts that is in a segment, the later one of a key', async t => {
  const files = tableFiles().map(([path, text]): [string, string] =>
    path.endsWith(nameOf(4)) ? [path, 'rubbish'] : [path, text]
  )
  const found = await readOld([...files, segment('u/x/', 5, [row('other', 1)])])
  t.deepEqual(spelt(found).sort(), [
    't/a 5 6 again',
    't/c 6 7 moved',
    't/d 5 9 again, recent',
    't/e 5 6 text e',
    't/gone 3 4 text gone',
    't/r1 5 7 recent\nfirst',
    't/r2 5 8 recent second'
  ])
  t.true(found.isDamaged)
  t.deepEqual(found.damagedPaths, [pathOf(`i${nameOf(4)}`)])
})

test('of an old table whose index lacks a part every row counts that is in a segment', async t => {
  const found = await readOld(tableFiles().filter(([path]) => path !== pathOf(`i${nameOf(4)}`)))
  t.is(found.contents.length, 7)
  t.true(found.isDamaged)
  t.deepEqual(found.damagedPaths, [])
})

for (const [what, damage] of [
  ['a missing segment', undefined],
  ['a segment without a head', 'x'.repeat(200)],
  ['a segment that was cut off', (text: string) => text.slice(0, 200)]
] as const)
  test(`of an old table with ${what} the rows of the others are there`, async t => {
    const files = tableFiles().flatMap(([path, text]): [string, string][] => {
      if (!path.endsWith(`s${nameOf(3)}`)) return [[path, text]]
      if (damage === undefined) return []
      return [[path, typeof damage === 'string' ? damage : damage(text)]]
    })
    const found = await readOld(files)
    t.deepEqual(spelt(found), ['t/d 5 9 again, recent', 't/r1 5 7 recent\nfirst', 't/r2 5 8 recent second'])
    t.true(found.isDamaged)
    t.is(found.damagedPaths.length, damage === undefined ? 0 : 1)
  })

test('reading an old store after its key was destroyed is a failure, not damage', async t => {
  const files = tableFiles()
  for (const [path] of files) {
    const key = new Secret(KEY.slice())
    const reading = readOld(files, key, read => {
      if (read === path) key.destroy()
    })
    await t.throwsAsync(reading, { instanceOf: TypeError }, path)
  }
})

for (const [what, piece] of [
  ['something else', indexPart('t/', 3, [{ hash: 1, order: 1, segment: 3 }])[1]],
  ['less than a frame', packed(8, () => {})],
  [
    'more rows than it is long',
    packed(24, (buffer, start) => void new Uint32Array(buffer, start, 6).set([0x31534648, 3, 0, 9, 2, 0]))
  ]
] as const)
  test(`a piece of an old segment that is ${what} is damage`, async t => {
    const head = String(96 + piece.length)
      .padStart(8)
      .padEnd(96)
    const path = pathOf(`s${nameOf(3)}`)
    const files = tableFiles().map((file): [string, string] =>
      file[0] === path ? [path, head + piece] : file
    )
    const found = await readOld(files)
    t.deepEqual(found.damagedPaths, [path])
    t.true(found.isDamaged)
    t.is(spelt(found).length, 3)
  })

test('at every crash point of a conversion, what an older version then writes into the same files is taken over', async t => {
  const whole = makeFaultDisk(oldFiles())
  await open(oldFiles(), whole)
  const [path, text] = chunk(7, 7, { 'e/late': 'written since' })
  t.true(oldFiles().has(path))
  for (let at = 1; at <= whole.writeCount; at += 1) {
    const files = oldFiles()
    await open(files, makeFaultDisk(files, { at, kind: 'lost' })).catch(passWalletError)
    files.set(path, text)
    const { store } = await open(files)
    t.is(store.get('e/late'), 'written since', `write ${at}`)
    t.deepEqual(oldPaths(files), [])
  }
})

test('what notes damage at a conversion is made of the entries that are there then', async t => {
  const note = (get: (key: string) => string | undefined): Map<string, string> =>
    new Map([['noted', [get('e/second'), get('e/new'), get('e/none')].join()]])
  const damaged = oldFiles().set(chunkPath(6), 'rubbish')
  const opened = await open(damaged, makeFaultDisk(damaged), note)
  t.is(opened.store.get('noted'), '2,,')
  await opened.store.write(
    new Map([
      ['e/new', 'since'],
      ['e/second', 'newer']
    ])
  )
  await opened.store.close()
  for (const [path, old] of oldFiles()) damaged.set(path, old)
  const again = await open(damaged, makeFaultDisk(damaged), note)
  t.is(again.store.get('noted'), 'newer,since,')
})

for (const [what, part] of [
  ['another one', indexPart('t/', 2, [{ hash: 1, order: 5, segment: 3 }])[1]],
  ['one of another table', indexPart('u/', 4, [{ hash: 1, order: 5, segment: 3 }])[1]],
  ['something else', segment('t/', 4, [row('a', 5)])[1].slice(96)],
  ['less than a frame', packed(8, () => {})]
] as const)
  test(`a part of an old index that is ${what} is damage`, async t => {
    const path = pathOf(`i${nameOf(4)}`)
    const files = tableFiles().map((file): [string, string] => (file[0] === path ? [path, part] : file))
    const found = await readOld(files)
    t.deepEqual(found.damagedPaths, [path])
    t.is(found.contents.length, 7)
  })

const altered = (text: string): string => {
  const at = text.length - 40
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
}

test('an altered letter in any file of an old store is damage that the rest is read beside', async t => {
  for (const [damagedPath] of tableFiles()) {
    const files = tableFiles().map(([path, text]): [string, string] => [
      path,
      path === damagedPath ? altered(text) : text
    ])
    const found = await readOld([...files, chunk(2, 2, { a: 'a' })])
    t.true(found.isDamaged, damagedPath)
    t.deepEqual(found.damagedPaths, [damagedPath])
    t.deepEqual(found.contents[0], ['a', 'a'])
  }
})

test('a file of an old store that the disk calls damaged is damage that the rest is read beside', async t => {
  for (const [damagedPath] of tableFiles()) {
    const files = [...tableFiles(), chunk(2, 2, { a: 'a' })]
    const corrupt = (path: string): void => {
      if (path === damagedPath) throw new WalletError('CORRUPT_FILE', { path, rule: 'it is no text' })
    }
    const found = await readOld(files, undefined, corrupt)
    t.true(found.isDamaged, damagedPath)
    t.deepEqual(found.damagedPaths, [damagedPath])
    t.deepEqual(found.contents[0], ['a', 'a'])
  }
})

/** The files with the text of one replaced. */
const withText = (name: string, edit: (text: string) => string): [path: string, text: string][] =>
  tableFiles().map(([path, text]) => [path, path === pathOf(name) ? edit(text) : text])

for (const [what, files, lost] of [
  [
    'pieces of a segment change places',
    withText(
      `s${nameOf(1)}`,
      () => segment('t/', 1, [row('d', 5), row('gone', 3)], [row('a', 5), row('ß', 4), row('c', 5)])[1]
    ).map(([path, text]): [string, string] => {
      if (path !== pathOf(`s${nameOf(1)}`)) return [path, text]
      const [own] = tableFiles()
      const sealed = own?.[1] ?? ''
      const [first, second] = [Number(sealed.slice(0, 8)), Number(sealed.slice(8, 16))]
      const ends = [96 + second - first, second].map(end => String(end).padStart(8)).join('')
      return [path, ends.padEnd(96) + sealed.slice(first, second) + sealed.slice(96, first)]
    }),
    1
  ],
  ['a segment lies in the place of another', withText(`s${nameOf(3)}`, () => tableFiles()[0]?.[1] ?? ''), 3],
  [
    'a segment of another table lies in the place of one',
    withText(`s${nameOf(3)}`, () => segment('u/', 3, [row('x', 1), row('y', 1), row('z', 1)])[1]),
    3
  ],
  [
    'the head of a segment lacks its last piece',
    withText(`s${nameOf(1)}`, text => `${text.slice(0, 8).padEnd(96)}${text.slice(96)}`),
    1
  ]
] as [string, [string, string][], number][])
  test(`in an old table it is damage, and noted, where ${what}`, async t => {
    const found = await readOld(files)
    t.true(found.isDamaged)
    t.deepEqual(found.damagedPaths, [pathOf(`s${nameOf(lost)}`)])
  })

test('an old segment has up to twelve pieces, and all of them count', async t => {
  const keys = Array.from('abcdefghijkl')
  const found = await readOld([
    segment('t/', 1, ...keys.map(key => [row(key, 1)])),
    indexPart(
      't/',
      2,
      keys.map((_, piece) => ({ hash: piece, order: 1, segment: 1, piece }))
    ),
    chunk(1, 1, { 'm/t/': manifest([2], [1]) })
  ])
  t.deepEqual(
    spelt(found),
    keys.map(key => `t/${key} 1 2 text ${key}`)
  )
  t.false(found.isDamaged)
})

test('where entries of an old store are lost every row counts that is in a segment, in the order of the files', async t => {
  const files = [...tableFiles(), segment('t/', 5, [row('f', 5), row('a', 5, 'newest')])]
  const lost = { 'm/ 1': '', 't/ß': null, 't/r1': null, 't/r2': null }
  for (const paths of [files, files.toReversed()]) {
    const found = await readOld([...paths, chunk(2, 2, lost)])
    t.deepEqual(spelt(found), [
      't/c 6 7 moved',
      't/a 5 6 newest',
      't/d 5 9 again, recent',
      't/e 5 6 text e',
      't/f 5 6 text f',
      't/ß 4 5 text ß',
      't/gone 3 4 text gone'
    ])
    t.true(found.isDamaged)
    t.deepEqual(found.damagedPaths, [])
  }
})

test('what an old store has of a table that is none today is left out', async t => {
  const found = await readOld([
    segment('v/', 1, [row('a', 5)]),
    indexPart('v/', 2, [{ hash: 1, order: 5, segment: 1 }]),
    chunk(1, 1, { 'm/v/': manifest([2], [1]), e: 'entry' })
  ])
  t.deepEqual(found, { contents: [['e', 'entry']], isDamaged: false, damagedPaths: [] })
})

interface DrawnChunk {
  readonly from: number
  readonly to: number
  readonly changes: ReadonlyMap<string, string | null>
}

/** An old store that grows by random steps as version 0.2 made them, and a plain list of what is in it. */
class DrawnStore {
  rows: Rows = new Map()
  readonly entries = new Map<string, string>()
  readonly #files = new Map<string, string>()
  readonly #random: SeededRandom
  #chunks: DrawnChunk[] = []
  #recent = new Map<string, { readonly key: string; readonly text: string; readonly sequence: number }>()
  #manifest: { parts: number[]; segments: number[] } = { parts: [], segments: [] }
  #sequence = 0
  #lastFile = 0
  /** A merged chunk that a crash has cut short; the next opening deletes it. */
  #cut = ''

  constructor(random: SeededRandom) {
    this.#random = random
  }

  /** Its files in any order. */
  get files(): [path: string, text: string][] {
    const left = [...this.#files]
    return Array.from(this.#files, () => left.splice(this.#random.below(left.length), 1)).flat()
  }

  step(): void {
    const kind = this.#random.below(8)
    if (kind === 0) this.#flush()
    else if (kind === 1) this.#tidy()
    else if (kind === 2) this.#merge()
    else this.#write()
  }

  #write(): void {
    const changes = new Map<string, string | null>()
    for (let left = this.#random.below(3); left >= 0; left -= 1) this.#changeRow(changes)
    const key = `e/${this.#random.below(6)}`
    const text = this.#random.oneIn(3) ? null : `entry ${this.#chunks.length}`
    changes.set(key, text)
    if (text === null) this.entries.delete(key)
    else this.entries.set(key, text)
    this.#append(changes)
  }

  #changeRow(changes: Map<string, string | null>): void {
    const key = `k${this.#random.below(12)}`
    const before = this.rows.get(`t/${key}`)
    const known = typeof before === 'object' ? before.order : undefined
    const order = known !== undefined && this.#random.oneIn(2) ? known : this.#random.below(4)
    const isDeleted = this.#random.oneIn(5)
    const recent = this.#recent.get(key)
    // A row that is among the entries is in segments before it is deleted or moves.
    if (recent !== undefined && (isDeleted || order !== known)) return
    this.#sequence += 1
    const sequence = recent?.sequence ?? this.#sequence
    const [text, mark] = [`text\n${this.#sequence}`, this.#random.below(9) - 4]
    this.rows = applied(this.rows, new Map([[`t/${key}`, isDeleted ? null : { text, order, mark }]]))
    const entry = isDeleted ? '' : `${order} ${mark} ${sequence} ${text}`
    this.#recent.set(key, { key, text: entry, sequence })
    changes.set(`t/${key}`, entry)
  }

  /** Rows that wait among the entries go to a segment, and a part of the index says where they are. */
  #flush(): void {
    if (this.#recent.size === 0) return
    const sorted = [...this.#recent.values()].sort((left, right) => left.sequence - right.sequence)
    const { segments, rows } = this.#writeRows(sorted.filter(({ text }) => text !== '').map(({ key }) => key))
    const deleted = sorted
      .filter(({ text }) => text === '')
      .map(({ key }) => ({ hash: hashOf(key), order: 0, segment: 0 }))
    const parts = [...this.#manifest.parts, this.#writePart([...rows, ...deleted])]
    this.#commit({ parts, segments: [...this.#manifest.segments, ...segments] })
  }

  /** All rows go to a new segment with one index. */
  #tidy(): void {
    this.#flush()
    if (this.rows.size === 0) return
    const before = this.#manifest
    const { segments, rows } = this.#writeRows([...this.rows.keys()].map(key => key.slice(2)))
    this.#commit({ parts: [this.#writePart(rows)], segments })
    // A crash may have kept what is no longer needed.
    if (this.#random.oneIn(2)) return
    for (const id of before.parts) this.#files.delete(pathOf(`i${nameOf(id)}`))
    for (const id of before.segments) this.#files.delete(pathOf(`s${nameOf(id)}`))
  }

  /** Some chunks become one; a crash may have kept them, and may have cut it short. */
  #merge(): void {
    if (this.#chunks.length < 2) return
    this.#files.delete(this.#cut)
    const at = this.#random.below(this.#chunks.length - 1)
    const merged = this.#chunks.splice(at, 2 + this.#random.below(3))
    const from = merged[0]?.from ?? 0
    const to = merged.at(-1)?.to ?? 0
    const changes = new Map(merged.flatMap(part => [...part.changes]))
    const isCut = this.#random.oneIn(4)
    this.#cut = isCut ? chunkPath(from, to) : ''
    if (isCut) this.#chunks.splice(at, 0, ...merged)
    else this.#chunks.splice(at, 0, { from, to, changes })
    this.#writeChunk({ from, to, changes }, isCut)
    if (isCut || this.#random.oneIn(2)) return
    for (const part of merged) this.#files.delete(chunkPath(part.from, part.to))
  }

  #append(changes: ReadonlyMap<string, string | null>): void {
    const number = (this.#chunks.at(-1)?.to ?? 0) + 1
    this.#chunks.push({ from: number, to: number, changes })
    this.#writeChunk({ from: number, to: number, changes }, false)
  }

  #writeChunk({ from, to, changes }: DrawnChunk, isCut: boolean): void {
    const middle = this.#random.below(changes.size + 1)
    const pairs = [...changes]
    const lines = [pairs.slice(0, middle), pairs.slice(middle)].map(line => Object.fromEntries(line))
    const [path, text] = chunk(from, to, ...lines)
    this.#files.set(path, isCut ? text.slice(0, this.#random.below(text.length)) : text)
  }

  #writeRows(keys: readonly string[]): { readonly segments: number[]; readonly rows: IndexRow[] } {
    if (keys.length === 0) return { segments: [], rows: [] }
    this.#lastFile += 1
    const id = this.#lastFile
    const rows = keys.map(key => ({ key, ...(this.rows.get(`t/${key}`) as Required<BulkChange>) }))
    rows.sort((left, right) => right.order - left.order)
    const length = 1 + this.#random.below(rows.length)
    const pieces = [rows.slice(0, length), rows.slice(length)].filter(piece => piece.length > 0)
    const [path, text] = segment('t/', id, ...pieces)
    this.#files.set(path, text)
    const placed = pieces.flatMap((inPiece, piece) =>
      inPiece.map(({ key, order }, slot) => ({ hash: hashOf(key), order, segment: id, piece, slot }))
    )
    return { segments: [id], rows: placed }
  }

  #writePart(rows: readonly IndexRow[]): number {
    this.#lastFile += 1
    const [path, text] = indexPart('t/', this.#lastFile, rows)
    this.#files.set(path, text)
    return this.#lastFile
  }

  #commit({ parts, segments }: { readonly parts: number[]; readonly segments: number[] }): void {
    this.#manifest = { parts, segments }
    const moved = [...this.#recent.keys()].map(key => [`t/${key}`, null] as const)
    this.#recent = new Map()
    this.#append(new Map([...moved, ['m/t/', manifest(parts, segments)]]))
  }
}

const hashOf = (key: string): number => Number(key.slice(1)) + 1

test('of an old store that was written, flushed, tidied and merged at random all that counts is read, in its order', async t => {
  const random = makeSeededRandom(drawSeed(t))
  for (let run = 0; run < 30; run += 1) {
    const drawn = new DrawnStore(random)
    for (let steps = random.below(40); steps >= 0; steps -= 1) drawn.step()
    const { contents, ...damage } = await readOld(drawn.files)
    const rows = [...drawn.rows] as [string, Required<BulkChange>][]
    t.deepEqual(damage, { isDamaged: false, damagedPaths: [] })
    t.deepEqual(
      contents.filter(([, change]) => typeof change !== 'string'),
      rows.sort(([, left], [, right]) => right.order - left.order)
    )
    t.deepEqual(contents.filter(([, change]) => typeof change === 'string').sort(), [...drawn.entries].sort())
  }
})
