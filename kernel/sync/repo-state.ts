import { compact } from '../base/compact.ts'
import { isRecord, tryParseJson } from '../base/json.ts'
import type { RepoSnapshot } from '../types/snapshots.ts'
import { PREFIX } from './repo-record.ts'

/** The sync state of a repo, without its owner. */
export type RepoState = Omit<RepoSnapshot, 'accountId' | 'walletId' | 'isOpen'>

/** The facts of a repo, with undefined for what is absent. */
export interface RepoStateFields
  extends Omit<
    RepoState,
    | 'lastHash'
    | 'errorCode'
    | 'keptCount'
    | 'rolledBackAt'
    | 'rolledBackFiles'
    | 'mergedCount'
    | 'doubtfulCount'
    | 'isDeviceOnly'
  > {
  readonly lastHash?: string | undefined
  readonly errorCode?: string | undefined
  readonly keptCount?: number | undefined
  readonly rolledBackAt?: number | undefined
  readonly rolledBackFiles?: number | undefined
  readonly mergedCount?: number | undefined
  readonly doubtfulCount?: number | undefined
  readonly isDeviceOnly?: true | undefined
}

/**
 * The state of a repo.
 *
 * It is made of fields by name: what is spread and taken apart has a hidden shape of its own, which costs memory.
 */
export const repoStateOf = ({ lastHash, errorCode, ...facts }: RepoStateFields): RepoState => ({
  repoId: facts.repoId,
  pendingCount: facts.pendingCount,
  lastSync: facts.lastSync,
  isSyncing: facts.isSyncing,
  ...compact({
    lastHash,
    errorCode,
    keptCount: facts.keptCount || undefined,
    rolledBackAt: facts.rolledBackAt,
    rolledBackFiles: facts.rolledBackFiles,
    mergedCount: facts.mergedCount,
    doubtfulCount: facts.doubtfulCount,
    isDeviceOnly: facts.isDeviceOnly
  })
})

/** The time at which a server last showed an older state, and the number of files concerned. */
export type Rollback = Pick<RepoState, 'rolledBackAt' | 'rolledBackFiles'>

/** Reads a {@link Rollback} of this device; nothing if there was none. */
export const parseRollback = (text: string | undefined): Rollback => {
  const value = tryParseJson(text)
  if (!isRecord(value)) return {}
  const { at, files } = value
  return typeof at === 'number' && typeof files === 'number'
    ? { rolledBackAt: at, rolledBackFiles: files }
    : {}
}

/** The last sync of a repo and the server's state then. */
export interface SyncPosition {
  /** Unix seconds; 0 before the first sync. */
  readonly lastSync: number
  readonly lastHash?: string
  /** Something was lost on this device since: what the server does not have may never have reached it. */
  readonly isDamaged?: boolean
}

/** Reads a status, also that of a deployed client; anything unreadable is "never synced" (protocol §3.3). */
export const parseStatus = (text: string | undefined): SyncPosition => {
  const value = tryParseJson(text)
  if (typeof value !== 'object' || value === null) return { lastSync: 0 }
  const { lastSync, lastHash, isDamaged } = value as Partial<Record<keyof SyncPosition, unknown>>
  const seconds = typeof lastSync === 'number' && Number.isFinite(lastSync) && lastSync > 0 ? lastSync : 0
  return {
    lastSync: seconds,
    ...compact({
      lastHash: isHash(lastHash) ? lastHash : undefined,
      isDamaged: isDamaged === true || undefined
    })
  }
}

/** Checks if a value can be a server's mark of a revision: it must be safe inside a URL. */
export const isHash = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9_=-]{1,256}$/.test(value)

/**
 * Returns the entries that record a loss on this device: the next sync fetches everything, the damage gets a mark, and what is edited
 * then is of a device of another name, as this one may not know all that it has edited.
 *
 * @param sessions - {@link EditCount.stored}, without the name of before
 */
export const damageNotes = (
  status: string | undefined,
  now: number,
  sessions: string
): Map<string, string | null> => {
  const { lastSync, isDamaged } = parseStatus(status)
  const notes = new Map<string, string | null>([
    [PREFIX.status, JSON.stringify({ lastSync, isDamaged: true })],
    [PREFIX.sessions, sessions || null]
  ])
  return isDamaged === true ? notes : notes.set(PREFIX.damage, String(now))
}
