import { tryParseJson } from '../base/json.ts'
import { type BulkPrefixes, parseBulkPrefixes } from '../repo/store/bulk.ts'
import { type Box, isBox } from '../types/keys.ts'

/** A box in its one spelling, {@link boxText}, so that equal boxes are equal texts. */
export type BoxText = string

/** A change that the server has not acknowledged; `box` null is a deletion. */
export interface PendingChange {
  readonly box: BoxText | null
  /** The server's version when the first of these edits was made; null if none. For the three-way merge. */
  readonly base: BoxText | null
  /** Earlier texts of this change that may have reached the server without an acknowledgement; oldest first. */
  readonly sent: readonly BoxText[]
}

/** One file of a repo: what the server has, and our change that it has not. */
export interface RepoFile {
  readonly data: BoxText | undefined
  readonly pending: PendingChange | undefined
  /** Earlier versions of the server, as long as a device may still send a change made of one; oldest first. */
  readonly past?: PastVersions | undefined
}

/** Versions of a file that others have replaced. */
export interface PastVersions {
  /** When the newest of them was replaced, or the file was new, in milliseconds since 1970. */
  readonly at: number
  readonly boxes: readonly BoxText[]
  /** True if there was no file before them. */
  readonly isNew?: boolean
}

/** The keys of a repo in its local store; what follows the prefix is the path. */
export const PREFIX = {
  /** The present version of a file, whether the server has it or not. */
  file: 'f/',
  /** The server's version of a file whose change it has not acknowledged. */
  pending: 'c/',
  /** The server's earlier versions of a file that was changed a short while ago. */
  past: 'v/',
  /** Texts that were deleted, here or by a server. */
  removed: 'q/',
  /** Texts that the server has replaced. */
  replaced: 'k/',
  /** The edits known to the deletions that devices have sent. */
  tombstone: 't/',
  /** Which boxes were replaced; one that a server has again is an old state. */
  old: 'o/',
  /** The sessions of this device. */
  sessions: 'e',
  /** The number of kept boxes that do not open. */
  unopened: 'u',
  /** The latest states of the server that were seen. */
  hashes: 'h',
  /** When a server last showed an older state, and of how many files. */
  rollback: 'b',
  /** The revision in which a file of a table was deleted. */
  gone: 'x/',
  status: 's',
  /** A mark of the last damage; one that comes before that is healed is the same. */
  damage: 'd',
  revision: 'r',
  local: 'w/'
} as const

/** The folders of a repo that may hold very many files. */
export const LARGE_FOLDERS: readonly string[] = ['transaction/', 'Transactions/']

/** The tables of a repo in its local store. */
export const BULK: BulkPrefixes = parseBulkPrefixes([
  ...LARGE_FOLDERS.map(folder => PREFIX.file + folder),
  `${PREFIX.local}t/+/`
])

/** The one spelling of a box, so that equal boxes are equal texts; unknown fields are dropped. */
export const boxText = ({ encryptionType, iv_hex, data_base64 }: Box): BoxText =>
  JSON.stringify({ encryptionType, iv_hex, data_base64 })

/** {@link boxText} of a box of today, whose fields are letters of base64 only. */
export const plainBoxText = (vector: string, data: string): BoxText =>
  `{"encryptionType":0,"iv_hex":"${vector}","data_base64":"${data}"}`

/** Checks if a text is a box of today in its one spelling, without looking into its fields. */
export const isPlainBox = (text: string): boolean => {
  const vectorEnd = BEFORE_VECTOR.length + VECTOR_LENGTH
  return (
    text.startsWith(BEFORE_VECTOR) &&
    text.indexOf('"', BEFORE_VECTOR.length) === vectorEnd &&
    text.startsWith(BEFORE_DATA, vectorEnd) &&
    text.indexOf('"', vectorEnd + BEFORE_DATA.length) === text.length - 2 &&
    text.endsWith('}')
  )
}

/** Reads a box from text, or undefined if it has not the shape of one. */
export const parseBox = (text: string | undefined): Box | undefined => {
  if (text !== undefined && isPlainBox(text)) {
    const vectorEnd = BEFORE_VECTOR.length + VECTOR_LENGTH
    return {
      encryptionType: 0,
      iv_hex: text.slice(BEFORE_VECTOR.length, vectorEnd),
      data_base64: text.slice(vectorEnd + BEFORE_DATA.length, -2)
    }
  }
  const value = tryParseJson(text)
  return isBox(value) ? value : undefined
}

/**
 * Returns the store's entry of a pending change, beside the file itself; it says how `data` differs from the base, if it
 * does, and whether the change is a deletion.
 */
export const pendingEntry = ({ data, pending }: RepoFile): string | null => {
  if (pending === undefined) return null
  const { box, base, sent } = pending
  if (box !== null && base === null && sent.length === 0) return NEW
  if (box !== null && base === box && data === undefined && sent.length === 0) return AGAIN
  const list = `[${[base ?? 'null', ...sent].join()}]`
  const left = base !== null && data === undefined ? LEFT + list : list
  return box === null ? DELETED + left : left
}

/**
 * The inverse of {@link pendingEntry}, given what the file is now.
 *
 * The text of a change that is no deletion, and has no file, was lost on this device: nothing is left of it to be sent.
 */
export const parseFile = (file: BoxText | undefined, entry: string | undefined): RepoFile => {
  if (entry === undefined) return { data: file, pending: undefined }
  const isDeleted = entry.startsWith(DELETED)
  if (file === undefined && !isDeleted) return { data: undefined, pending: undefined }
  const box = file ?? null
  if (entry === NEW) return { data: undefined, pending: { box, base: null, sent: [] } }
  if (entry === AGAIN) return { data: undefined, pending: { box, base: box, sent: [] } }
  const rest = isDeleted ? entry.slice(DELETED.length) : entry
  const isLeft = rest.startsWith(LEFT)
  const list = tryParseJson(isLeft ? rest.slice(LEFT.length) : rest)
  const [base, ...sent] = Array.isArray(list) ? (list as unknown[]) : []
  const baseText = isBox(base) ? boxText(base) : null
  const pending = { box, base: baseText, sent: sent.filter(isBox).map(boxText) }
  return { data: isLeft ? undefined : (baseText ?? undefined), pending }
}

/** Returns the store's entry of the past of a file; null for a file without a past. */
export const pastEntry = (past: PastVersions | undefined): string | null =>
  past === undefined ? null : `${past.at}[${[...(past.isNew ? ['null'] : []), ...past.boxes].join()}]`

/** The inverse of {@link pastEntry}. */
export const parsePast = (entry: string | undefined): PastVersions | undefined => {
  if (entry === undefined) return undefined
  const list = tryParseJson(entry.slice(entry.indexOf('[')))
  const boxes: unknown[] = Array.isArray(list) ? list : []
  return { at: pastTimeOf(entry), boxes: boxes.filter(isBox).map(boxText), isNew: boxes[0] === null }
}

/** When the newest version in {@link pastEntry} was replaced; it need not be parsed for that. */
export const pastTimeOf = (entry: string): number => {
  const at = Number(entry.slice(0, entry.indexOf('[')))
  return Number.isFinite(at) ? at : 0
}

/** A past with more versions, the oldest and the newest of them if they are many. */
export const pastWith = (
  past: PastVersions | undefined,
  boxes: readonly (BoxText | null | undefined)[],
  now: number
): PastVersions | undefined => {
  const known = past?.boxes ?? []
  const added = boxes.filter(
    (box, i): box is BoxText => !!box && !known.includes(box) && boxes.indexOf(box) === i
  )
  if (added.length === 0) return past
  const all = [...known, ...added]
  const kept = all.length > MAX_PAST ? [...all.slice(0, 1), ...all.slice(1 - MAX_PAST)] : all
  return { at: now, boxes: kept, isNew: past?.isNew === true }
}

/** Returns the visible box of a file: our change, or else the server's. */
export const visibleOf = ({ data, pending }: RepoFile): BoxText | undefined =>
  pending === undefined ? data : (pending.box ?? undefined)

/** Returns the vector of a box, which is unique among the boxes of its file. */
export const vectorOf = (box: BoxText | null): string => (box === null ? '' : (parseBox(box)?.iv_hex ?? ''))

/** The most versions that are kept of a file. */
const MAX_PAST = 8

/** The entry of a change of a file that the server never had. */
const NEW = 'new'
/** The entry of a file that was acknowledged, is unchanged, and is on the server no more. */
export const AGAIN = 'again'
/** Before the entry of a deletion. */
const DELETED = 'x'
/** Before the entry of a change whose file the server has deleted since. */
const LEFT = '-'

const BEFORE_VECTOR = '{"encryptionType":0,"iv_hex":"'
const VECTOR_LENGTH = 32
const BEFORE_DATA = '","data_base64":"'
