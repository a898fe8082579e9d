import type { RepoSnapshot } from '../hooks/snapshots.ts'

/** The facts of a repo, with undefined for what is absent. */
export interface RepoFacts extends Omit<RepoSnapshot, 'lastHash' | 'errorCode'> {
  readonly lastHash?: string | undefined
  readonly errorCode?: string | undefined
}

/**
 * The snapshot of a repo.
 *
 * It is made of fields by name: what is spread and taken apart has a hidden shape of its own, which costs memory.
 */
export const repoSnapshotOf = ({ lastHash, errorCode, ...facts }: RepoFacts): RepoSnapshot => ({
  repoId: facts.repoId,
  pendingCount: facts.pendingCount,
  lastSync: facts.lastSync,
  isSyncing: facts.isSyncing,
  ...(lastHash === undefined ? {} : { lastHash }),
  ...(errorCode === undefined ? {} : { errorCode })
})
