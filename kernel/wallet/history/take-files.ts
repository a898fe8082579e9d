import type { Repo } from '../../sync/repo.ts'
import { type HistoryFiles, isLegacy } from './history-files.ts'
import { EMPTY_ROW, type HistoryRow, parseRow } from './history-row.ts'
import type { HistoryRows, RowChange } from './history-rows.ts'
import { LEGACY_FOLDER } from './legacy-file.ts'
import { keptFileOf, parseTransactionFilePath } from './transaction-file.ts'

/** What changed files are taken into. */
export interface FilePlace {
  readonly repo: Pick<Repo, 'has'>
  readonly rows: HistoryRows
  readonly files: HistoryFiles
  breathe(): Promise<void> | undefined
}

/** The rows that follow from changed files, some at a time; each lot is to be written before the next is asked for. */
export async function* takeFiles(
  place: FilePlace,
  paths: readonly string[]
): AsyncGenerator<ReadonlyMap<string, RowChange>> {
  const keys = [...(await keysOfFiles(place, paths))]
  for (let start = 0; start < keys.length; start += SLICE) {
    yield await takeSome(place, new Map(keys.slice(start, start + SLICE)))
  }
}

const SLICE = 1000

/** Which row each of some changed files belongs to: paths by key. Files of no transaction are left out. */
const keysOfFiles = async (place: FilePlace, paths: readonly string[]): Promise<Map<string, string[]>> => {
  const keys = new Map<string, string[]>()
  const add = (key: string, path: string): void => {
    const known = keys.get(key)
    if (known === undefined) keys.set(key, [path])
    else known.push(path)
  }
  const gone = new Set<string>()
  let hashes: readonly (string | undefined)[] = []
  for (const [index, path] of paths.entries()) {
    if (index % SLICE === 0) hashes = await place.files.hashesOf(paths.slice(index, index + SLICE))
    const key = hashes[index % SLICE]
    if (key !== undefined) add(key, path)
    else if (isLegacy(path) && !(await place.repo.has(path))) gone.add(path)
    await place.breathe()
  }
  if (gone.size > 0) for (const [owner, path] of await ownersOf(place, gone)) add(owner, path)
  return keys
}

/**
 * The rows after some of their files changed. Of a transaction that the engine has not told, only the paths are
 * kept: its files are opened when it is told.
 *
 * @param changed - paths by key, as {@link keysOfFiles} gives them
 */
const takeSome = async (
  place: FilePlace,
  changed: ReadonlyMap<string, readonly string[]>
): Promise<Map<string, RowChange>> => {
  const drafts: Draft[] = []
  const keys = [...changed.keys()]
  const texts = await place.rows.texts(keys)
  for (const [at, key] of keys.entries()) {
    const text = texts[at]
    const before = text === undefined ? undefined : parseRow(text)
    drafts.push({ key, before, paths: await presentPaths(place, before, changed.get(key) ?? []) })
    await place.breathe()
  }
  const told = drafts.filter(({ before }) => before !== undefined && before.reports.length > 0)
  const merged = await place.files.mergeAll(told.map(({ paths }) => paths))
  const files = new Map(told.map(({ key }, index) => [key, merged[index]]))
  const rows = new Map<string, RowChange>()
  for (const { key, before = EMPTY_ROW, paths } of drafts) {
    const { file: _replaced, ...rest } = before
    const file = files.get(key)
    const after = { ...rest, paths, ...(file === undefined ? {} : { file: keptFileOf(file) }) }
    const isKept = before.reports.length > 0 || paths.length > 0
    if (before !== EMPTY_ROW) rows.set(key, isKept ? { before, after } : { before })
    else if (isKept) rows.set(key, { after })
  }
  return rows
}

interface Draft {
  readonly key: string
  readonly before: HistoryRow | undefined
  readonly paths: readonly string[]
}

const presentPaths = async (
  { repo }: FilePlace,
  before: HistoryRow | undefined,
  changed: readonly string[]
): Promise<string[]> => {
  const paths = new Set(before?.paths)
  for (const path of changed) {
    if (await repo.has(path)) paths.add(path)
    else paths.delete(path)
  }
  return sortedPaths([...paths])
}

/** Paths once each, the oldest first: a row whose files are not open yet then has the date of the one that counts. */
export const sortedPaths = (paths: readonly string[]): string[] =>
  [...new Set(paths)].sort((a, b) => dateIn(a) - dateIn(b))

const dateIn = (path: string): number => parseTransactionFilePath(path)?.creationDate ?? 0

/** Files of the oldest form that are gone say no more whose they were; the rows do. */
const ownersOf = async (
  { rows }: FilePlace,
  gone: ReadonlySet<string>
): Promise<[owner: string, path: string][]> => {
  const owners: [owner: string, path: string][] = []
  for await (const batch of rows.scan()) {
    for (const { key, text } of batch) {
      if (!text.includes(`"${LEGACY_FOLDER}/`)) continue
      for (const path of parseRow(text).paths) if (gone.has(path)) owners.push([key, path])
    }
  }
  return owners
}
