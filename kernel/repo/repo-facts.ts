import { isRecord, tryParseJson } from '../base/json.ts'
import type { RepoSnapshot } from '../types/snapshots.ts'

/** How a repo stands with its server, whoever it belongs to. */
export type RepoState = Omit<RepoSnapshot, 'accountId' | 'walletId' | 'isOpen'>

/** The facts of a repo, with undefined for what is absent. */
export interface RepoFacts
  extends Omit<
    RepoState,
    | 'lastHash'
    | 'errorCode'
    | 'keptCount'
    | 'rolledBackAt'
    | 'rolledBackFiles'
    | 'mergedCount'
    | 'doubtfulCount'
  > {
  readonly lastHash?: string | undefined
  readonly errorCode?: string | undefined
  readonly keptCount?: number | undefined
  readonly rolledBackAt?: number | undefined
  readonly rolledBackFiles?: number | undefined
  readonly mergedCount?: number | undefined
  readonly doubtfulCount?: number | undefined
}

/**
 * The state of a repo.
 *
 * It is made of fields by name: what is spread and taken apart has a hidden shape of its own, which costs memory.
 */
export const repoStateOf = ({ lastHash, errorCode, ...facts }: RepoFacts): RepoState => ({
  repoId: facts.repoId,
  pendingCount: facts.pendingCount,
  lastSync: facts.lastSync,
  isSyncing: facts.isSyncing,
  ...(lastHash === undefined ? {} : { lastHash }),
  ...(errorCode === undefined ? {} : { errorCode }),
  ...(facts.keptCount === undefined || facts.keptCount === 0 ? {} : { keptCount: facts.keptCount }),
  ...(facts.rolledBackAt === undefined ? {} : { rolledBackAt: facts.rolledBackAt }),
  ...(facts.rolledBackFiles === undefined ? {} : { rolledBackFiles: facts.rolledBackFiles }),
  ...(facts.mergedCount === undefined ? {} : { mergedCount: facts.mergedCount }),
  ...(facts.doubtfulCount === undefined ? {} : { doubtfulCount: facts.doubtfulCount })
})

/** When a server last had an older state, and of how many files. */
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
