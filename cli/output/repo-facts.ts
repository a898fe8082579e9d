import type { CurrencyWallet, JsonObject, RepoStatus } from '../../kernel/index.ts'
import { localTime } from './times.ts'
import type { Cell } from './view.ts'

/** Names the owner of a repo for people: its wallet, or the account. */
export const ownerNameOf = (
  { ownerId, type }: Pick<RepoStatus, 'ownerId' | 'type'>,
  wallets: readonly Pick<CurrencyWallet, 'id' | 'name'>[]
): string => {
  const wallet = wallets.find(({ id }) => id === ownerId)
  if (wallet !== undefined) return wallet.name ?? wallet.id
  return type.startsWith('wallet:') ? ownerId : 'account'
}

/** A repo for scripts. */
export const repoJson = (repo: RepoStatus): JsonObject => ({
  repoId: repo.repoId,
  ownerId: repo.ownerId,
  type: repo.type,
  hashBefore: repo.openingHash ?? null,
  hash: repo.lastHash ?? null,
  sent: repo.sent,
  received: repo.received,
  pending: repo.pendingCount,
  lastSync: repo.lastSync > 0 ? new Date(repo.lastSync * 1000).toISOString() : null,
  syncing: repo.isSyncing,
  error: repo.errorCode ?? null
})

/** How a repo stands, in a word. */
export const repoCell = ({ errorCode, isSyncing, pendingCount, lastSync }: RepoStatus): Cell => {
  if (errorCode !== undefined) return { text: errorCode, tone: 'bad' }
  if (isSyncing) return { text: 'syncing', tone: 'warn' }
  if (pendingCount > 0) return { text: 'to upload', tone: 'warn' }
  return lastSync > 0 ? { text: 'synced', tone: 'good' } : { text: 'never synced', tone: 'warn' }
}

/** When a repo was synced last, for people. */
export const lastSyncText = ({ lastSync }: RepoStatus): string =>
  lastSync > 0 ? localTime(new Date(lastSync * 1000)) : ''

/** A hash of the server in short: enough to be compared by eye. */
export const shortHash = (hash: string | undefined): string => hash?.slice(0, 8) ?? ''
