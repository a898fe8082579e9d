import { type Box, isBox } from '../types/keys.ts'

/** A change that the server has not acknowledged; `box` null is a deletion. */
export interface PendingChange {
  readonly box: Box | null
  /** What the server had when the first of these edits was made; null if nothing. For the three-way merge. */
  readonly base: Box | null
  /** Earlier texts of this change that may have reached the server although nobody said so; oldest first. */
  readonly sent: readonly Box[]
}

/** How far a repo is with its server. */
export interface RepoStatus {
  /** Unix seconds; 0 before the first sync. */
  readonly lastSync: number
  readonly lastHash?: string
}

/** The keys of a repo in its local store; what follows the prefix is the path. */
export const PREFIX = {
  data: 'd/',
  pending: 'c/',
  removed: 'q/',
  status: 's',
  revision: 'r',
  local: 'w/'
} as const

/** Tells whether a key of the store is a file's, or its change's. */
export const isFileKey = (key: string): boolean =>
  key.startsWith(PREFIX.data) || key.startsWith(PREFIX.pending)

/** The tables of a repo in its local store. */
export const BULK: readonly string[] = [`${PREFIX.local}t/+/`]

/** The one spelling of a box, so that equal boxes are equal texts; unknown fields are dropped. */
export const boxText = ({ encryptionType, iv_hex, data_base64 }: Box): string =>
  JSON.stringify({ encryptionType, iv_hex, data_base64 })

/** Reads a box from text, or undefined if it has not the shape of one. */
export const parseBox = (text: string | undefined): Box | undefined => {
  const value = parse(text)
  return isBox(value) ? value : undefined
}

/** The text of a pending change in the store. */
export const pendingText = ({ box, base, sent }: PendingChange): string =>
  `[${[box, base, ...sent].map(item => (item === null ? 'null' : boxText(item))).join()}]`

/** The inverse of {@link pendingText}; undefined for anything else. */
export const parsePending = (text: string | undefined): PendingChange | undefined => {
  const value = parse(text)
  if (!Array.isArray(value)) return undefined
  const [box, base, ...sent] = value as unknown[]
  return isBoxOrNull(box) && isBoxOrNull(base) ? { box, base, sent: sent.filter(isBox) } : undefined
}

/** Reads a status, also that of a deployed client; anything unreadable is "never synced" (protocol §3.3). */
export const parseStatus = (text: string | undefined): RepoStatus => {
  const value = parse(text)
  if (typeof value !== 'object' || value === null) return { lastSync: 0 }
  const { lastSync, lastHash } = value as { lastSync?: unknown; lastHash?: unknown }
  const seconds = typeof lastSync === 'number' && Number.isFinite(lastSync) && lastSync > 0 ? lastSync : 0
  return isHash(lastHash) ? { lastSync: seconds, lastHash } : { lastSync: seconds }
}

/** Tells whether a value can be a server's mark of a revision: it must be safe inside a URL. */
export const isHash = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9_=-]{1,256}$/.test(value)

const isBoxOrNull = (value: unknown): value is Box | null => value === null || isBox(value)

const parse = (text: string | undefined): unknown => {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
