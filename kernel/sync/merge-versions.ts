import { compact } from '../base/compact.ts'
import type { EditCount } from './edit-count.ts'
import {
  areRelated,
  covers,
  hasUnknownForeignEdit,
  hiddenEdits,
  isOwnEdit,
  joinLineages,
  type Lineage,
  laterSide,
  mergedProvenance,
  ofFloors,
  type Provenance,
  saySame,
  stampFields,
  withoutClaims
} from './lineage.ts'
import { changedFields, mergeJson, type Side, WHOLE_FILE } from './merge.ts'
import type { BoxText, PendingChange, RepoFile } from './repo-record.ts'

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
  /** Checks if a box opens, as text or not. */
  canOpen(box: BoxText): boolean
  seal(text: string, provenance: Provenance): BoxText
  /** The edits that are made here. */
  readonly edits: Pick<EditCount, 'next' | 'copied' | 'isOwn' | 'findCopies'>
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

/** Our version of a file and the server's, neither of which is known to have been made of the other. */
export interface TwoVersions {
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

/**
 * Makes one version of two (pure but for the sealing).
 *
 * A version that contains the other is taken. Else JSON objects merge field by field from the version that both were made of,
 * and the result is to be sent; of what cannot be merged the later writer wins.
 */
export const mergeVersions = (versions: TwoVersions, boxes: FileBoxes): AppliedFile => {
  const { isWaiting, winner } = versions
  const [mine, received] = [boxes.open(versions.mine), boxes.open(versions.theirs)]
  const takeTheirs: RepoFile = { data: versions.theirs, pending: undefined }
  if (mine === undefined || (received?.isForeign && mine.text === received.text)) return takeTheirs
  const keepMine: RepoFile = {
    data: versions.theirs,
    pending: { box: versions.mine, base: versions.theirs, sent: [] }
  }
  if (received === undefined) return isWaiting ? keepMine : takeTheirs
  const pending = isWaiting ? versions.begun : undefined
  const before = versions.known.at(-1)
  const claims = claimsOf(received.lineage, { mine: mine.lineage, pending, before }, boxes)
  const theirs = { ...received, lineage: claims }
  const isDoubted = theirs.lineage !== received.lineage
  const isLater = covers(theirs.lineage, mine.lineage)
  // A device that merged another client's version with ours may have taken all of that one.
  const hasForeign = hasUnknownForeignEdit(received.lineage, new Map())
  if (isLater && !hasForeign) return takeTheirs
  const { copied } = boxes.edits
  const ourClaims = withoutClaims(mine.lineage, {
    ...{ mine: received.lineage, waiting: undefined, before: ofFloors(received.lineage, copied), copied },
    isOwn: session => !boxes.edits.isOwn(session)
  })
  if (!isLater && covers(ourClaims, theirs.lineage))
    return { ...keepMine, conflict: isWaiting ? undefined : 'older' }
  const known = versions.known.map(box => boxes.open(box)).filter(version => version !== undefined)
  const lineage = joinLineages(mine.lineage, ...known.map(version => version.lineage))
  // Another client's version, or one made of it, may have known ours without saying so.
  const mayKnow = theirs.isForeign || hasUnknownForeignEdit(theirs.lineage, lineage)
  const conflictIn = (text: string): Conflict | undefined =>
    mayKnow && versions.isRecent && hasReturned(text, mine, { known, isNew: versions.isNew })
      ? 'foreign'
      : undefined
  if (isLater) {
    const isReported =
      versions.isRecent && hasReturned(theirs.text, mine, { known, isNew: versions.isNew, by: theirs })
    return { ...takeTheirs, conflict: isReported ? 'foreign' : undefined }
  }
  const isUndone = mayKnow && (theirs.isForeign || !hasNone(theirs, { mine, before: known.at(-1) }))
  if (isUndone && versions.begun === undefined) return { ...takeTheirs, conflict: conflictIn(theirs.text) }
  const found = isUndone ? begunOrigin(versions.begun, boxes) : originOf(known, { mine, theirs, lineage })
  const isLate = found === undefined
  if (isLate && mine.isForeign) return takeTheirs
  // The version that both were made of is not kept any more: only stamped fields can be distinguished from old ones.
  const origin = found ?? { base: mine.text }
  const ours = ofFloors(ourClaims, copied)
  const sides = { mine: { ...withStamps(mine), lineage: ours }, theirs: withStamps(theirs), winner }
  const isStamped = !theirs.isForeign && !mine.isForeign
  const text = mergeTexts({ ...sides, origin, isStamped })
  const conflict = isLate ? 'late' : (conflictIn(text) ?? (isWaiting ? undefined : 'merged'))
  // What says the same is sent all the same, so that others learn what is in it; a deployed client asks for nothing of that.
  if (text === theirs.text && theirs.isForeign) return { ...takeTheirs, conflict }
  const both = { ...mergedProvenance(sides), lineage: joinLineages(mine.lineage, received.lineage) }
  if (text === received.text && saySame(both.lineage, received.lineage)) return { ...takeTheirs, conflict }
  // What another client changed has no stamp yet.
  const provenance = theirs.isForeign
    ? stampFields(
        { ...both, lineage: joinLineages(theirs.lineage, both.lineage) },
        changedFields(mine.text, text)
      )
    : both
  // An old edit of one side that the box has no room to list, or that others would take for one that they know, would be lost: the
  // merge is an edit of its own, and gives what it keeps of that one its value anew.
  const hidden = hiddenEdits(provenance.lineage, [lineage, theirs.lineage])
  const added = changedFields(received.text, text).filter(field => {
    const stamp = provenance.stamps.get(field)
    return isDoubted || stamp === undefined || hidden.has(stamp.session)
  })
  const isEdit = isDoubted || hidden.size > 0
  const box = isEdit ? sealAnew({ ...provenance, text }, added, boxes) : boxes.seal(text, provenance)
  return { data: versions.theirs, pending: { box, base: versions.theirs, sent: [] }, conflict }
}

/** Seals a text as an edit of now, which gives some fields their values. */
export const sealAnew = (
  { text, ...provenance }: Provenance & { readonly text: string },
  fields: readonly number[],
  boxes: FileBoxes
): BoxText => {
  const edit = boxes.edits.next(provenance, fields)
  return boxes.seal(text, fields.length > 0 ? edit : { ...edit, stamps: provenance.stamps })
}

/** Our version of a file, of which another one says what it knows. */
export interface KnownVersion {
  readonly mine: Lineage
  /** The change in it that waits. */
  readonly pending: PendingChange | undefined
  /** The version before what was sent last, if it is kept: each sync reads first, so that what was sent before is there. */
  readonly before: BoxText | undefined
}

/** What a version says that it knows, without what it cannot know of ours. A copy of this device that shows in it is noted. */
export const claimsOf = (
  lineage: Lineage,
  { mine, pending, before }: KnownVersion,
  boxes: FileBoxes
): Lineage => {
  const { edits } = boxes
  edits.findCopies(lineage, mine)
  const waiting = pending && (openedBase(pending, boxes)?.lineage ?? NO_EDITS)
  const { copied } = edits
  const sent = copied.size === 0 || before === undefined ? undefined : boxes.open(before)?.lineage
  const isOwn = (session: string): boolean => edits.isOwn(session)
  return withoutClaims(lineage, { mine, waiting, before: waiting ?? sent, copied, isOwn })
}

const NO_EDITS: Lineage = new Map()

const openedBase = (begun: PendingChange | undefined, boxes: FileBoxes): FileVersion | undefined =>
  begun?.base ? boxes.open(begun.base) : undefined

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
  return { base: openedBase(begun, boxes)?.text, earlier }
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
export const withStamps = (version: FileVersion): FileVersion =>
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
