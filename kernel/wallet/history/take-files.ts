import type { Repo } from '../../repo/repo.ts'
import type { HistoryFiles } from './history-files.ts'
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

/** Which row each of some changed files belongs to: paths by key. Files of no transaction are left out. */
export const keysOfFiles = async (
  place: FilePlace,
  paths: readonly string[]
): Promise<Map<string, string[]>> => {
  const keys = new Map<string, string[]>()
  const add = (key: string, path: string): void => {
    const known = keys.get(key)
    if (known === undefined) keys.set(key, [path])
    else known.push(path)
  }
  for (const path of paths) {
    const key = await place.files.hashOf(path)
    if (key !== undefined) add(key, path)
    else if (await isGoneLegacy(place, path))
      for (const owner of await ownersOf(place, path)) add(owner, path)
    await place.breathe()
  }
  return keys
}

/**
 * The rows after some of their files changed. Of a transaction that the engine has not told, only the paths are
 * kept: its files are opened when it is told.
 *
 * @param changed - paths by key, as {@link keysOfFiles} gives them
 */
export const takeFiles = async (
  place: FilePlace,
  changed: ReadonlyMap<string, readonly string[]>
): Promise<Map<string, RowChange>> => {
  const rows = new Map<string, RowChange>()
  const keys = [...changed.keys()]
  const texts = await place.rows.texts(keys)
  for (const [at, key] of keys.entries()) {
    const text = texts[at]
    const before = text === undefined ? undefined : parseRow(text)
    const paths = await presentPaths(place, before, changed.get(key) ?? [])
    const after = await rowWithPaths(place, before ?? EMPTY_ROW, paths)
    const isEmpty = after.reports.length === 0 && paths.length === 0
    if (before !== undefined) rows.set(key, isEmpty ? { before } : { before, after })
    else if (!isEmpty) rows.set(key, { after })
    await place.breathe()
  }
  return rows
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
  return [...paths]
}

const rowWithPaths = async (
  { files }: FilePlace,
  row: HistoryRow,
  paths: readonly string[]
): Promise<HistoryRow> => {
  const { file: _replaced, ...rest } = row
  if (row.reports.length === 0) return { ...rest, paths: sortedPaths(paths) }
  const file = await files.merged(paths)
  return { ...rest, paths: sortedPaths(paths), ...(file === undefined ? {} : { file: keptFileOf(file) }) }
}

/** Paths once each, the oldest first: a row whose files are not open yet then has the date of the one that counts. */
export const sortedPaths = (paths: readonly string[]): string[] =>
  [...new Set(paths)].sort((a, b) => dateIn(a) - dateIn(b))

const dateIn = (path: string): number => parseTransactionFilePath(path)?.creationDate ?? 0

const isGoneLegacy = async ({ repo }: FilePlace, path: string): Promise<boolean> =>
  path.startsWith(`${LEGACY_FOLDER}/`) && !(await repo.has(path))

/** A file of the oldest form that is gone says no more whose it was; the rows do. */
const ownersOf = async ({ rows }: FilePlace, path: string): Promise<string[]> => {
  const owners: string[] = []
  const text = JSON.stringify(path)
  for await (const batch of rows.scan()) {
    for (const row of batch) if (row.text.includes(text)) owners.push(row.key)
  }
  return owners
}
