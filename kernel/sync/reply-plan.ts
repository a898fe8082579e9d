import { compact } from '../base/compact.ts'
import { type ReportError, WalletError } from '../base/errors.ts'
import { makeYielder } from '../base/yielder.ts'
import type { Clock } from '../io/io.ts'
import type { BulkChange } from '../repo/store/bulk.ts'
import type { SealedStore } from '../repo/store/sealed-store.ts'
import { type AppliedReply, applyToFile, isDeleted, MAX_FEW, RECENT_MS } from './apply-reply.ts'
import { type OldFile, planKept } from './kept-files.ts'
import type { AppliedFile, Conflict, FileBoxes } from './merge-versions.ts'
import { type BelongsAt, type GuardFindings, ReplyGuard } from './reply-guard.ts'
import type { RepoFiles } from './repo-files.ts'
import {
  AGAIN,
  type BoxText,
  type PastVersions,
  PREFIX,
  pastEntry,
  pastTimeOf,
  pendingEntry,
  visibleOf
} from './repo-record.ts'
import { parseStatus } from './repo-state.ts'
import { isTombstonePath, type Tombstones } from './tombstones.ts'

/** A reply, and the parts of the repo that its plan reads. */
export interface ReplyContext {
  readonly reply: AppliedReply
  readonly store: SealedStore
  readonly files: RepoFiles
  readonly boxes: FileBoxes
  readonly clock: Pick<Clock, 'monotonic' | 'turn'>
  /** Milliseconds since 1970. */
  readonly now: number
  readonly report: ReportError
  readonly belongsAt?: BelongsAt | undefined
  readonly tombstones?: Pick<Tombstones, 'of'> | undefined
  /** The files of which the reply itself has tombstones. */
  readonly named?: ReadonlySet<string> | undefined
  /** Uniform in 0 to 1. */
  random(): number
}

/** The plan of a reply, or of a part of one: one write of the store, and the paths whose visible content it changes. */
export interface ReplyPlan {
  readonly writes: Map<string, string | BulkChange | null>
  readonly changed: readonly string[]
  readonly findings: GuardFindings
  /** The conflicts in files that two sides changed without knowing of each other. */
  readonly conflicts: readonly Conflict[]
}

/** The paths of a reply's files in parts that are taken in one after another: about 4 MB each. */
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
  for (const [path, box] of changes) if (!sent.has(path) && !isTombstonePath(path)) add(path, box)
  return parts
}

/**
 * Works out what a server's reply changes in some of its files, without changing anything.
 *
 * A box that does not open, belongs to another file or was replaced before does not replace a file here
 * ({@link ReplyGuard}). Texts that the server deletes or replaces are kept for 30 days ({@link planKept}).
 */
export const planReply = async (context: ReplyContext, paths: readonly string[]): Promise<ReplyPlan> => {
  const { files, boxes, reply, store, now } = context
  const writes = new Map<string, string | BulkChange | null>()
  const changed: string[] = []
  const removed: OldFile[] = []
  const replaced: OldFile[] = []
  const conflicts: Conflict[] = []
  const guard = new ReplyGuard(context)
  const pause = makeYielder(context.clock)
  const isFew = reply.isComplete !== true && reply.changes.size <= MAX_FEW
  for (const before of await files.read(paths)) {
    await pause()
    const { path } = before
    const deletions = context.tombstones?.of(path) ?? []
    const isNew = before.data === undefined && before.pending === undefined && !reply.sent.has(path)
    if (isNew && !isDeleted(reply.changes.get(path), deletions, boxes)) {
      // By far the most frequent: a first download is nothing else.
      const box = reply.changes.get(path) ?? null
      if (before.isLost) writes.set(PREFIX.pending + path, null)
      if (box === null || !guard.admits(path, box)) continue
      files.put(writes, path, box)
      if (isFew) writes.set(PREFIX.past + path, pastEntry({ at: now, boxes: [], isNew: true }))
      else files.filledAt = now
      changed.push(path)
      continue
    }
    // How new a file is that came with many others is not known: one of our devices may have written it just before.
    const isOverwritten = before.past === undefined && !!reply.changes.get(path)
    const known = isOverwritten ? { ...before, past: pastSince(files.filledAt, now) } : before
    const apply = (part: AppliedReply): AppliedFile =>
      applyToFile(known, { path, reply: part, now, deletions, isNamed: context.named?.has(path) }, boxes)
    const after: AppliedFile = guard.settle(before, apply) ?? apply(reply)
    const [was, is] = [visibleOf(before), visibleOf(after)]
    const { conflict } = after
    if (conflict !== undefined) conflicts.push(conflict)
    const isUnsure = conflict !== undefined && needsRecovery(conflict)
    if (isUnsure && conflicts.length <= MAX_REPORTS)
      context.report(new WalletError('SYNC_CONFLICT', { path, rule: RULES[conflict] }))
    if (was !== is) {
      files.put(writes, path, is ?? null)
      changed.push(path)
      if (was !== undefined && is === undefined) removed.push([path, was])
      else if (was !== undefined && (isUnsure || is === reply.changes.get(path))) replaced.push([path, was])
    }
    const entry = pendingEntry(after)
    if (before.isLost || pendingEntry(before) !== entry) writes.set(PREFIX.pending + path, entry)
    if (after.past !== before.past) writes.set(PREFIX.past + path, pastEntry(after.past))
    guard.remember(before, after, writes)
  }
  guard.finish(writes)
  if (removed.length > 0) files.pruneDeletions(writes)
  planKept(store, { reason: 'deleted', files: removed, now }, writes)
  planKept(store, { reason: 'replaced', files: replaced, now }, writes)
  return {
    writes,
    changed,
    conflicts,
    findings: { ...guard.findings, old: guard.findings.old + olderIn(conflicts) }
  }
}

/**
 * Returns the deleted files that a complete reply leaves out: a device that has forgotten how far it was would take them for
 * lost, and send them again.
 *
 * @param named - the files of which the reply has tombstones
 */
export const deletionsLeftOut = (
  { isComplete, changes, sent }: AppliedReply,
  named: ReadonlySet<string>
): readonly string[] =>
  isComplete === true ? [...named].filter(path => !changes.has(path) && !sent.has(path)) : []

/** Returns true if an edit may be undone. */
export const needsRecovery = (conflict: Conflict): conflict is keyof typeof RULES =>
  conflict !== 'merged' && conflict !== 'older'

const pastSince = (at: number, now: number): PastVersions | undefined =>
  Math.abs(now - at) < RECENT_MS ? { at, boxes: [], isNew: true } : undefined

const olderIn = (conflicts: readonly Conflict[]): number =>
  conflicts.filter(conflict => conflict === 'older').length

/**
 * Refuses a reply that would delete more than 50 files and more than a tenth of the repo. A file of which the reply has
 * a tombstone does not count: a device has deleted it, or it stays.
 *
 * @throws SYNC_FAILED
 */
export const checkDeletions = async (
  files: RepoFiles,
  { changes, sent }: AppliedReply,
  named?: ReadonlySet<string>
): Promise<void> => {
  const deleted: string[] = []
  for (const [path, box] of changes)
    if (box === null && !sent.has(path) && named?.has(path) !== true) deleted.push(path)
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
 * that it still waits was lost here. What a deployed client deleted while the server forgot our hash comes back by this: it
 * leaves no tombstone.
 *
 * @returns how many files the server once had and lacks now
 */
export const planHealing = async (
  context: ReplyContext,
  writes: Map<string, string | BulkChange | null>
): Promise<number> => {
  const { reply, files, store } = context
  if (!heals(context)) return 0
  let missing = 0
  for (const path of await files.list('')) {
    const isThere = files.pending.has(path) || reply.changes.has(path) || reply.sent.has(path)
    if (isThere) continue
    // A damaged index is rebuilt with rows that were deleted.
    if (files.wasDeleted(path)) files.put(writes, path, null)
    else {
      writes.set(PREFIX.pending + path, AGAIN)
      missing += 1
    }
  }
  for (const { path, isLost } of await files.read([...files.pending]))
    if (isLost) writes.set(PREFIX.pending + path, null)
  return parseStatus(store.get(PREFIX.status)).isDamaged === true ? 0 : missing
}

/**
 * Adds the deletion of past versions that no device can build upon any more.
 *
 * An upload leaves within {@link FRESH_MS} of the read before it, and each request ends within its 30 seconds: so long may a
 * version still arrive that was made of one that is replaced. It is seen by a read that begins after that, and this reply
 * answers a request of at most a minute ago. A few are kept for a day, for what arrives late.
 */
export const planForgetting = (
  { store, files, now }: ReplyContext,
  writes: Map<string, string | BulkChange | null>
): void => {
  if (files.past.size === 0 || (writes.size === 0 && files.past.size <= KEEP_PAST)) return
  // Ten thousand files go up in a hundred requests.
  if (Math.abs(now - files.forgotAt) < FORGET_MS) return
  files.forgotAt = now
  const limit = now - (files.past.size > KEEP_PAST ? PAST_MS : LATE_MS)
  for (const path of files.past) {
    const key = PREFIX.past + path
    if (!writes.has(key) && pastTimeOf(store.get(key) ?? '[') < limit) writes.set(key, null)
  }
}

/**
 * Adds how far the repo is with its server, to be written at once: what is noted of damage later comes after it.
 *
 * The time alone is not worth a write: only the first sync and a new hash are. While something is missing here no hash is
 * kept, so that the next sync fetches everything.
 */
export const planStatus = (context: ReplyContext, writes: Map<string, string | BulkChange | null>): void => {
  const { reply, store, now } = context
  const status = parseStatus(store.get(PREFIX.status))
  const isHealed = status.isDamaged === true && heals(context)
  const isDamaged = status.isDamaged === true && !isHealed
  const lastHash = isDamaged ? undefined : (reply.hash ?? status.lastHash)
  if (status.lastSync > 0 && lastHash === status.lastHash && !isHealed) return
  const next = {
    lastSync: now / 1000,
    ...compact({ lastHash: lastHash || undefined, isDamaged: isDamaged || undefined })
  }
  writes.set(PREFIX.status, JSON.stringify(next))
}

/**
 * Adds which state of the server this is, to the latest that are remembered.
 *
 * @returns true if it was seen before and has been left since: the server shows an old state. Unless the reply was complete,
 * the next sync then asks for everything, so that what the server lacks is sent to it again
 */
export const planHash = (context: ReplyContext, writes: Map<string, string | BulkChange | null>): boolean => {
  const { reply, store } = context
  const { lastHash, lastSync, isDamaged } = parseStatus(store.get(PREFIX.status))
  if (reply.hash === undefined || reply.hash === lastHash) return false
  const mark = reply.hash.slice(-MARK_LENGTH)
  const seen = (store.get(PREFIX.hashes) ?? '').split(' ').filter(text => text !== '')
  // The newest that was seen is no old one, also where this device has forgotten its hash meanwhile.
  const isOld = seen.includes(mark) && seen.at(-1) !== mark
  writes.set(PREFIX.hashes, [...seen.filter(text => text !== mark), mark].slice(-MAX_SEEN).join(' '))
  if (isOld && reply.isComplete !== true)
    writes.set(PREFIX.status, JSON.stringify({ lastSync, ...compact({ isDamaged: isDamaged || undefined }) }))
  return isOld
}

/** Returns true if a reply names everything that the server has, and is not the first one. */
const heals = ({ reply, store }: ReplyContext): boolean => {
  const { lastSync, isDamaged } = parseStatus(store.get(PREFIX.status))
  return reply.isComplete === true && (lastSync > 0 || isDamaged === true)
}

/** The greatest age of the reply that an upload is built upon, in milliseconds. */
export const FRESH_MS = 45_000
/** The time for which the past of a file is needed: twice {@link FRESH_MS} and two requests, rounded up. */
const PAST_MS = 4 * 60_000
const LATE_MS = 24 * 3600 * 1000
const KEEP_PAST = 100
/** The least time between two searches for versions to forget. */
const FORGET_MS = 10_000

/** The reported rule of each conflict that may have undone an edit. */
const RULES: Readonly<Record<Exclude<Conflict, 'merged' | 'older'>, string>> = {
  late: 'a change came so late that not all of it could be merged; the text before it is kept for 30 days',
  foreign: 'another app wrote it without saying what it knew of; the text before it is kept for 30 days',
  deleted: 'another device deleted it shortly after it was edited; the text is kept for 30 days'
}
const MAX_REPORTS = 10

const PART_LENGTH = 4 * 1024 * 1024
const MAX_DELETIONS = 50
const MARK_LENGTH = 16
const MAX_SEEN = 16
