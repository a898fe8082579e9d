import { compact } from '../base/compact.ts'
import { covers, holds, joinLineages, type Lineage } from './lineage.ts'
import { changedFields } from './merge.ts'
import {
  type AppliedFile,
  claimsOf,
  type FileBoxes,
  mergeVersions,
  sealAnew,
  withStamps
} from './merge-versions.ts'
import { type BoxText, type PendingChange, pastWith, type RepoFile, visibleOf } from './repo-record.ts'

/** A reply of a sync server, with the changes that it answers. */
export interface AppliedReply {
  /** The changes that this reply acknowledges, as they were when they were sent; empty for a read. */
  readonly sent: ReadonlyMap<string, PendingChange>
  /** Null is a deletion. */
  readonly changes: ReadonlyMap<string, BoxText | null>
  readonly hash?: string
  /** True if the server named every file that it has. */
  readonly isComplete?: boolean
  /** The files of tombstones that went up beside what was sent. */
  readonly tombstones?: ReadonlyMap<string, BoxText | null>
}

/**
 * Applies a reply to one file, at a time in milliseconds since 1970. Pure but for the sealing of a merge.
 *
 * A change is dropped only if it is still what was sent (protocol §8 row 13); a newer edit stays, with the sent
 * text as its base. An upload replaces whole files, so the server may show a version that was made without ours: the
 * lineage in it says so, and what both were made of is in the past that is kept. Then JSON objects merge per field, and
 * the merge is sent; of a deletion and an edit that it did not know the edit stays; else the last writer wins.
 */
export const applyToFile = (
  before: RepoFile,
  { path, reply, now, deletions = [], isNamed = false }: FileReply,
  boxes: FileBoxes
): AppliedFile => {
  const file = undoubted(before, deletions, boxes)
  const sent = reply.sent.get(path)
  const theirs = reply.changes.get(path)
  if (sent?.box === null && theirs && sameBox(sent.base, theirs) && sameBox(file.pending?.box, null))
    return { data: theirs, pending: { box: null, base: theirs, sent: [] }, past: file.past }
  const isFew = Math.max(reply.sent.size, reply.changes.size) <= MAX_FEW
  const acknowledged = sent === undefined ? file : acknowledge(file, sent, { now, isFew })
  if (theirs === undefined || sameBox(acknowledged.data, theirs)) {
    // An upload whose answer was lost brought it there, and another device has seen and deleted it.
    const isGone = theirs === null && isDeleted(acknowledged.pending?.box, deletions, boxes)
    return isGone ? { ...acknowledged, pending: undefined } : acknowledged
  }
  const isFirst = isFew && acknowledged.pending !== undefined && acknowledged.data === undefined
  const begun = acknowledged.past ?? (isFirst ? { at: now, boxes: [], isNew: true } : undefined)
  const past = pastWith(begun, [acknowledged.data], now)
  if (theirs === null)
    return { ...deleted({ ...acknowledged, past: begun }, { deletions, isNamed, now }, boxes), past }
  return { ...replaced({ ...acknowledged, past: begun }, { theirs, sent, now, deletions }, boxes), past }
}

/** A reply as one of its files needs it. */
export interface FileReply {
  readonly path: string
  readonly reply: AppliedReply
  /** Milliseconds since 1970. */
  readonly now: number
  /** For each known deletion of the file, the edits that it knew of. */
  readonly deletions?: readonly Lineage[]
  /** True if the reply itself has a tombstone of the file. */
  readonly isNamed?: boolean | undefined
}

/** All edits that are known to have gone into a file so far; undefined if nothing of it opens. */
export const knownEdits = (
  { data, pending, past }: RepoFile,
  boxes: Pick<FileBoxes, 'open'>
): Lineage | undefined => {
  const known = [data, pending?.base, ...(pending?.sent ?? []), ...(past?.boxes ?? [])]
  const lineages = known.map(box => (box ? boxes.open(box)?.lineage : undefined))
  const opened = lineages.filter(lineage => lineage !== undefined)
  return opened.length === 0 ? undefined : joinLineages(...opened)
}

/** Checks if two boxes, or two absences, are the same. */
const sameBox = (left: BoxText | null | undefined, right: BoxText | null | undefined): boolean =>
  (left ?? null) === (right ?? null)

const acknowledge = (
  { pending, past }: RepoFile,
  sent: PendingChange,
  { now, isFew }: { readonly now: number; readonly isFew: boolean }
): RepoFile => {
  const data = sent.box ?? undefined
  // Of ten thousand new files nothing is remembered.
  const isFirst = isFew && data !== undefined && sent.base === null
  const begun = past ?? (isFirst ? { at: now, boxes: [], isNew: true } : undefined)
  const earlier = pastWith(begun, [sent.base, ...sent.sent], now)
  if (pending === undefined || sameBox(pending.box, sent.box))
    return { data, pending: undefined, past: earlier }
  return { data, pending: { box: pending.box, base: sent.box, sent: [] }, past: earlier }
}

const changesText = ({ box, base }: PendingChange): boolean => box !== null && !sameBox(box, base)

interface Deletion {
  readonly deletions: readonly Lineage[]
  readonly isNamed: boolean
  readonly now: number
}

/**
 * A file that the server has no more.
 *
 * It is deleted if one of its deletions knew what is here, and else sent again. Nothing is known of a deletion that comes
 * without a tombstone, whatever earlier ones knew: it takes what the server had, and no edit that the server never took.
 */
const deleted = (file: RepoFile, { deletions, isNamed, now }: Deletion, boxes: FileBoxes): AppliedFile => {
  const { pending, past } = file
  const mine = pending === undefined ? file.data : (pending.box ?? undefined)
  const gone = { data: undefined, pending: undefined }
  const known = mine === undefined ? knownEdits(file, boxes) : boxes.open(mine)?.lineage
  const isWaiting = pending !== undefined && changesText(pending)
  if (known !== undefined && deletions.some(lineage => covers(lineage, known))) return gone
  if (!isNamed || known === undefined) {
    const isRecent = pending === undefined && isRecentEdit({ past }, now)
    return {
      ...gone,
      ...compact({ pending: isWaiting ? pending : undefined }),
      conflict: isRecent ? 'deleted' : undefined
    }
  }
  // Other devices wait for what our deletion knew.
  if (mine === undefined || isWaiting) return { ...gone, pending }
  return { ...gone, pending: { box: mine, base: null, sent: [mine] }, conflict: 'merged' }
}

interface ServerVersion {
  readonly deletions: readonly Lineage[]
  readonly theirs: BoxText
  /** The change of this file in the request that the server answers. */
  readonly sent: PendingChange | undefined
  readonly now: number
}

const replaced = (
  { data, pending, past }: RepoFile,
  { theirs, sent, now, deletions }: ServerVersion,
  boxes: FileBoxes
): AppliedFile => {
  const known: BoxText[] = [...(past?.boxes ?? [])]
  for (const box of [pending?.base, ...(pending?.sent ?? [])]) if (box) known.push(box)
  const mine = pending === undefined ? data : (pending.box ?? undefined)
  const isTheirsDeleted = isDeleted(theirs, deletions, boxes)
  // What a deletion knew, and an edit that undid it did not, does not come back with that edit.
  if (isDeleted(mine, deletions, boxes))
    return { data: theirs, pending: isTheirsDeleted ? { box: null, base: theirs, sent: [] } : undefined }
  if (mine === undefined) {
    // Of a deletion and an edit that it did not know the edit stays; what a deletion knew is deleted again.
    const isPast = pending !== undefined && (known.includes(theirs) || isCovered(theirs, known, boxes))
    const isKnown = isPast || isTheirsDeleted || hasGivenWay(theirs, pending?.base, boxes)
    return { data: theirs, pending: isKnown ? { box: null, base: theirs, sent: [] } : undefined }
  }
  // The server was put back to what a deletion knew, or an upload came late: the edit that undid the deletion stays as it is.
  if (isTheirsDeleted && boxes.open(mine) !== undefined)
    return { data: theirs, pending: { box: mine, base: theirs, sent: [] } }
  const winner = pending !== undefined && changesText(pending) ? 'mine' : 'theirs'
  const isRecent = isRecentEdit({ past }, now)
  const begun = pending ?? sent
  const [isNew, isWaiting] = [past?.isNew === true, pending !== undefined]
  return mergeVersions({ known, mine, theirs, begun, winner, isRecent, isNew, isWaiting }, boxes)
}

const isRecentEdit = ({ past }: Pick<RepoFile, 'past'>, now: number): boolean =>
  past !== undefined && Math.abs(now - past.at) < RECENT_MS

/** Returns true if one of the known deletions of a file knew a version of it. */
export const isDeleted = (
  box: BoxText | null | undefined,
  deletions: readonly Lineage[],
  boxes: Pick<FileBoxes, 'open'>
): boolean => {
  const version = box && deletions.length > 0 ? boxes.open(box) : undefined
  return version !== undefined && deletions.some(lineage => covers(lineage, version.lineage))
}

/** Our version of a file, as an edit of now if a deletion says to know it that cannot: others believe the deletion. */
const undoubted = (file: RepoFile, deletions: readonly Lineage[], boxes: FileBoxes): RepoFile => {
  const { data, pending, past } = file
  const mine = visibleOf(file)
  const version = mine !== undefined && isDeleted(mine, deletions, boxes) ? boxes.open(mine) : undefined
  if (version === undefined) return file
  const before = past?.boxes.at(-1)
  const isKnown = deletions.some(lineage =>
    covers(claimsOf(lineage, { mine: version.lineage, pending, before }, boxes), version.lineage)
  )
  if (isKnown) return file
  const begun = pending === undefined ? before : pending.base
  const fields = changedFields((begun && boxes.open(begun)?.text) || '{}', version.text)
  const lineage = joinLineages(version.lineage, ...deletions)
  const box = sealAnew({ ...withStamps(version), lineage }, fields, boxes)
  const base = pending === undefined ? (data ?? null) : pending.base
  return { ...file, pending: { box, base, sent: pending?.sent ?? [] } }
}

/** Another device's edit gave way to one that the deletion knew when the two were merged: nothing of it would be lost. */
const hasGivenWay = (theirs: BoxText, base: BoxText | null | undefined, boxes: FileBoxes): boolean => {
  const [known, version] = [base ? boxes.open(base) : undefined, boxes.open(theirs)]
  if (known === undefined || version === undefined || known.text !== version.text) return false
  // A client of ours that restores a value stamps it; another client stamps nothing, nor does the first version of a file.
  if (version.stamps.size === 0) return false
  return [...version.stamps.values()].every(stamp => holds(known.lineage, stamp))
}

const isCovered = (theirs: BoxText, known: readonly BoxText[], boxes: FileBoxes): boolean => {
  const version = boxes.open(theirs)
  const lineages = known.map(box => boxes.open(box)?.lineage).filter(lineage => lineage !== undefined)
  return version !== undefined && covers(joinLineages(...lineages), version.lineage)
}

/** The time after an edit in which a client that does not read first may undo it unknowingly. */
export const RECENT_MS = 120_000
/** The most files of one exchange whose creation time is remembered. */
export const MAX_FEW = 25
