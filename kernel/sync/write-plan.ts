import { checkPath } from '../base/disk-path.ts'
import { WalletError } from '../base/errors.ts'
import { makeYielder } from '../base/yielder.ts'
import type { Clock } from '../io/io.ts'
import { type BulkChange, changesBelow, type StoreChanges, type WriteOptions } from '../repo/store/bulk.ts'
import type { SealedStore } from '../repo/store/sealed-store.ts'
import { knownEdits } from './apply-reply.ts'
import { type OldFile, planKept } from './kept-files.ts'
import { joinLineages, type Provenance } from './lineage.ts'
import { changedFields } from './merge.ts'
import { type FileVersion, withStamps } from './merge-versions.ts'
import type { RepoBoxes, SealedVersion } from './repo-boxes.ts'
import type { NamedFile, PendingChanges, RepoFiles } from './repo-files.ts'
import { type BoxText, PREFIX, pendingEntry, visibleOf } from './repo-record.ts'

/** The parts of a repo that the plan of a write reads. */
export interface WriteContext {
  readonly clock: Pick<Clock, 'monotonic' | 'now' | 'turn'>
  readonly store: Pick<SealedStore, 'entries'>
  readonly files: RepoFiles
  readonly pending: PendingChanges
  readonly boxes: RepoBoxes
}

/** One write of the store that gives files their new texts. */
export interface WritePlan {
  /** The one write of the store. */
  readonly writes: Map<string, string | BulkChange | null>
  /** True if some texts were there already, perhaps by a write that may still fail. */
  readonly hasSkipped: boolean
}

/**
 * Works out what makes files what they are to be; texts that are there already need no write. What is deleted is kept for 30
 * days ({@link planKept}).
 *
 * @throws STORAGE_FAILED if a text has half a character
 */
export const planWrite = async (
  context: WriteContext,
  { texts = new Map(), localChanges = new Map() }: RepoChanges
): Promise<WritePlan> => {
  const { clock, files, boxes } = context
  const pause = makeYielder(clock)
  const deleted: OldFile[] = []
  const writes = changesBelow(localChanges, PREFIX.local)
  const all = [...texts]
  let skipped = all.length
  for (let start = 0; start < all.length; start += GROUP) {
    const group = new Map(start === 0 && all.length <= GROUP ? texts : all.slice(start, start + GROUP))
    const changed = await sealChanged(boxes, group, await files.read([...group.keys()]))
    for (const file of changed) {
      addChange(context, writes, file)
      const was = file.box === null ? visibleOf(file.before) : undefined
      if (was !== undefined) deleted.push([file.before.path, was])
    }
    skipped -= changed.length
    await pause()
  }
  planKept(context.store, { reason: 'deleted', files: deleted, now: clock.now() }, writes)
  return { writes, hasSkipped: skipped > 0 }
}

/** The number of files checked without a pause. */
const GROUP = 512

const addChange = (
  { files, pending }: WriteContext,
  writes: Map<string, string | BulkChange | null>,
  { before, box }: ChangedFile
): void => {
  const { path, data } = before
  files.put(writes, path, box)
  const base = before.pending === undefined ? (data ?? null) : before.pending.base
  const sent = pending.sentBefore(path, before.pending)
  // What never left this device needs no deletion.
  const isUnknown = box === null && data === undefined && sent.length === 0
  const change = isUnknown ? undefined : { box, base, sent }
  writes.set(PREFIX.pending + path, pendingEntry({ data, pending: change }))
  if (box === null) files.pruneDeletions(writes)
}

/** What to write, all or nothing. */
export interface RepoChanges extends WriteOptions {
  /** By path; null deletes. */
  readonly texts?: ReadonlyMap<string, string | null>
  /** The texts that files must still have, by path; undefined where there must be no file. */
  readonly expect?: ReadonlyMap<string, string | undefined>
  /** Changes of the part that never syncs, under its keys, in the same write. */
  readonly localChanges?: StoreChanges
}

/** A file that is to change, and what it will be; null for a deletion. */
interface ChangedFile {
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
  const isAllNew = visible.every(box => box === undefined)
  const present = isAllNew ? [] : await boxes.openVersions(visible)
  const written: SealedVersion[] = []
  const changed: { readonly before: NamedFile; readonly at: number | undefined }[] = []
  for (const [i, before] of files.entries()) {
    const text = texts.get(before.path) ?? null
    if (text === null ? visible[i] === undefined : text === present[i]?.text) continue
    changed.push({ before, at: text === null ? undefined : written.length })
    if (text === null) continue
    const origin = provenanceOf(boxes, before, present[i])
    // Without an origin nothing is stamped: what the network shows for the first time has none, ten thousand at once.
    const fields = origin === undefined ? [] : changedFields(present[i]?.text ?? '{}', text)
    written.push({ text, provenance: boxes.edits.next(origin, fields) })
  }
  const sealed = await boxes.sealMany(written).catch((error: unknown) => {
    const path = changed[0]?.before.path ?? ''
    throw new WalletError('STORAGE_FAILED', { path, reason: 'the text cannot be sealed' }, error)
  })
  return changed.map(({ before, at }) => ({ before, box: at === undefined ? null : (sealed[at] ?? null) }))
}

/** Returns the origin of the visible version of a file, as far as it is known. */
const provenanceOf = (
  boxes: RepoBoxes,
  { pending, past }: NamedFile,
  present: FileVersion | undefined
): Provenance | undefined => {
  // Once one field has a stamp, those of the first version need theirs: nothing else says any more which edit made them.
  if (present !== undefined && !present.isForeign) return withStamps(present)
  // A version of another client does not say what it was made of, nor does a deletion.
  const older = knownEdits({ data: undefined, pending, past }, boxes)
  const known = [present?.lineage, older].filter(lineage => lineage !== undefined)
  return known.length === 0 ? undefined : { lineage: joinLineages(...known), stamps: new Map() }
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
