import test from 'ava'
import { WalletError } from '../../../../kernel/base/errors.ts'
import { Secret } from '../../../../kernel/base/secret.ts'
import type { Disk } from '../../../../kernel/io/disk.ts'
import type { BulkRow } from '../../../../kernel/repo/store/bulk.ts'
import { HEAD, parseEnds } from '../../../../kernel/repo/store/segment.ts'
import { TableFiles } from '../../../../kernel/repo/store/table-files.ts'
import { makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

const FOLDER = 'repos/r/store'
const io = makeRepoIo()

const pathOf = (kind: 's' | 'i', id: number): string => `${FOLDER}/${kind}${String(id).padStart(12, '0')}`

const rowsOf = (count: number): BulkRow[] =>
  Array.from({ length: count }, (_, n) => ({ key: `${n}`, text: `${n}`.repeat(40), order: -n, mark: n }))

const open = async (
  files: Map<string, string>,
  named: readonly number[] = [],
  disk: Disk = makeFaultDisk(files)
) => {
  const reports: { readonly code?: string }[] = []
  let tellings = 0
  const place = {
    ...{ io, disk, folder: FOLDER, key: new Secret(new Uint8Array(32).fill(7)) },
    report: (error: unknown): void => void reports.push(error as { code?: string }),
    damaged: (): void => {
      tellings += 1
    }
  }
  const paths = [...files.keys()].filter(path => path.startsWith(FOLDER))
  return { tables: new TableFiles(place, paths, new Set(named)), reports, tellings: () => tellings }
}

/** A segment whose piece of this number does not open. */
const spoilt = (text: string, piece: number): string => {
  const at = (parseEnds(text.slice(0, HEAD))?.[piece] ?? 0) - 10
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
}

test('the number of a file, or one that a manifest names, is never used again', async t => {
  for (const [found, named, next] of [
    [[], [], 1],
    [[pathOf('s', 7)], [], 8],
    [[pathOf('s', 7), pathOf('i', 3)], [], 8],
    [[pathOf('i', 7)], [], 8],
    [[pathOf('s', 3)], [9], 10],
    [[pathOf('s', 3)], [9, 2], 10],
    [[pathOf('s', 12)], [9], 13],
    [[`${FOLDER}/s12`, `${FOLDER}/m000000000012`, `${FOLDER}/s0000000000120`], [], 1]
  ] as const) {
    const files = new Map<string, string>(found.map(path => [path, '']))
    const { tables } = await open(files, named)
    const { segments } = await tables.writeRows('t/', rowsOf(3))
    t.deepEqual(segments, [[next, 3]])
    t.true(files.has(pathOf('s', next)))
    const again = await tables.writeRows('t/', rowsOf(1))
    t.deepEqual(again.segments, [[next + 1, 1]])
  }
})

test('only unnamed files next to missing named ones show a loss', async t => {
  const files = new Map([4, 5].map(id => [pathOf('s', id), '']))
  for (const [named, isLoss] of [
    [[4, 5], false],
    [[4], false],
    [[], false],
    [[4, 5, 6], false],
    [[4, 6], true],
    [[6], true]
  ] as const) {
    const { tables } = await open(files)
    t.is(tables.tellOfLoss(new Set(named)), isLoss, named.join())
  }
})

test('only unnamed files are removed', async t => {
  const paths = [pathOf('s', 1), pathOf('i', 2), pathOf('s', 3), pathOf('i', 4), `${FOLDER}/other`]
  const files = new Map(paths.map(path => [path, '']))
  const { tables } = await open(files)
  await tables.removeSpare(new Set([1, 2]))
  t.deepEqual([...files.keys()], [pathOf('s', 1), pathOf('i', 2), `${FOLDER}/other`])
})

test('any block that opens assigns a file to its table, and a file without such a block belongs to none', async t => {
  const files = new Map<string, string>()
  const { tables } = await open(files)
  const large = Array.from({ length: 40 }, (_, n) => ({
    key: `${n}`,
    text: 'x'.repeat(20_000),
    order: -n,
    mark: n
  }))
  const { segments: parts, place, slot } = await tables.writeRows('t/', large)
  const [[id = 0] = []] = parts
  const other = await tables.writeRows('u/', rowsOf(2))
  const [[otherId = 0] = []] = other.segments
  const text = files.get(pathOf('s', id)) ?? ''
  const pieces = parseEnds(text.slice(0, HEAD))?.length ?? 0
  t.true(pieces > 2)
  t.deepEqual([place.length, slot.length], [40, 40])
  const survey = async (): Promise<unknown> => Object.fromEntries(await (await open(files)).tables.survey())
  const ofTables = (...ids: readonly number[]): unknown => ({ segments: ids, parts: [] })
  t.deepEqual(await survey(), { 't/': ofTables(...parts.map(([one]) => one)), 'u/': ofTables(otherId) })
  const rest = parts.slice(1).map(([one]) => one)
  files.set(pathOf('s', id), spoilt(text, 0))
  t.deepEqual(await survey(), { 't/': ofTables(id, ...rest), 'u/': ofTables(otherId) })
  const allBut = (whole: number): string =>
    Array.from({ length: pieces }, (_, piece) => piece)
      .filter(piece => piece !== whole)
      .reduce(spoilt, text)
  for (let whole = 0; whole < pieces; whole += 1) {
    files.set(pathOf('s', id), allBut(whole))
    t.deepEqual(await survey(), { 't/': ofTables(id, ...rest), 'u/': ofTables(otherId) }, `piece ${whole}`)
  }
  files.set(pathOf('s', id), allBut(pieces))
  t.deepEqual(await survey(), {
    ...(rest.length > 0 && { 't/': ofTables(...rest) }),
    'u/': ofTables(otherId)
  })
  files.set(pathOf('s', id), 'rubbish')
  t.is(await (await open(files)).tables.countPieces(id), 0)
})

test('a damaged or missing file is reported once, whichever part is read, and kept in quarantine', async t => {
  const files = new Map<string, string>()
  const written = await open(files)
  const { segments } = await written.tables.writeRows('t/', rowsOf(5))
  const [[id = 0] = []] = segments
  files.set(pathOf('s', id), spoilt(files.get(pathOf('s', id)) ?? '', 0))
  for (const code of ['CORRUPT_FILE']) {
    const { tables, reports, tellings } = await open(files)
    t.is(await tables.readPiece({ table: 't/', segment: id, piece: 0 }), undefined)
    t.is(await tables.readPiece({ table: 't/', segment: id, piece: 1 }), undefined)
    t.is(await tables.readPart('t/', 99), undefined)
    t.deepEqual(
      reports.map(report => report.code),
      [code, code]
    )
    t.is(tellings(), 2)
  }
  t.is([...files.keys()].filter(path => !path.startsWith(FOLDER)).length, 1)
})

test('a failed write of rows leaves no file', async t => {
  const files = new Map<string, string>([[pathOf('s', 1), '']])
  const disk = makeFaultDisk(files)
  const { tables } = await open(files, [], disk)
  const large = Array.from({ length: 100 }, (_, n) => ({
    key: `${n}`,
    text: 'x'.repeat(60_000),
    order: -n,
    mark: n
  }))
  disk.strike({ at: 2, kind: 'full' })
  await t.throwsAsync(tables.writeRows('t/', large), { code: 'STORAGE_FULL' })
  t.true(disk.hasFired)
  t.deepEqual([...files.keys()], [pathOf('s', 1)])
})

test('a file that the disk finds damaged is reported once, whatever is read of it', async t => {
  const files = new Map<string, string>()
  const { segments } = await (await open(files)).tables.writeRows('t/', rowsOf(5))
  const [[id = 0] = []] = segments
  const whole = makeFaultDisk(files)
  const damage = (path: string): Promise<never> =>
    Promise.reject(new WalletError('CORRUPT_FILE', { path, rule: 'it is half a file' }))
  const disk: Disk = { ...whole, getText: damage, ...(whole.getSlice && { getSlice: damage }) }
  const { tables, reports, tellings } = await open(files, [], disk)
  for (const piece of [0, 0, 1]) t.is(await tables.readPiece({ table: 't/', segment: id, piece }), undefined)
  t.deepEqual(await tables.survey(), new Map())
  t.deepEqual([reports.length, tellings()], [1, 1])
})

test('of a write that fails while its segments are on their way nothing is left, and no failure is unhandled', async t => {
  const unhandled: unknown[] = []
  const note = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const turns = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn += 1) await io.clock.turn()
  }
  const texts = (last: string): BulkRow[] =>
    [...Array.from({ length: 100 }, () => 'x'.repeat(60_000)), last].map((text, n) => ({
      ...{ key: `${n}`, text, order: -n, mark: n }
    }))
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const failing = { ...disk, setText: () => Promise.reject(new WalletError('STORAGE_FULL', { path: 's' })) }
  const full = (await open(files, [], failing)).tables
  await t.throwsAsync(full.writeRows('t/', texts('last')), { code: 'STORAGE_FULL' })
  await turns(5)
  t.deepEqual(unhandled, [])
  const setText: Disk['setText'] = async (path, text) => {
    await turns(200)
    await disk.setText(path, text)
  }
  const slow = (await open(files, [], { ...disk, setText })).tables
  await t.throwsAsync(slow.writeRows('t/', texts('\ud800')), { code: 'STORAGE_FAILED' })
  await turns(400)
  t.deepEqual([...files.keys()], [])
})
