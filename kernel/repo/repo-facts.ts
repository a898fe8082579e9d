import type { RepoSnapshot } from '../hooks/snapshots.ts'

/** How a repo stands with its server, whoever it belongs to. */
export type RepoState = Omit<RepoSnapshot, 'accountId' | 'walletId' | 'isOpen'>

/** The facts of a repo, with undefined for what is absent. */
export interface RepoFacts extends Omit<RepoState, 'lastHash' | 'errorCode'> {
  readonly lastHash?: string | undefined
  readonly errorCode?: string | undefined
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
  ...(errorCode === undefined ? {} : { errorCode })
})
