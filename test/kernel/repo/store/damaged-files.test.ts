import test from 'ava'
import fc from 'fast-check'
import { WalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import type { BulkChange, BulkRow } from '../../../../kernel/repo/store/bulk.ts'
import { parseBulkPrefixes } from '../../../../kernel/repo/store/bulk-prefixes.ts'
import { openPagedStore } from '../../../../kernel/repo/store/open-paged-store.ts'
import type { PagedStore } from '../../../../kernel/repo/store/paged-store.ts'
import { drawSeed } from '../../../helpers/drawn-runs.ts'
import { makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

const io = makeRepoIo()
const folder = 'repos/r/store'

interface Opened {
  readonly store: PagedStore
  readonly reports: unknown[]
  readonly isTold: () => boolean
}

const open = async (files: Map<string, string>): Promise<Opened> => {
  const reports: unknown[] = []
  let isTold = false
  const disk = makeFaultDisk(files)
  const store = await openPagedStore(
    {
      ...{ io, disk, folder, key: new Secret(new Uint8Array(32).fill(7)) },
      ...{ bulk: parseBulkPrefixes(['t/', 'u/']), limits: { large: 600, gathered: 1500 } },
      report: error => reports.push(error),
      damaged: () => {
        isTold = true
      }
    },
    await disk.list(folder)
  )
  return { store, reports, isTold: () => isTold }
}

type Writes = readonly (readonly [number, number | null])[]

const change = fc.tuple(fc.nat({ max: 39 }), fc.option(fc.nat({ max: 4 }), { freq: 4 }))
const steps: fc.Arbitrary<(Writes | 'reopen')[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }) },
    { weight: 3, arbitrary: fc.array(change, { minLength: 12, maxLength: 30 }) },
    { weight: 1, arbitrary: fc.constant('reopen' as const) }
  ),
  { minLength: 3, maxLength: 25, size: 'max' }
)

/** What a table was told: every row that it ever had, and those that it has. */
interface Told {
  readonly files: Map<string, string>
  readonly ever: ReadonlySet<string>
  readonly present: ReadonlyMap<string, string>
}

const tell = async (story: readonly (Writes | 'reopen')[]): Promise<Told> => {
  const files = new Map<string, string>()
  const ever = new Set<string>()
  const present = new Map<string, string>()
  let { store } = await open(files)
  let mark = 0
  for (const step of story) {
    if (step === 'reopen') {
      await store.close()
      store = (await open(files)).store
      continue
    }
    const changes = new Map<string, BulkChange | null>()
    for (const [number, rank] of step) {
      mark += 1
      const row = { text: `${mark} ${'x'.repeat(50)}`, order: (rank ?? 0) * 100 + number, mark }
      changes.set(`t/${number}`, rank === null ? null : row)
    }
    await store.write(changes)
    for (const [name, row] of changes) {
      if (row === null) present.delete(name.slice(2))
      else present.set(name.slice(2), JSON.stringify({ key: name.slice(2), ...row }))
      if (row !== null) ever.add(JSON.stringify({ key: name.slice(2), ...row }))
    }
  }
  await store.close()
  return { files, ever, present }
}

const rowsOf = async ({ store }: Opened): Promise<Map<string, string>> => {
  const table = store.table('t/')
  const rows = await table.page(0, 99)
  const scanned: BulkRow[] = []
  for await (const batch of table.scan()) scanned.push(...batch)
  if (scanned.length !== rows.length) throw new Error('A scan and a page differ')
  return new Map(rows.map(row => [row.key, JSON.stringify(row)]))
}

const DAMAGES: ((text: string) => string | undefined)[] = [
  () => undefined,
  () => 'rubbish',
  text => text.slice(0, text.length / 2),
  text =>
    `${text.slice(0, text.length * 0.7)}${text[Math.floor(text.length * 0.7)] === 'A' ? 'B' : 'A'}${text.slice(text.length * 0.7 + 1)}`
]

test('tables that nobody reads after the last entries were lost are there at the next opening, too', async t => {
  const rowsAt = (prefix: string, from: number, text: string): [string, BulkChange][] =>
    Array.from({ length: 30 }, (_, i) => [
      `${prefix}${from + i}`,
      { text: `${text} ${from + i}`.padEnd(60), order: i, mark: 0 }
    ])
  const files = new Map<string, string>()
  const first = (await open(files)).store
  await first.write(new Map([...rowsAt('t/', 0, 'old'), ...rowsAt('u/', 0, 'old')]))
  await first.close()
  const before = new Map(files)
  // Each row is written again, so that the first segments go.
  const second = (await open(files)).store
  await second.write(new Map([...rowsAt('t/', 0, 'new'), ...rowsAt('u/', 0, 'new')]))
  await second.close()
  const isEntries = (name: string): boolean => /\/\d{12}-\d{12}$/.test(name)
  const newer = [...files].filter(([name]) => !isEntries(name))
  const older = [...before].filter(([name]) => isEntries(name))
  // One that a crash kept from going has no row that counts any more.
  const spare = [...before].filter(([name]) => /\/s\d+$/.test(name)).slice(0, 1)
  for (const lost of [new Map([...newer, ...older]), new Map([...spare, ...newer, ...older])]) {
    const expected = await rowsOf(await open(new Map(lost)))
    t.is(expected.size, 30)
    for (const row of expected.values()) t.true(row.includes('new'))

    const damaged = await open(lost)
    t.true(damaged.isTold())
    t.is(damaged.reports.length, 1)
    // Nothing reads a row; a small write is noted meanwhile.
    await damaged.store.write(new Map([['entry', 'text']]))
    await damaged.store.close()
    for (let opening = 0; opening < 2; opening += 1) {
      const again = await open(lost)
      t.deepEqual(again.reports, [])
      t.deepEqual(await rowsOf(again), expected)
      await again.store.close()
    }
  }
})

test('a table whose files are gone with the last entries is empty from then on, and its loss is reported once', async t => {
  const rowsAt = (prefix: string, text: string): [string, BulkChange][] =>
    Array.from({ length: 30 }, (_, i) => [
      `${prefix}${i}`,
      { text: `${text} ${i}`.padEnd(60), order: i, mark: 0 }
    ])
  const files = new Map<string, string>()
  const first = (await open(files)).store
  await first.write(new Map(rowsAt('t/', 'old')))
  await first.close()
  const before = new Map(files)
  const second = (await open(files)).store
  await second.write(new Map(rowsAt('u/', 'gone')))
  await second.close()
  const withBoth = new Map(files)
  const third = (await open(files)).store
  await third.write(new Map(rowsAt('t/', 'new')))
  await third.close()
  const isEntries = (name: string): boolean => /\/\d{12}-\d{12}$/.test(name)
  const lost = new Map([...withBoth].filter(([name]) => isEntries(name)))
  // Of the other table neither segments nor index are left, though the older entries name them.
  for (const [name, text] of files)
    if (!isEntries(name) && (before.has(name) || !withBoth.has(name))) lost.set(name, text)

  const damaged = await open(lost)
  t.is(await damaged.store.table('u/').count(), 0)
  t.true(damaged.isTold())
  await damaged.store.close()
  const again = await open(lost)
  t.is(await again.store.table('u/').count(), 0)
  t.is(await again.store.table('t/').count(), 30)
  t.deepEqual(again.reports, [])
  t.false(again.isTold())
  await again.store.close()
})

test('a merge of entries that a crash tore beside all that it was made of is reported, and no loss', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  for (const name of ['a', 'b', 'c']) await store.write(new Map([[name, name]]))
  files.set(`${folder}/000000000001-000000000003`, 'torn')
  const again = await open(files)
  t.deepEqual([...again.store.entries('')].sort(), [...'abc'].map(name => [name, name]) as never)
  t.is(again.reports.length, 1)
  t.false(again.isTold())
  await again.store.close()
  const third = await open(files)
  t.deepEqual(third.reports, [])
  t.false(third.isTold())
})

test('a file of entries that the disk itself calls damaged is reported, and the store opens', async t => {
  const files = new Map<string, string>()
  const { store } = await open(files)
  await store.write(new Map([['entry', 'text']]))
  await store.close()
  const reports: unknown[] = []
  const disk = makeFaultDisk(files)
  const torn = new WalletError('CORRUPT_FILE', { path: 'any', rule: 'is torn' })
  const place = { io, folder, key: new Secret(new Uint8Array(32).fill(7)), bulk: parseBulkPrefixes(['t/']) }
  const failing = { ...disk, getText: () => Promise.reject(torn) }
  const report = (error: unknown): void => void reports.push(error)
  const opened = await openPagedStore({ ...place, disk: failing, report }, await disk.list(folder))
  t.is(opened.get('entry'), undefined)
  t.true(reports.includes(torn))
  await opened.close()
  const broken = { ...disk, getText: () => Promise.reject(new Error('no disk')) }
  await t.throwsAsync(openPagedStore({ ...place, disk: broken, report }, await disk.list(folder)), {
    message: 'no disk'
  })
})

test('a crash while tables are put in order after a loss costs no row of any table, also of one that no entry names', async t => {
  const rowsAt = (prefix: string, text: string): [string, BulkChange][] =>
    Array.from({ length: 30 }, (_, i) => [
      `${prefix}${i}`,
      { text: `${text} ${i}`.padEnd(60), order: i, mark: 0 }
    ])
  // Whichever of them is put in order first.
  for (const [named, unnamed, isApart] of [
    ['t/', 'u/', false],
    ['u/', 't/', false],
    ['t/', 'u/', true],
    ['u/', 't/', true]
  ] as const) {
    const files = new Map<string, string>()
    const first = (await open(files)).store
    await first.write(new Map(rowsAt(named, 'old')))
    await first.close()
    const before = new Map(files)
    const second = (await open(files)).store
    await second.write(new Map([...rowsAt(named, 'new'), ...(isApart ? [] : rowsAt(unnamed, 'only'))]))
    await second.close()
    const third = (await open(files)).store
    if (isApart) await third.write(new Map(rowsAt(unnamed, 'only')))
    await third.close()
    const isEntries = (name: string): boolean => /\/\d{12}-\d{12}$/.test(name)
    const lost = new Map([...files].filter(([name]) => !isEntries(name)))
    for (const [name, text] of before) if (isEntries(name)) lost.set(name, text)

    const textsOf = async ({ store }: Opened): Promise<readonly string[][]> =>
      Promise.all(
        [named, unnamed].map(async prefix =>
          (await store.table(prefix).page(0, 99)).map(({ text }) => text.trim()).sort()
        )
      )
    const expected = await textsOf(await open(new Map(lost)))
    t.deepEqual(
      expected.map(texts => [texts.length, texts[0]]),
      [
        [30, 'new 0'],
        [30, 'only 0']
      ]
    )
    let crashes = 0
    for (let at = 1; at <= 12; at += 1) {
      const torn = new Map(lost)
      const disk = makeFaultDisk(torn, { at, kind: 'lost' })
      const place = { io, disk, folder, key: new Secret(new Uint8Array(32).fill(7)), report: () => {} }
      const bulk = parseBulkPrefixes(['t/', 'u/'])
      await openPagedStore(
        { ...place, bulk, limits: { large: 600, gathered: 1500 } },
        await disk.list(folder)
      )
        .then(store => store.close())
        .catch(() => {})
      if (disk.hasFired) crashes += 1
      t.deepEqual(await textsOf(await open(torn)), expected, `a crash at write ${at}`)
    }
    t.true(crashes > 3, `${crashes} crashes`)
  }
})

test('one damaged or missing file invents no data, is reported if data is lost, and is repaired by the next opening', async t => {
  const story = async (
    list: readonly (Writes | 'reopen')[],
    choice: number,
    damage: (text: string) => string | undefined
  ): Promise<void> => {
    const { files, ever, present } = await tell(list)
    const names = [...files.keys()].filter(name => name.startsWith(folder)).sort()
    const name = names[choice % names.length]
    if (name === undefined) return
    const text = damage(files.get(name) ?? '')
    if (text === undefined) files.delete(name)
    else files.set(name, text)
    const opened = await open(files)
    const rows = await rowsOf(opened)
    for (const row of rows.values()) t.true(ever.has(row), 'every row was written once')
    const isLost = [...present].filter(([key, row]) => rows.get(key) !== row)
    // Entries are the only ones to tell of the newest rows: without the last of them there is nothing to notice it by.
    const isEntries = /\/\d{12}-\d{12}$/.test(name)
    if (!(isEntries && text === undefined))
      t.true(isLost.length === 0 || opened.isTold(), `${name} ${isLost}`)
    if (name.startsWith(`${folder}/i`)) t.deepEqual(isLost, [], 'an index can be made anew')
    if (name.startsWith(`${folder}/s`))
      for (const key of rows.keys()) t.true(present.has(key), 'none comes back')
    await opened.store.close()
    const again = await open(files)
    t.deepEqual(await rowsOf(again), rows)
    t.deepEqual(again.reports, [])
    await again.store.close()
  }
  await fc.assert(fc.asyncProperty(steps, fc.nat(), fc.constantFrom(...DAMAGES), story), {
    numRuns: 200,
    seed: drawSeed(t)
  })
})
