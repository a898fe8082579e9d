import test from 'ava'
import { Secret } from '../../../../kernel/base/secret.ts'
import type { BulkRow } from '../../../../kernel/repo/store/bulk.ts'
import { wornOf } from '../../../../kernel/repo/store/index-columns.ts'
import { TableBack } from '../../../../kernel/repo/store/table-back.ts'
import { TableFiles } from '../../../../kernel/repo/store/table-files.ts'
import type { TableManifest } from '../../../../kernel/repo/store/table-manifest.ts'
import { makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

const FOLDER = 'repos/r/store'
const io = makeRepoIo()

const rowsOf = (from: number, count: number): BulkRow[] =>
  Array.from({ length: count }, (_, n) => ({
    key: `${from + n}`,
    text: `row ${from + n}`,
    order: 0,
    mark: n
  }))

/** Opens one table of a disk, as a store does. */
const openBack = (
  files: Map<string, string>,
  manifest: TableManifest | undefined,
  isSuspect: boolean = false
): { back: TableBack; signals: () => number } => {
  let signals = 0
  const disk = makeFaultDisk(files)
  const place = { io, disk, folder: FOLDER, key: new Secret(new Uint8Array(32).fill(7)), report: () => {} }
  const named = [...(manifest?.segments ?? []), ...(manifest?.parts ?? [])].map(([id]) => id)
  const wantsTidying = (): void => {
    signals += 1
  }
  const tables = new TableFiles(place, [...files.keys()], new Set(named))
  return {
    back: new TableBack({ prefix: 't/', crypto: place, files: tables, manifest, isSuspect, wantsTidying }),
    signals: () => signals
  }
}

const findKeys = async (back: TableBack, keys: readonly string[]): Promise<string[]> => {
  const index = await back.index()
  return keys.filter(key => index.find(back.hashOf(key)) >= 0)
}

test('a table whose index was damaged wants tidying until its rebuilt index is on the disk', async t => {
  const files = new Map<string, string>()
  const first = openBack(files, undefined).back
  t.true(first.isEmpty)
  const { manifest } = await first.stage(rowsOf(1, 3), [])
  for (const path of files.keys()) if (/\/i\d{12}$/.test(path)) files.set(path, 'rubbish')

  const { back, signals } = openBack(files, manifest)
  t.false(back.isUntidy, 'nothing is known before the index is read')
  t.deepEqual(await findKeys(back, ['1', '2', '3', '4']), ['1', '2', '3'])
  t.true(back.isUntidy)
  t.true(signals() > 0)
  // A write beside it leaves the damaged part in the manifest.
  back.adopt(await back.stage(rowsOf(4, 1), ['2']))
  t.true(back.isUntidy)
  t.deepEqual(await findKeys(back, ['1', '2', '3', '4']), ['1', '3', '4'])
  const tidied = await back.tidy()
  t.true(back.isUntidy, 'a change that is not committed puts nothing in order')
  back.adopt(tidied)
  t.false(back.isUntidy)
  const again = openBack(files, tidied.manifest)
  t.deepEqual(await findKeys(again.back, ['1', '2', '3', '4']), ['1', '3', '4'])
  t.false(again.back.isUntidy)
  t.is(again.signals(), 0)
})

test('a table whose manifest cannot be trusted is read from its segments, and wants tidying from the start', async t => {
  const files = new Map<string, string>()
  const first = openBack(files, undefined).back
  const { manifest } = await first.stage(rowsOf(1, 3), [])
  t.true(openBack(files, manifest, true).back.isUntidy)
  t.false(openBack(files, undefined, true).back.isUntidy, 'a table without files has nothing to put in order')
})

test('tidying keeps how many rows a segment was written with, and counts those of one that damage left uncounted', async t => {
  const files = new Map<string, string>()
  const first = openBack(files, undefined).back
  const { manifest } = await first.stage(rowsOf(1, 10), [])
  const [[segment] = [0, 0]] = manifest?.segments ?? []
  for (const [rows, kept] of [
    [10, 10],
    [0, 6]
  ] as const) {
    const { back } = openBack(files, manifest && { ...manifest, segments: [[segment, rows]] })
    back.adopt(await back.stage([], ['1', '2', '3', '4']))
    t.deepEqual((await back.tidy()).manifest?.segments, [[segment, kept]])
  }
})

test('segments are written elsewhere when less than half of their rows are alive, or when eight are small', t => {
  const small = (count: number): [number, number][] => Array.from({ length: count }, (_, n) => [n + 1, 127])
  const alive = (segments: readonly (readonly [number, number])[]): Map<number, number> => new Map(segments)
  t.deepEqual(wornOf(new Map([[1, 100]]), [[1, 200]]), [], 'half is enough')
  t.deepEqual(wornOf(new Map([[1, 99]]), [[1, 200]]), [1])
  t.deepEqual(wornOf(new Map(), [[1, 200]]), [1], 'no row is alive')
  t.deepEqual(wornOf(alive(small(7)), small(7)), [])
  t.deepEqual(
    wornOf(alive(small(8)), small(8)),
    small(8).map(([id]) => id)
  )
  const large: [number, number][] = small(8).map(([id]) => [id, 128])
  t.deepEqual(wornOf(alive(large), large), [])
})

test('a table with a damaged segment wants tidying until the segment is gone, whatever is written beside it', async t => {
  const files = new Map<string, string>()
  const { manifest } = await openBack(files, undefined).back.stage(rowsOf(1, 3), [])
  for (const path of files.keys()) if (/\/s\d{12}$/.test(path)) files.set(path, 'rubbish')
  const { back, signals } = openBack(files, manifest)
  const { place } = (await back.index()).columns
  t.is(await back.reading(() => back.pieceAt(place[0] ?? 0)), undefined)
  t.true(back.isUntidy && signals() > 0)
  back.adopt(await back.stage(rowsOf(4, 1), []))
  t.true(back.isUntidy)
  back.adopt(await back.tidy())
  t.false(back.isUntidy)
})
