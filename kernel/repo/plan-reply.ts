import { WalletError } from '../errors/wallet-error.ts'
import type { Clock } from '../io/io.ts'
import { type AppliedReply, applyToFile, type FileBoxes } from './apply-reply.ts'
import { makeBreather } from './breather.ts'
import type { NamedFile, RepoFiles } from './repo-files.ts'
import { AGAIN, type BoxText, PREFIX, parseStatus, pendingEntry, visibleOf } from './repo-record.ts'
import type { Report } from './report.ts'
import type { BulkChange } from './store/bulk.ts'
import type { PagedStore } from './store/paged-store.ts'

/** What planning needs to see of a repo. */
export interface ReplyPlace {
  readonly reply: AppliedReply
  readonly store: PagedStore
  readonly files: RepoFiles
  readonly boxes: FileBoxes
  readonly clock: Pick<Clock, 'monotonic' | 'turn'>
  /** Milliseconds since 1970. */
  readonly now: number
  readonly report: Report
}

/** What a reply, or a part of one, comes to: one write of the store, and the paths whose visible content it changes. */
export interface ReplyPlan {
  readonly writes: Map<string, string | BulkChange | null>
  readonly changed: readonly string[]
}

/** The paths of a reply in parts that are taken in one after another: about 4 MB each. */
export const partsOf = ({ sent, changes }: AppliedReply): string[][] => {
  let part: string[] = []
  let length = 0
  const parts = [part]
  const add = (path: string, box: BoxText | null): void => {
    if (length > PART_LENGTH) {
      part = []
      parts.push(part)
      length = 0
    }
    part.push(path)
    length += path.length + (box?.length ?? 0)
  }
  for (const path of sent.keys()) add(path, null)
  for (const [path, box] of changes) if (!sent.has(path)) add(path, box)
  return parts
}

/**
 * Works out what a server's reply changes in some of its files, without changing anything.
 *
 * A box that does not open would replace what we have by nothing: it is reported and left out. One that replaces nothing is
 * opened when somebody reads it. A file that the server deletes is kept for 30 days under `q/`, the newest thousand of them.
 */
export const planReply = async (place: ReplyPlace, paths: readonly string[]): Promise<ReplyPlan> => {
  const { files, boxes, reply } = place
  const writes = new Map<string, string | BulkChange | null>()
  const changed: string[] = []
  const removed: [path: string, box: BoxText][] = []
  const breathe = makeBreather(place.clock)
  for (const before of await files.read(paths)) {
    await breathe()
    const { path } = before
    const isNew = before.data === undefined && before.pending === undefined && !reply.sent.has(path)
    if (isNew) {
      // By far the most frequent: a first download is nothing else.
      const box = reply.changes.get(path) ?? null
      if (before.isLost) writes.set(PREFIX.pending + path, null)
      if (box === null) continue
      files.put(writes, path, box)
      changed.push(path)
      continue
    }
    const after = applyToFile(before, path, openable(place, before), boxes)
    const [was, is] = [visibleOf(before), visibleOf(after)]
    if (was !== is) {
      files.put(writes, path, is ?? null)
      changed.push(path)
      if (was !== undefined && is === undefined) removed.push([path, was])
    }
    const entry = pendingEntry(after)
    if (before.isLost || pendingEntry(before) !== entry) writes.set(PREFIX.pending + path, entry)
  }
  keepRemoved(place, removed, writes)
  return { writes, changed }
}

/**
 * Refuses a reply that would delete more than 50 files and more than a tenth of the repo.
 *
 * @throws SYNC_FAILED
 */
export const checkDeletions = async (files: RepoFiles, { changes, sent }: AppliedReply): Promise<void> => {
  const deleted: string[] = []
  for (const [path, box] of changes) if (box === null && !sent.has(path)) deleted.push(path)
  if (deleted.length <= MAX_DELETIONS) return
  const there = (await files.read(deleted)).filter(({ pending }) => pending === undefined)
  const count = there.filter(file => visibleOf(file) !== undefined).length
  const total = count > MAX_DELETIONS ? await files.count() : 0
  if (count > MAX_DELETIONS && count > total / 10) {
    throw new WalletError('SYNC_FAILED', { reason: `a reply would delete ${count} of ${total} files` })
  }
}

/**
 * Adds what must be sent again, when all files of a reply are planned.
 *
 * A file that was acknowledged and is not among all that the server has is sent again: the server was replaced, or the mark
 * that it still waits was lost here. What another device deleted while the server forgot our hash comes back by this.
 */
export const planHealing = async (
  place: ReplyPlace,
  writes: Map<string, string | BulkChange | null>
): Promise<void> => {
  const { reply, files } = place
  if (!heals(place)) return
  for (const path of await files.list('')) {
    const isThere = files.pending.has(path) || reply.changes.has(path) || reply.sent.has(path)
    if (isThere) continue
    // A damaged index is made anew with rows that were deleted.
    if (files.wasDeleted(path)) files.put(writes, path, null)
    else writes.set(PREFIX.pending + path, AGAIN)
  }
  for (const { path, isLost } of await files.read([...files.pending]))
    if (isLost) writes.set(PREFIX.pending + path, null)
}

/**
 * Adds how far the repo is with its server, to be written at once: what is noted of damage later comes after it.
 *
 * The time alone is not worth a write: only the first sync and a new hash are. While something is missing here no hash is
 * kept, so that the next sync fetches everything.
 */
export const planStatus = (place: ReplyPlace, writes: Map<string, string | BulkChange | null>): void => {
  const { reply, store, now } = place
  const status = parseStatus(store.get(PREFIX.status))
  const isHealed = status.isDamaged === true && heals(place)
  const isDamaged = status.isDamaged === true && !isHealed
  const lastHash = isDamaged ? undefined : (reply.hash ?? status.lastHash)
  if (status.lastSync > 0 && lastHash === status.lastHash && !isHealed) return
  const next = { lastSync: now / 1000, ...(lastHash && { lastHash }), ...(isDamaged && { isDamaged }) }
  writes.set(PREFIX.status, JSON.stringify(next))
}

/** Whether a reply names everything that the server has, and is not the first one. */
const heals = ({ reply, store }: ReplyPlace): boolean => {
  const { lastSync, isDamaged } = parseStatus(store.get(PREFIX.status))
  return reply.isComplete === true && (lastSync > 0 || isDamaged === true)
}

const PART_LENGTH = 4 * 1024 * 1024
const MAX_DELETIONS = 50
const KEEP_MS = 30 * 24 * 3600 * 1000
const KEEP_COUNT = 1000

const openable = ({ reply, boxes, report }: ReplyPlace, before: NamedFile): AppliedReply => {
  const { path } = before
  const theirs = reply.changes.get(path)
  const present = visibleOf(before)
  const isSafe = !theirs || present === undefined || present === theirs || before.data === theirs
  if (isSafe || boxes.canOpen(theirs)) return reply
  report(new WalletError('CORRUPT_FILE', { path, rule: 'the server’s box does not open' }))
  return { ...reply, changes: new Map() }
}

const keepRemoved = (
  { store, files, now }: ReplyPlace,
  removed: readonly (readonly [path: string, box: BoxText])[],
  writes: Map<string, string | BulkChange | null>
): void => {
  if (removed.length === 0) return
  files.pruneGone(writes)
  const kept = [...store.entries(PREFIX.removed)].map(([key]) => key)
  for (const [path, box] of removed) {
    const key = `${PREFIX.removed}${String(Math.floor(now)).padStart(15, '0')}/${path}`
    writes.set(key, box)
    kept.push(key)
  }
  kept.sort()
  const oldest = `${PREFIX.removed}${String(Math.floor(now - KEEP_MS)).padStart(15, '0')}`
  const spare = kept.length - KEEP_COUNT
  for (const [index, key] of kept.entries()) if (index < spare || key < oldest) writes.set(key, null)
}
