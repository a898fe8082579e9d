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
  merged: repo.mergedCount ?? 0,
  doubtful: repo.doubtfulCount ?? 0,
  lastSync: repo.lastSync > 0 ? new Date(repo.lastSync * 1000).toISOString() : null,
  syncing: repo.isSyncing,
  error: repo.errorCode ?? null,
  kept: repo.keptCount ?? 0,
  rolledBackAt: repo.rolledBackAt === undefined ? null : new Date(repo.rolledBackAt * 1000).toISOString(),
  rolledBackFiles: repo.rolledBackFiles ?? 0
})

/** What a person should know of repos: that a server showed an older state, and that texts can be brought back. */
export const repoAdvice = (repos: readonly RepoStatus[]): { readonly advice?: readonly string[] } => {
  const kept = repos.reduce((sum, { keptCount = 0 }) => sum + keptCount, 0)
  const old = repos.filter(({ rolledBackAt }) => rolledBackAt !== undefined)
  const files = old.reduce((sum, { rolledBackFiles = 0 }) => sum + rolledBackFiles, 0)
  const at = Math.max(...old.map(({ rolledBackAt = 0 }) => rolledBackAt))
  const lines = [
    ...(old.length === 0
      ? []
      : [
          `A sync server showed an older state, last at ${localTime(new Date(at * 1000))} (${files} files of ${old.length} repos); what this device has is newer, stayed, and was sent again.`
        ]),
    ...(kept === 0
      ? []
      : [
          `${kept} deleted or replaced ${kept === 1 ? 'file is' : 'files are'} kept for 30 days: holdfast data recover lists them.`
        ])
  ]
  return lines.length === 0 ? {} : { advice: lines }
}

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
