import { readFileSync } from 'node:fs'
import test from 'ava'
import { mapStore } from '../../../../examples/map-store.ts'
import { isWalletError, WalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import { sealPacked, sealText } from '../../../../kernel/crypto/box.ts'
import { utf8Of } from '../../../../kernel/crypto/encoding.ts'
import { parseBulkPrefixes } from '../../../../kernel/repo/store/bulk.ts'
import { type OldContents, readOldStore } from '../../../../kernel/repo/store/old-layout.ts'
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
    await open(files, makeFaultDisk(files, { at, kind: 'late' })).catch(() => {})
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
    't/r1': '5 7 1 recent\nfirst',
    't/r2': '5 8 2 recent second',
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
    await open(files, makeFaultDisk(files, { at, kind: 'lost' })).catch(() => {})
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
