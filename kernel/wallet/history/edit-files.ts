import { fileText, type HistoryFiles } from './history-files.ts'
import { EMPTY_ROW, type HistoryRow } from './history-row.ts'
import { filesThatCount, mergeFiles } from './merge-files.ts'
import { sortedPaths } from './take-files.ts'
import { keptFileOf, type TransactionFile, transactionFilePath } from './transaction-file.ts'

/** Whose files are edited. */
export interface EditPlace {
  readonly files: HistoryFiles
  /** The hash in the names of the files. */
  readonly key: string
  /** Of the chain's own coin. */
  readonly currencyCode: string
  readonly before: HistoryRow | undefined
  /** The present texts of its files. */
  readonly texts: readonly (string | undefined)[]
}

/** What an edit comes to; nothing is written yet. */
export interface EditedFiles {
  readonly after: HistoryRow
  /** By path. */
  readonly texts: ReadonlyMap<string, string>
}

/** Makes a file of what all earlier changes left; undefined if there is none yet. */
export type FileChange = (file: TransactionFile | undefined) => TransactionFile

/**
 * Changes what the files of a transaction say.
 *
 * Where two devices have written one each, both get the change, so that it holds whichever counts. One of the oldest
 * form stays as it is, under a new one of the same date.
 *
 * @throws CORRUPT_FILE if there is one that cannot be read
 */
export const editFiles = (
  { files, key, currencyCode, before, texts: present }: EditPlace,
  change: FileChange
): EditedFiles => {
  const found = files.parse(before?.paths ?? [], present)
  const next = change(mergeFiles(found, currencyCode))
  const texts = new Map<string, string>()
  for (const { path, file, isLegacy } of found) if (!isLegacy) texts.set(path, fileText(change(file)))
  const [first] = filesThatCount(found)
  const isWritable = first !== undefined && !first.isLegacy
  texts.set(isWritable ? first.path : transactionFilePath(next.creationDate, key), fileText(next))
  const paths = sortedPaths([...(before?.paths ?? []), ...texts.keys()])
  return { texts, after: { ...(before ?? EMPTY_ROW), paths, file: keptFileOf(next) } }
}
