import test from 'ava'
import fc from 'fast-check'
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
