import {
  areRelated,
  covers,
  hasUnseenForeign,
  joined,
  type Lineage,
  laterSide,
  mergedProvenance,
  type Provenance,
  stamped
} from './lineage.ts'
import { changedFields, mergeJson, type Side } from './merge-json.ts'
import { type BoxText, type PendingChange, pastWith, type RepoFile } from './repo-record.ts'

/** What a server said, and what it was sent before it said so. */
export interface AppliedReply {
  /** The changes that this reply acknowledges, as they were when they were sent; empty for a read. */
  readonly sent: ReadonlyMap<string, PendingChange>
  /** Null is a deletion. */
  readonly changes: ReadonlyMap<string, BoxText | null>
  readonly hash?: string
  /** Whether the server named every file that it has. */
  readonly isComplete?: boolean
}

/** What a box holds. */
export interface FileVersion extends Provenance {
  readonly text: string
  /** Whether another client sealed it, who does not say what it was made of. */
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
 * What a version that did not know all of ours was:
 * `merged`, of another device that wrote at the same time; `foreign`, of a client that does not say what it knew, and which may
 * have undone an edit of a short while ago; `older`, one that ours was made of; `late`, made of one that is kept no more, so
 * that only the fields that changed last are merged. `deleted`: the file was deleted, shortly after an edit that the deletion may
 * not have known of.
 */
export type Conflict = 'merged' | 'foreign' | 'older' | 'late' | 'deleted'

/** A file after a reply, and how it came to it if the two sides did not know of each other. */
export interface AppliedFile extends RepoFile {
  readonly conflict?: Conflict | undefined
}

/**
 * What becomes of one file after a reply, at a time in milliseconds since 1970. Pure but for the sealing of a merge.
 *
 * A change is dropped only if it is still what was sent (protocol §8 row 13); a newer edit stays, with the sent
 * text as its base. An upload replaces whole files, so the server may show a version that was made without ours: the
 * lineage in it says so, and what both were made of is in the past that is kept. Then JSON objects merge per field, and
 * the merge is sent; of a deletion and an edit the edit stays; else the last writer wins.
 */
export const applyToFile = (
  file: RepoFile,
  { path, reply, now }: { readonly path: string; readonly reply: AppliedReply; readonly now: number },
  boxes: FileBoxes
): AppliedFile => {
  const sent = reply.sent.get(path)
  const theirs = reply.changes.get(path)
  if (sent?.box === null && theirs && sameBox(sent.base, theirs) && sameBox(file.pending?.box, null))
    return { data: theirs, pending: { box: null, base: theirs, sent: [] }, past: file.past }
  const acknowledged = sent === undefined ? file : acknowledge(file, sent, now)
  if (theirs === undefined || sameBox(acknowledged.data, theirs)) return acknowledged
  const past = pastWith(acknowledged.past, [acknowledged.data], now)
  if (theirs === null) {
    const isRecent = acknowledged.pending === undefined && isRecentEdit(acknowledged, now)
    return { ...deleted(acknowledged), past, conflict: isRecent ? 'deleted' : undefined }
  }
  return { ...replaced(acknowledged, { theirs, sent, now }, boxes), past }
}

/** Tells whether two boxes, or two absences, are the same. */
const sameBox = (left: BoxText | null | undefined, right: BoxText | null | undefined): boolean =>
  (left ?? null) === (right ?? null)

const acknowledge = ({ pending, past }: RepoFile, sent: PendingChange, now: number): RepoFile => {
  const data = sent.box ?? undefined
  const earlier = pastWith(past, [sent.base, ...sent.sent], now)
  if (pending === undefined || sameBox(pending.box, sent.box))
    return { data, pending: undefined, past: earlier }
  return { data, pending: { box: pending.box, base: sent.box, sent: [] }, past: earlier }
}

const isEdit = ({ box, base }: PendingChange): boolean => box !== null && !sameBox(box, base)

const deleted = ({ pending }: RepoFile): RepoFile => ({
  data: undefined,
  pending: pending !== undefined && isEdit(pending) ? pending : undefined
})

interface ServerVersion {
  readonly theirs: BoxText
  /** What the server was sent of this file in the request that it answers. */
  readonly sent: PendingChange | undefined
  readonly now: number
}

const replaced = (
  { data, pending, past }: RepoFile,
  { theirs, sent, now }: ServerVersion,
  boxes: FileBoxes
): AppliedFile => {
  const known: BoxText[] = [...(past?.boxes ?? [])]
  for (const box of [pending?.base, ...(pending?.sent ?? [])]) if (box) known.push(box)
  const mine = pending === undefined ? data : (pending.box ?? undefined)
  if (mine === undefined) {
    if (pending === undefined) return { data: theirs, pending: undefined }
    // Of a deletion and an edit that it did not know the edit stays.
    const isKnown = known.includes(theirs) || isCovered(theirs, known, boxes)
    return { data: theirs, pending: isKnown ? { box: null, base: theirs, sent: [] } : undefined }
  }
  const winner = pending !== undefined && isEdit(pending) ? 'mine' : 'theirs'
  const isRecent = isRecentEdit({ past }, now)
  const begun = pending ?? sent
  return mergeOf({ known, mine, theirs, begun, winner, isRecent, isWaiting: pending !== undefined }, boxes)
}

const isRecentEdit = ({ past }: Pick<RepoFile, 'past'>, now: number): boolean =>
  past !== undefined && Math.abs(now - past.at) < RECENT_MS

const isCovered = (theirs: BoxText, known: readonly BoxText[], boxes: FileBoxes): boolean => {
  const version = boxes.open(theirs)
  const lineages = known.map(box => boxes.open(box)?.lineage).filter(lineage => lineage !== undefined)
  return version !== undefined && covers(joined(...lineages), version.lineage)
}

/** How long after an edit a client that does not look first may undo it unknowingly. */
const RECENT_MS = 120_000

interface TwoVersions {
  /** What ours was made of, oldest first. */
  readonly known: readonly BoxText[]
  readonly mine: BoxText
  readonly theirs: BoxText
  /** Our change that the server has not, or was sent in the request that it answers with theirs; undefined for neither. */
  readonly begun: PendingChange | undefined
  /** Whose value stands where both changed one field: the later writer's. */
  readonly winner: Side
  /** Whether the server has had ours for a short while only. */
  readonly isRecent: boolean
  /** Whether ours is a change that no server has acknowledged. */
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
  if (covers(theirs.lineage, mine.lineage)) return takeTheirs
  if (covers(mine.lineage, theirs.lineage)) return { ...keepMine, conflict: isWaiting ? undefined : 'older' }
  const known = versions.known.map(box => boxes.open(box)).filter(version => version !== undefined)
  const lineage = joined(mine.lineage, ...known.map(version => version.lineage))
  // Another client's version, or one made of it, may have known ours without saying so.
  const isUnsure = theirs.isForeign || hasUnseenForeign(theirs.lineage, lineage)
  const hasNone = isUnsure && mayUndo(theirs, { mine, before: known.at(-1) })
  const isUndone = theirs.isForeign || !hasNone
  if (isUnsure && isUndone && versions.begun === undefined)
    return { ...takeTheirs, conflict: hasNone && versions.isRecent ? 'foreign' : undefined }
  const found =
    isUnsure && isUndone ? begunOrigin(versions.begun, boxes) : originOf(known, { mine, theirs, lineage })
  const isLate = found === undefined
  if (isLate && mine.isForeign) return takeTheirs
  // What both were made of is not kept any more: only what is stamped can be told from what is old.
  const origin = found ?? { base: mine.text }
  const merged = mergeTexts({
    origin,
    mine,
    theirs,
    winner,
    isStamped: !(isUnsure && isUndone) && !mine.isForeign
  })
  const text = merged ?? (winner === 'mine' ? mine.text : theirs.text)
  const conflict = isLate ? 'late' : isWaiting ? undefined : isUnsure ? 'foreign' : 'merged'
  // What says the same is sent all the same, so that others learn what is in it; a deployed client asks for nothing of that.
  if (text === theirs.text && theirs.isForeign) return takeTheirs
  const both = mergedProvenance({ mine, theirs, winner })
  // What another client changed has no stamp yet.
  const provenance = theirs.isForeign
    ? stamped({ ...both, lineage: joined(theirs.lineage, both.lineage) }, changedFields(mine.text, text))
    : both
  const box = boxes.seal(text, provenance)
  return { data: versions.theirs, pending: { box, base: versions.theirs, sent: [] }, conflict }
}

/**
 * Tells whether a version that does not say what it knew may have been made without ours: it has nothing of our last edit.
 *
 * Who put all of it back on purpose writes the same. It stands, and whoever it concerns is told.
 */
const mayUndo = (
  theirs: FileVersion,
  { mine, before }: { readonly mine: FileVersion; readonly before: FileVersion | undefined }
): boolean => {
  const missing = new Set(changedFields(mine.text, theirs.text))
  const merged = mergeJson({ base: before?.text, mine: mine.text, theirs: theirs.text, winner: 'theirs' })
  return (
    merged !== theirs.text &&
    changedFields(before?.text ?? '{}', mine.text).every(field => missing.has(field))
  )
}

interface Origin {
  /** Undefined if two made the file, each without the other. */
  readonly base: string | undefined
  readonly earlier?: readonly string[]
}

/** What our change began with, as the server had it then and may have again. */
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

/** What both versions were made of, for the merge; undefined if that is not known. */
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
  // Two made the file, each without the other.
  const isNew = !mine.isForeign && !areRelated(lineage, theirs.lineage)
  return isNew ? { base: undefined } : undefined
}

const mergedOrigin = (known: readonly FileVersion[], left: FileVersion, right: FileVersion): FileVersion => {
  const older = known.filter(
    version => covers(left.lineage, version.lineage) && !covers(version.lineage, left.lineage)
  )
  const lineage = joined(left.lineage, right.lineage)
  const origin = originOf(older, { mine: left, theirs: right, lineage: left.lineage }) ?? { base: undefined }
  const sides = { mine: left, theirs: right, winner: 'theirs' as const }
  const isStamped = !left.isForeign && !right.isForeign
  const text = mergeTexts({ ...sides, origin, isStamped }) ?? right.text
  return { ...right, ...mergedProvenance(sides), text, lineage }
}

const mergeTexts = (sides: {
  readonly origin: Origin
  readonly mine: FileVersion
  readonly theirs: FileVersion
  readonly winner: Side
  /** Whether both say of their fields which edit made them. */
  readonly isStamped: boolean
}): string | undefined => {
  const { origin, mine, theirs, winner, isStamped } = sides
  const laterOf = isStamped ? (field: number) => laterSide(sides, field) : undefined
  return mergeJson({
    ...origin,
    ...{ mine: mine.text, theirs: theirs.text, winner },
    ...(laterOf && { laterOf })
  })
}
