import { checkPath } from '../base/disk-path.ts'
import { WalletError } from '../base/errors.ts'
import { type FileVersion, knownEdits } from './apply-reply.ts'
import { joined, type Provenance } from './lineage.ts'
import { changedFields } from './merge-json.ts'
import type { RepoBoxes, SealedVersion } from './repo-boxes.ts'
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
  const present = isAllNew ? [] : await boxes.openVersions(visible)
  const written: SealedVersion[] = []
  const changed: { readonly before: NamedFile; readonly at: number | undefined }[] = []
  for (const [i, before] of files.entries()) {
    const text = texts.get(before.path) ?? null
    if (text === null ? visible[i] === undefined : text === present[i]?.text) continue
    changed.push({ before, at: text === null ? undefined : written.length })
    if (text === null) continue
    const fields = changedFields(present[i]?.text ?? '{}', text)
    written.push({ text, provenance: boxes.edits.next(provenanceOf(boxes, before, present[i]), fields) })
  }
  const sealed = await boxes.sealMany(written).catch((error: unknown) => {
    const path = changed[0]?.before.path ?? ''
    throw new WalletError('STORAGE_FAILED', { path, reason: 'the text cannot be sealed' }, error)
  })
  return changed.map(({ before, at }) => ({ before, box: at === undefined ? null : (sealed[at] ?? null) }))
}

/** Where what a person sees of a file comes from, as far as it is known. */
const provenanceOf = (
  boxes: RepoBoxes,
  { pending, past }: NamedFile,
  present: FileVersion | undefined
): Provenance | undefined => {
  if (present !== undefined && !present.isForeign) return present
  // A version of another client does not say what it was made of, nor does a deletion.
  const older = knownEdits({ data: undefined, pending, past }, boxes)
  const known = [present?.lineage, older].filter(lineage => lineage !== undefined)
  return known.length === 0 ? undefined : { lineage: joined(...known), stamps: new Map() }
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
