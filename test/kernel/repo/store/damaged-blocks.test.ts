import test, { type ExecutionContext } from 'ava'
import { isWalletError } from '../../../../kernel/base/errors.ts'
import { makeHeadColumns } from '../../../../kernel/repo/store/block.ts'
import { type BulkChange, textIn } from '../../../../kernel/repo/store/bulk.ts'
import { RowIndex } from '../../../../kernel/repo/store/row-index.ts'
import type { StoreContents } from '../../../../kernel/repo/store/sealed-store.ts'
import { openLogStore } from '../../../../kernel/store/log-store.ts'
import { bodiesIn, damageValue, valuesIn } from '../../../helpers/damaged-log.ts'
import { passWalletError } from '../../../helpers/drawn-runs.ts'
import { makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'
import { type OpenedStore, openTestStore as open, rowsOf } from '../../../helpers/sealed-store.ts'

interface World {
  readonly files: Map<string, string>
  /** Every text that a key ever had. */
  readonly ever: ReadonlyMap<string, ReadonlySet<string>>
  readonly present: StoreContents
}

/** A store of several writes: rows that are edited, moved and deleted, and entries. */
const makeWorld = async (): Promise<World> => {
  const written = new Map<string, string>()
  const { store } = await open(written)
  const ever = new Map<string, Set<string>>()
  const write = async (changes: Map<string, string | BulkChange | null>): Promise<void> => {
    for (const [key, change] of changes)
      if (change !== null) ever.set(key, (ever.get(key) ?? new Set()).add(textIn(change) ?? ''))
    await store.write(changes)
  }
  await write(new Map<string, string | BulkChange>([...rowsOf(20), ['e1', 'one'], ['e2', 'two']]))
  await write(new Map<string, string | BulkChange>([...rowsOf(3, 4, 'edited'), ['e1', 'uno']]))
  await write(
    new Map<string, string | BulkChange | null>([
      ['t/k7', null],
      ['u/a/x', { text: 'x', order: 3 }]
    ])
  )
  await write(new Map<string, string | BulkChange | null>([...rowsOf(12, 30), ['e2', null], ['e3', 'three']]))
  const present = await store.contents()
  // A store that is closed is one file.
  const files = new Map(written)
  await store.close()
  return { files, ever, present }
}

const spelt = (contents: StoreContents): string[] =>
  contents
    .filter(([key]) => key !== 'damaged')
    .map(entry => JSON.stringify(entry))
    .sort()

const check = async (
  t: ExecutionContext,
  { files, ever, present }: World,
  what: string
): Promise<boolean> => {
  const damaged = await open(files)
  // Whoever reads nothing finds no damage to rows.
  const found = await damaged.store.contents()
  for (const [key, change] of found)
    if (key !== 'damaged')
      t.true(ever.get(key)?.has(textIn(change) ?? ''), `${what}: ${key} was never ${textIn(change)}`)
  const isWhole = spelt(found).join() === spelt(present).join()
  t.true(isWhole || damaged.reports.length > 0, `${what}: what is lost is reported`)
  await damaged.store.write(new Map([['later', 'text']]))
  if (!isWhole) t.is(damaged.store.get('damaged'), 'yes', `${what}: what is lost is noted`)
  const kept = spelt((await damaged.store.contents()).filter(([key]) => key !== 'later'))
  await damaged.store.close()
  const again = await open(files)
  t.deepEqual(
    spelt((await again.store.contents()).filter(([key]) => key !== 'later')),
    kept,
    `${what}: the next opening reads the same`
  )
  t.deepEqual(again.reports, [], `${what}: damage is reported once`)
  await again.store.close()
  return !isWhole
}

test('one damaged value invents no data, is reported and noted if data is lost, and the next opening is clean', async t => {
  const world = await makeWorld()
  let lost = 0
  for (const value of valuesIn(world.files)) {
    const files = new Map(world.files)
    damageValue(files, value)
    lost += Number(await check(t, { ...world, files }, `${value.part} in ${value.path} from ${value.start}`))
  }
  t.true(lost > 8, String(lost))
})

const DAMAGES: readonly ((text: string) => string | undefined)[] = [
  () => undefined,
  () => 'rubbish',
  text => text.slice(0, text.length / 2),
  text => `${text.slice(0, 120)}${text[120] === 'A' ? 'B' : 'A'}${text.slice(121)}`
]

test('one damaged or missing file of the log invents no data, is reported and noted if data is lost, and the next opening is clean', async t => {
  const world = await makeWorld()
  // A store does not know of a last file that is gone.
  const paths = [...world.files.keys()].sort()
  for (const path of paths.slice(0, -1)) {
    for (const [i, damage] of DAMAGES.entries()) {
      const files = new Map(world.files)
      const text = damage(files.get(path) ?? '')
      if (text === undefined) files.delete(path)
      else files.set(path, text)
      await check(t, { ...world, files }, `damage ${i} of ${path}`)
    }
  }
  t.true(paths.length > 2)
})

test('at every crash point of the repair of a log with a missing file, the next opening notes the loss', async t => {
  const { files: whole } = await makeWorld()
  const [, missing = ''] = [...whole.keys()].sort()
  const run = async (files: Map<string, string>, disk = makeFaultDisk(files)): Promise<number> => {
    const opened = await open(files, disk).catch(passWalletError)
    await opened?.store.write(new Map([['later', 'text']])).catch(passWalletError)
    await opened?.store.close().catch(passWalletError)
    return disk.writeCount
  }
  const damagedFiles = (): Map<string, string> => new Map([...whole].filter(([path]) => path !== missing))
  const writes = await run(damagedFiles())
  for (const kind of ['lost', 'late'] as const) {
    for (let at = 1; at <= writes; at += 1) {
      const files = damagedFiles()
      await run(files, makeFaultDisk(files, { at, kind }))
      const { store } = await open(files)
      t.is(store.get('damaged'), 'yes', `${kind} at write ${at}`)
    }
  }
  t.true(writes > 1)
})

test('what notes damage that a read has found is written with the next write, and the rows are gone then', async t => {
  const { files } = await makeWorld()
  const [body] = bodiesIn(files)
  if (body === undefined) throw new Error('There should be a block')
  damageValue(files, body)
  const isNoted = async (): Promise<boolean> => (await open(files)).store.get('damaged') === 'yes'
  const { store, table, reports } = await open(files)
  t.false(await isNoted())
  const before = await table.count()
  t.true((await table.page(0, 99)).length < before)
  await store.write(new Map())
  t.true(await isNoted())
  t.true((await table.count()) < before)
  t.true(reports.every(report => isWalletError(report, 'CORRUPT_FILE')))
})

test('with a damaged head its body goes, too, and a row in two heads is where the later one has it', async t => {
  const { files } = await makeWorld()
  const head = valuesIn(files).find(({ part }) => part === 'head')
  if (head === undefined) throw new Error('There should be a head')
  damageValue(files, head)
  const { store, table } = await open(files)
  await table.count()
  await store.write(new Map([['later', 'text']]))
  await store.close()
  const again = await open(files)
  const bodyKey = `${head.key.slice(0, 8)}\u0001${head.key.slice(9)}`
  const living = new Set((await again.store.contents()).map(([key]) => key))
  t.true(living.size > 10)
  // Written after the body that it takes away.
  const { crypto } = makeRepoIo()
  const log = await openLogStore({
    ...{ disk: makeFaultDisk(files), folder: 'repos/r/log', crypto, clock: makeRepoIo().clock },
    ...{ report: () => {}, onLoss: () => {} }
  })
  const [body] = await log.getMany([Uint8Array.from(bodyKey, letter => letter.charCodeAt(0))])
  t.is(body, undefined)

  const columnsOf = (low: number, mark: number) => {
    const columns = makeHeadColumns(1)
    columns.low[0] = low
    columns.mark[0] = mark
    return columns
  }
  const heads = [1, 2, 3].map(block => ({
    ...{ table: 't/', block, count: 1, total: 1, size: 1, isSearchable: false },
    columns: columnsOf(block === 2 ? 8 : 7, block)
  }))
  const index = new RowIndex(() => [7, 0], heads)
  t.is(index.count, 2)
  const { block, mark } = index.at(index.find([7, 0]))
  t.deepEqual([block, mark], [3, 3])
})

test('reading a block after its key was destroyed is a failure, not damage', async t => {
  const { files } = await makeWorld()
  const opened: OpenedStore = await open(files)
  t.is(await opened.table.get('k1'), `1 ${'x'.repeat(60)}`)
  opened.key.destroy()
  await t.throwsAsync(opened.table.get('k31'), { instanceOf: TypeError })
  t.deepEqual(opened.reports, [])
})
