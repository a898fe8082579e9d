import { WalletError } from '../errors/wallet-error.ts'
import { checkPath } from './disk.ts'
import type { RepoBoxes } from './repo-boxes.ts'
import type { NamedFile } from './repo-files.ts'
import { type BoxText, visibleOf } from './repo-record.ts'
import type { StoreChanges } from './store/bulk.ts'

/** Texts to write, all or nothing. */
export interface TextChanges {
  /** By path; null deletes. */
  readonly texts: ReadonlyMap<string, string | null>
  /** Changes of the part that never syncs, in the same write. */
  readonly alongside?: StoreChanges
}

/** A file that is to change, and what it will be; null for a deletion. */
export interface ChangedFile {
  readonly before: NamedFile
  readonly box: BoxText | null
}

/**
 * Seals the texts that are not yet what their files hold.
 *
 * @param texts - by path; null deletes
 * @param files - as they are, in the order of the texts
 * @throws STORAGE_FAILED if a text has half a character
 */
export const sealChanged = async (
  boxes: RepoBoxes,
  texts: ReadonlyMap<string, string | null>,
  files: readonly NamedFile[]
): Promise<ChangedFile[]> => {
  const visible = files.map(visibleOf)
  // What the network shows for the first time has no files yet, ten thousand at once.
  const isAllNew = visible.every(box => box === undefined)
  const present = isAllNew ? [] : await boxes.openMany(visible)
  const changed = files.filter((file, i) => {
    const text = texts.get(file.path) ?? null
    return text === null ? visible[i] !== undefined : text !== present[i]
  })
  const written = changed.map(({ path }) => texts.get(path) ?? null)
  const sealed = await boxes.sealMany(written.filter(text => text !== null)).catch((error: unknown) => {
    const path = changed[0]?.path ?? ''
    throw new WalletError('STORAGE_FAILED', { path, reason: 'the text cannot be sealed' }, error)
  })
  let next = 0
  return changed.map((before, i) => {
    if (written[i] === null) return { before, box: null }
    next += 1
    return { before, box: sealed[next - 1] ?? null }
  })
}

/** Checks what is to be written. @throws PATH_REFUSED; STORAGE_FAILED beyond 8 MB */
export const checkFile = (path: string, text: string): void => {
  checkPath(path)
  if (text.length > MAX_FILE_LENGTH) {
    throw new WalletError('STORAGE_FAILED', { path, reason: 'the text is larger than 8 MB' })
  }
}

/** The largest file of a repo, in characters (architecture decision 18). */
const MAX_FILE_LENGTH = 8 * 1024 * 1024
