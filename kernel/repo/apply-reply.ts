import { mergeJson } from './merge-json.ts'
import type { BoxText, PendingChange, RepoFile } from './repo-record.ts'

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

/** Opening and sealing with the repo's own key. */
export interface FileBoxes {
  /** Undefined if the box cannot be opened as text. */
  open(box: BoxText): string | undefined
  /** Tells whether a box opens, as text or not. */
  canOpen(box: BoxText): boolean
  seal(text: string): BoxText
}

/**
 * What becomes of one file after a reply. Pure but for the sealing of a merge.
 *
 * A change is dropped only if it is still what was sent (protocol §8 row 13); a newer edit stays, with the sent
 * text as its base. A text of ours that comes back although nobody acknowledged it is no other device's. Where both
 * sides changed a file, JSON objects merge per field; of a deletion and an edit the edit stays; else the last writer
 * wins.
 */
export const applyToFile = (
  file: RepoFile,
  path: string,
  reply: AppliedReply,
  boxes: FileBoxes
): RepoFile => {
  const sent = reply.sent.get(path)
  const acknowledged = sent === undefined ? file : acknowledge(file, sent)
  const theirs = reply.changes.get(path)
  if (theirs === undefined) return acknowledged
  if (sameBox(acknowledged.data, theirs)) return acknowledged
  if (sent !== undefined && acknowledged.pending === undefined) return answerOf(sent, theirs, boxes)
  return serverChange(acknowledged, theirs, boxes)
}

/** Tells whether two boxes, or two absences, are the same. */
const sameBox = (left: BoxText | null | undefined, right: BoxText | null | undefined): boolean =>
  (left ?? null) === (right ?? null)

const acknowledge = ({ pending }: RepoFile, sent: PendingChange): RepoFile => {
  const data = sent.box ?? undefined
  if (pending === undefined) return { data, pending: undefined }
  if (sameBox(pending.box, sent.box)) return { data, pending: undefined }
  return { data, pending: { box: pending.box, base: sent.box, sent: [] } }
}

// The server was just told our text and answers with another: it knows of a write that we have not seen.
const answerOf = (sent: PendingChange, theirs: BoxText | null, boxes: FileBoxes): RepoFile => {
  if (theirs === null) return { data: undefined, pending: undefined }
  if (sent.box === null) {
    const isKept = sameBox(sent.base, theirs)
    return { data: theirs, pending: isKept ? { box: null, base: theirs, sent: [] } : undefined }
  }
  return mergeOf({ ...sent, mine: sent.box, theirs, winner: 'theirs' }, boxes)
}

const serverChange = ({ pending }: RepoFile, theirs: BoxText | null, boxes: FileBoxes): RepoFile => {
  if (pending === undefined) return { data: theirs ?? undefined, pending }
  const isEdit = pending.box !== null && !sameBox(pending.box, pending.base)
  if (theirs === null) return { data: undefined, pending: isEdit ? pending : undefined }
  const isOurs = [pending.base, ...pending.sent].some(old => sameBox(old, theirs))
  if (isOurs && sameBox(pending.box, theirs)) return { data: theirs, pending: undefined }
  if (isOurs) return { data: theirs, pending: { box: pending.box, base: theirs, sent: [] } }
  if (pending.box === null || !isEdit) return { data: theirs, pending: undefined }
  return mergeOf({ ...pending, mine: pending.box, theirs, winner: 'mine' }, boxes)
}

interface Conflict {
  readonly mine: BoxText
  readonly base: BoxText | null
  readonly sent: readonly BoxText[]
  readonly theirs: BoxText
  readonly winner: 'mine' | 'theirs'
}

const mergeOf = ({ mine, base, sent, theirs, winner }: Conflict, boxes: FileBoxes): RepoFile => {
  const texts = { mine: boxes.open(mine), theirs: boxes.open(theirs) }
  const keepMine: RepoFile = { data: theirs, pending: { box: mine, base: theirs, sent: [] } }
  const takeTheirs: RepoFile = { data: theirs, pending: undefined }
  if (texts.mine === undefined || texts.mine === texts.theirs) return takeTheirs
  if (texts.theirs === undefined) return keepMine
  const baseText = base === null ? undefined : boxes.open(base)
  const earlier = sent.map(box => boxes.open(box)).filter(text => text !== undefined)
  const merged = mergeJson({ base: baseText, earlier, mine: texts.mine, theirs: texts.theirs, winner })
  if (merged === undefined) return winner === 'mine' ? keepMine : takeTheirs
  if (merged === texts.theirs) return takeTheirs
  if (merged === texts.mine) return keepMine
  return { data: theirs, pending: { box: boxes.seal(merged), base: theirs, sent: [] } }
}
