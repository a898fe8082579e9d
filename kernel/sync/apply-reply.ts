import { compact } from '../base/compact.ts'
import {
  areRelated,
  covers,
  hasUnknownForeignEdit,
  isOwnEdit,
  joinLineages,
  type Lineage,
  laterSide,
  mergedProvenance,
  type Provenance,
  stampFields
} from './lineage.ts'
import { changedFields, mergeJson, type Side, WHOLE_FILE } from './merge.ts'
import { type BoxText, type PendingChange, pastWith, type RepoFile } from './repo-record.ts'

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

/** The content of a box. */
export interface FileVersion extends Provenance {
  readonly text: string
  /** True if it was sealed by another client, which does not record what it was made of. */
  readonly isForeign: boolean
}

/** Opening and sealing with the repo's own key. */
export interface FileBoxes {
  /** Undefined if the box cannot be opened as text. */
  open(box: BoxText): FileVersion | undefined
  /** Tells whether a box opens, as text or not. */
  canOpen(box: BoxText): boolean
  seal(text: string, provenance: Provenance): BoxText
}

/**
 * The kind of a version that did not know all of ours:
 * `merged`, of another device that wrote at the same time; `foreign`, of a client that does not say what it knew, and which may
 * have undone an edit of a short while ago; `older`, one that ours was made of; `late`, made of one that is kept no more, so
 * that only the fields that changed last are merged. `deleted`: the file was deleted, shortly after an edit, and the deletion does
 * not say whether it knew of it.
 */
export type Conflict = 'merged' | 'foreign' | 'older' | 'late' | 'deleted'

/** A file after a reply, and how it came to it if the two sides did not know of each other. */
export interface AppliedFile extends RepoFile {
  readonly conflict?: Conflict | undefined
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
  file: RepoFile,
  { path, reply, now, deletions = [], isNamed = false }: FileReply,
  boxes: FileBoxes
): AppliedFile => {
  const sent = reply.sent.get(path)
  const theirs = reply.changes.get(path)
  if (sent?.box === null && theirs && sameBox(sent.base, theirs) && sameBox(file.pending?.box, null))
    return { data: theirs, pending: { box: null, base: theirs, sent: [] }, past: file.past }
  const isFew = Math.max(reply.sent.size, reply.changes.size) <= MAX_FEW
  const acknowledged = sent === undefined ? file : acknowledge(file, sent, { now, isFew })
  if (theirs === undefined || sameBox(acknowledged.data, theirs)) return acknowledged
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

/** Tells whether two boxes, or two absences, are the same. */
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

const isEdit = ({ box, base }: PendingChange): boolean => box !== null && !sameBox(box, base)

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
  const isWaiting = pending !== undefined && isEdit(pending)
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
  if (mine === undefined) {
    // Of a deletion and an edit that it did not know the edit stays; what a deletion knew is deleted again.
    const isPast = pending !== undefined && (known.includes(theirs) || isCovered(theirs, known, boxes))
    const isKnown = isPast || isDeleted(theirs, deletions, boxes) || hasGivenWay(theirs, pending?.base, boxes)
    return { data: theirs, pending: isKnown ? { box: null, base: theirs, sent: [] } : undefined }
  }
  const winner = pending !== undefined && isEdit(pending) ? 'mine' : 'theirs'
  const isRecent = isRecentEdit({ past }, now)
  const begun = pending ?? sent
  const [isNew, isWaiting] = [past?.isNew === true, pending !== undefined]
  return mergeOf({ known, mine, theirs, begun, winner, isRecent, isNew, isWaiting }, boxes)
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

/** Another device's edit gave way to one that the deletion knew when the two were merged: nothing of it would be lost. */
const hasGivenWay = (theirs: BoxText, base: BoxText | null | undefined, boxes: FileBoxes): boolean => {
  const [known, version] = [base ? boxes.open(base) : undefined, boxes.open(theirs)]
  if (known === undefined || version === undefined || known.text !== version.text) return false
  // A client of ours that restores a value stamps it; another client stamps nothing, nor does the first version of a file.
  if (version.stamps.size === 0) return false
  return [...version.stamps.values()].every(
    ({ session, count }) => (known.lineage.get(session) ?? 0) >= count
  )
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

interface TwoVersions {
  /** The versions that ours was made of, oldest first. */
  readonly known: readonly BoxText[]
  readonly mine: BoxText
  readonly theirs: BoxText
  /** Our change that the server has not, or was sent in the request that it answers with theirs; undefined for neither. */
  readonly begun: PendingChange | undefined
  /** The side whose value stands where both changed one field: the later writer. */
  readonly winner: Side
  /** True if the server has had ours for a short while only. */
  readonly isRecent: boolean
  /** True if there was no file before the known versions. */
  readonly isNew: boolean
  /** True if ours is a change that no server has acknowledged. */
  readonly isWaiting: boolean
}

const mergeOf = (versions: TwoVersions, boxes: FileBoxes): AppliedFile => {
  const { winner, isWaiting } = versions
  const [mine, theirs] = [boxes.open(versions.mine), boxes.open(versions.theirs)]
  const takeTheirs: RepoFile = { data: versions.theirs, pending: undefined }
  if (mine === undefined || (theirs?.isForeign && mine.text === theirs.text)) return takeTheirs
  const keepMine: RepoFile = {
    data: versions.theirs,
    pending: { box: versions.mine, base: versions.theirs, sent: [] }
  }
  if (theirs === undefined) return isWaiting ? keepMine : takeTheirs
  const isLater = covers(theirs.lineage, mine.lineage)
  // A device that merged another client's version with ours may have taken all of that one.
  const hasForeign = hasUnknownForeignEdit(theirs.lineage, new Map())
  if (isLater && !hasForeign) return takeTheirs
  if (!isLater && covers(mine.lineage, theirs.lineage))
    return { ...keepMine, conflict: isWaiting ? undefined : 'older' }
  const known = versions.known.map(box => boxes.open(box)).filter(version => version !== undefined)
  const lineage = joinLineages(mine.lineage, ...known.map(version => version.lineage))
  // Another client's version, or one made of it, may have known ours without saying so.
  const isUnsure = theirs.isForeign || hasUnknownForeignEdit(theirs.lineage, lineage)
  const conflictIn = (text: string): Conflict | undefined =>
    isUnsure && versions.isRecent && hasReturned(text, mine, { known, isNew: versions.isNew })
      ? 'foreign'
      : undefined
  if (isLater) {
    const isReported =
      versions.isRecent && hasReturned(theirs.text, mine, { known, isNew: versions.isNew, by: theirs })
    return { ...takeTheirs, conflict: isReported ? 'foreign' : undefined }
  }
  const isUndone = isUnsure && (theirs.isForeign || !hasNone(theirs, { mine, before: known.at(-1) }))
  if (isUndone && versions.begun === undefined) return { ...takeTheirs, conflict: conflictIn(theirs.text) }
  const found = isUndone ? begunOrigin(versions.begun, boxes) : originOf(known, { mine, theirs, lineage })
  const isLate = found === undefined
  if (isLate && mine.isForeign) return takeTheirs
  // The version that both were made of is not kept any more: only stamped fields can be distinguished from old ones.
  const origin = found ?? { base: mine.text }
  const sides = { mine: withStamps(mine), theirs: withStamps(theirs), winner }
  const isStamped = !theirs.isForeign && !mine.isForeign
  const text = mergeTexts({ ...sides, origin, isStamped })
  const conflict = isLate ? 'late' : (conflictIn(text) ?? (isWaiting ? undefined : 'merged'))
  // What says the same is sent all the same, so that others learn what is in it; a deployed client asks for nothing of that.
  if (text === theirs.text && theirs.isForeign) return { ...takeTheirs, conflict }
  const both = mergedProvenance(sides)
  // What another client changed has no stamp yet.
  const provenance = theirs.isForeign
    ? stampFields(
        { ...both, lineage: joinLineages(theirs.lineage, both.lineage) },
        changedFields(mine.text, text)
      )
    : both
  const box = boxes.seal(text, provenance)
  return { data: versions.theirs, pending: { box, base: versions.theirs, sent: [] }, conflict }
}

/** Returns true if a version has nothing of our last edit: then it may have been made without ours, or has put all of it back. */
const hasNone = (
  theirs: FileVersion,
  { mine, before }: { readonly mine: FileVersion; readonly before: FileVersion | undefined }
): boolean => {
  const missing = new Set(changedFields(mine.text, theirs.text))
  const merged = mergeJson({ base: before?.text, mine: mine.text, theirs: theirs.text, winner: 'theirs' })
  return (
    merged !== theirs.text &&
    changedFields(before?.text ?? '{}', mine.text, { isDeep: true }).every(field => missing.has(field))
  )
}

/** Returns true if a field that was changed a short while ago is gone, or has its value from before that. */
const hasReturned = (
  text: string,
  mine: FileVersion,
  {
    known,
    isNew,
    by
  }: { readonly known: readonly FileVersion[]; readonly isNew: boolean; readonly by?: FileVersion }
): boolean => {
  const marksOf = (before: string, after: string): Set<number> =>
    new Set(changedFields(before, after, { isDeep: true }))
  // What one of our devices changed, it has stamped.
  const gone = [...marksOf(mine.text, text)].filter(field => !isOwnEdit(by?.stamps.get(field)))
  const here = marksOf('{}', text)
  const isGone = (field: number): boolean => !here.has(field)
  if (isNew && gone.some(isGone)) return true
  return known.some(old => {
    const [edited, other] = [marksOf(old.text, mine.text), marksOf(old.text, text)]
    return gone.some(field => !other.has(field) || (isGone(field) && edited.has(field)))
  })
}

/** Returns true for the first version of a file, which has no stamps because one edit made all of its fields. */
const isNewFile = ({ lineage, stamps, isForeign }: FileVersion): boolean =>
  !isForeign && stamps.size === 0 && lineage.size === 1

interface Origin {
  /** Undefined if two made the file, each without the other. */
  readonly base: string | undefined
  readonly earlier?: readonly string[]
}

/** Returns the version that our change began with, as the server had it then and may have it again. */
const begunOrigin = (begun: PendingChange | undefined, boxes: FileBoxes): Origin | undefined => {
  if (begun === undefined) return undefined
  const earlier = begun.sent.map(box => boxes.open(box)?.text).filter(text => text !== undefined)
  return { base: begun.base === null ? undefined : boxes.open(begun.base)?.text, earlier }
}

interface TwoFiles {
  readonly mine: FileVersion
  readonly theirs: FileVersion
  /** All edits that are known to be in ours. */
  readonly lineage: Lineage
}

/** Returns the common origin of both versions for the merge; undefined if it is not known. */
const originOf = (known: readonly FileVersion[], { mine, theirs, lineage }: TwoFiles): Origin | undefined => {
  const common = known.filter(version => covers(theirs.lineage, version.lineage))
  const newest = common.filter(
    (version, i) =>
      !common.some(
        (other, j) =>
          covers(other.lineage, version.lineage) && (!covers(version.lineage, other.lineage) || j > i)
      )
  )
  const [first, ...others] = newest
  // Several if they were merged on both sides: then it is the merge of them that both began with.
  if (first !== undefined)
    return { base: others.reduce((all, next) => mergedOrigin(common, all, next), first).text }
  if (mine.isForeign || areRelated(lineage, theirs.lineage)) return undefined
  // Two made the file, each without the other, or both of what another client wrote, whose versions do not name each other.
  const isUnsure = hasUnknownForeignEdit(theirs.lineage, lineage)
  const foreign = known.findLast(version => version.isForeign && covers(mine.lineage, version.lineage))
  return { base: isUnsure ? foreign?.text : undefined }
}

const mergedOrigin = (known: readonly FileVersion[], left: FileVersion, right: FileVersion): FileVersion => {
  const older = known.filter(
    version => covers(left.lineage, version.lineage) && !covers(version.lineage, left.lineage)
  )
  const lineage = joinLineages(left.lineage, right.lineage)
  const origin = originOf(older, { mine: left, theirs: right, lineage: left.lineage }) ?? { base: undefined }
  const sides = { mine: withStamps(left), theirs: withStamps(right), winner: 'theirs' as const }
  const isStamped = !left.isForeign && !right.isForeign
  const text = mergeTexts({ ...sides, origin, isStamped })
  return { ...right, ...mergedProvenance(sides), text, lineage }
}

/** A version with stamps, also the first one of a file. */
const withStamps = (version: FileVersion): FileVersion =>
  isNewFile(version) ? { ...version, ...stampFields(version, changedFields('{}', version.text)) } : version

const mergeTexts = (sides: {
  readonly origin: Origin
  readonly mine: FileVersion
  readonly theirs: FileVersion
  readonly winner: Side
  /** True if both sides record the edits that made their fields. */
  readonly isStamped: boolean
}): string => {
  const { origin, mine, theirs, winner, isStamped } = sides
  const laterOf = isStamped ? (field: number) => laterSide(sides, field) : undefined
  const merged = mergeJson({
    ...origin,
    ...{ mine: mine.text, theirs: theirs.text, winner },
    ...compact({ laterOf })
  })
  if (merged !== undefined) return merged
  const isUnchanged = (text: string): boolean =>
    text === origin.base || origin.earlier?.includes(text) === true
  const changed = isUnchanged(theirs.text) ? 'mine' : mine.text === origin.base ? 'theirs' : winner
  return (laterOf?.(WHOLE_FILE) ?? changed) === 'mine' ? mine.text : theirs.text
}
