import type { RepoSnapshot } from '../../../kernel/index.ts'
import type { View } from '../slices.ts'

/** One synced repo. */
export interface RepoRow extends RepoSnapshot {
  /** `new`: never exchanged; `pending`: something of this device is not on the server yet. */
  readonly state: 'failed' | 'syncing' | 'new' | 'pending' | 'synced'
  /** Since the last exchange, in seconds; undefined before the first. */
  readonly secondsAgo?: number
}

/** One row a repo. `now`: Unix seconds (pure). */
export const repoRows = (view: View, now: number): readonly RepoRow[] =>
  [...view.repos.values()].map(repo => ({
    ...repo,
    state: stateOf(repo),
    ...(repo.lastSync === 0 ? {} : { secondsAgo: Math.max(0, now - repo.lastSync) })
  }))

const stateOf = ({ errorCode, isSyncing, lastSync, pendingCount }: RepoSnapshot): RepoRow['state'] => {
  if (isSyncing) return 'syncing'
  if (errorCode !== undefined) return 'failed'
  if (pendingCount > 0) return 'pending'
  return lastSync === 0 ? 'new' : 'synced'
}
