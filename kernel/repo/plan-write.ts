import { makeYielder } from '../base/yielder.ts'
import type { Clock } from '../io/io.ts'
import { type OldFile, planKept } from './kept-files.ts'
import type { PendingChanges } from './pending-changes.ts'
import type { RepoBoxes } from './repo-boxes.ts'
import type { RepoFiles } from './repo-files.ts'
import { PREFIX, pendingEntry, visibleOf } from './repo-record.ts'
import { type ChangedFile, sealChanged, type TextChanges } from './seal-changed.ts'
import { type BulkChange, changesBelow } from './store/bulk.ts'
import type { PagedStore } from './store/paged-store.ts'

/** What planning a write needs to see of a repo. */
export interface WritePlace {
  readonly clock: Pick<Clock, 'monotonic' | 'now' | 'turn'>
  readonly store: Pick<PagedStore, 'entries'>
  readonly files: RepoFiles
  readonly pending: PendingChanges
  readonly boxes: RepoBoxes
}

/** What it takes to make files what they are to be. */
export interface WritePlan {
  /** The one write of the store. */
  readonly writes: Map<string, string | BulkChange | null>
  /** Whether some texts were there already, perhaps by a write that may still fail. */
  readonly hasSkipped: boolean
}

/**
 * Works out what makes files what they are to be; texts that are there already need no write. What is deleted is kept for 30
 * days ({@link planKept}).
 *
 * @throws STORAGE_FAILED if a text has half a character
 */
export const planWrite = async (
  place: WritePlace,
  { texts, alongside = new Map() }: TextChanges
): Promise<WritePlan> => {
  const { clock, files, boxes } = place
  const breathe = makeYielder(clock)
  const deleted: OldFile[] = []
  const writes = changesBelow(alongside, PREFIX.local)
  const all = [...texts]
  let skipped = all.length
  for (let start = 0; start < all.length; start += GROUP) {
    const group = new Map(start === 0 && all.length <= GROUP ? texts : all.slice(start, start + GROUP))
    const changed = await sealChanged(boxes, group, await files.read([...group.keys()]))
    for (const file of changed) {
      addChange(place, writes, file)
      const was = file.box === null ? visibleOf(file.before) : undefined
      if (was !== undefined) deleted.push([file.before.path, was])
    }
    skipped -= changed.length
    await breathe()
  }
  planKept(place.store, { reason: 'deleted', files: deleted, now: clock.now() }, writes)
  return { writes, hasSkipped: skipped > 0 }
}

/** How many files are looked at without a pause. */
const GROUP = 512

const addChange = (
  { files, pending }: WritePlace,
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
  if (box === null) files.pruneGone(writes)
}
