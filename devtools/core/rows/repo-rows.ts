import { compact, type RepoSnapshot } from '../../../kernel/index.ts'
import type { JournalEvent } from '../model/facts.ts'
import type { View } from '../model/slices.ts'

/** One synced repo. */
export interface RepoRow extends RepoSnapshot {
  /** The name of its owner: of the wallet or the account. */
  readonly title: string
  readonly kind: 'account' | 'wallet'
  /** `new`: never exchanged; `pending`: something of this device is not on the server yet. */
  readonly state: 'failed' | 'syncing' | 'new' | 'pending' | 'synced' | 'on this device only'
  /** Since the last exchange, in seconds; undefined before the first. */
  readonly secondsAgo?: number
  /** The next step after the error, if there is one. */
  readonly help?: string
}

/** One row a repo. `now`: Unix seconds (pure). */
export const repoRows = (view: View, now: number): readonly RepoRow[] =>
  [...view.repos.values()].map(repo => ({
    ...repo,
    ...ownerOf(view, repo),
    state: stateOf(repo),
    ...compact({
      secondsAgo: repo.lastSync === 0 ? undefined : Math.max(0, now - repo.lastSync),
      help: repo.errorCode === undefined ? undefined : (helps[repo.errorCode] ?? HELP)
    })
  }))

/** The result of one sync of a repo. */
export interface RepoSync {
  readonly seq: number
  /** Unix milliseconds. */
  readonly at: number
  /** Why it failed; undefined if it did not. */
  readonly errorCode?: string
  /** The first of the files that went each way, and how many there were. */
  readonly sent: readonly string[]
  readonly sentCount: number
  readonly received: readonly string[]
  readonly receivedCount: number
}

/** Lists the syncs of a repo that moved files or failed, the newest first (pure). */
export const repoHistory = (events: readonly JournalEvent[], repoId: string): readonly RepoSync[] => {
  const moments: RepoSync[] = []
  let wasSyncing = true
  for (const { hook, subject, seq, at, data } of events) {
    if (subject !== repoId) continue
    if (hook === 'filesExchanged') moments.push({ seq, at, ...filesOf(data) })
    if (hook !== 'repoChanged') continue
    const { isSyncing, errorCode } = data
    // Each later change repeats a failure.
    if (wasSyncing && isSyncing === false && typeof errorCode === 'string')
      moments.push({ seq, at, errorCode, ...filesOf({}) })
    wasSyncing = isSyncing === true
  }
  return moments.slice(-MOST).reverse()
}

const filesOf = (
  data: JournalEvent['data']
): Pick<RepoSync, 'received' | 'receivedCount' | 'sent' | 'sentCount'> => ({
  sent: pathsOf(data.sent),
  sentCount: Number(data.sentCount ?? 0),
  received: pathsOf(data.received),
  receivedCount: Number(data.receivedCount ?? 0)
})

const pathsOf = (value: JournalEvent['data'][string] | undefined): readonly string[] =>
  Array.isArray(value) ? value.map(String) : []

const MOST = 50

const ownerOf = (view: View, { accountId, walletId }: RepoSnapshot): Pick<RepoRow, 'kind' | 'title'> => {
  if (walletId === undefined)
    return { kind: 'account', title: view.accounts.get(accountId)?.username ?? 'Light account' }
  const { name, type } = view.wallets.get(walletId) ?? {}
  return {
    kind: 'wallet',
    title: name === undefined || name === null || name === '' ? (type ?? walletId) : name
  }
}

const stateOf = (repo: RepoSnapshot): RepoRow['state'] => {
  const { errorCode, isSyncing, lastSync, pendingCount, isDeviceOnly } = repo
  if (isDeviceOnly === true) return 'on this device only'
  if (isSyncing) return 'syncing'
  if (errorCode !== undefined) return 'failed'
  if (pendingCount > 0) return 'pending'
  return lastSync === 0 ? 'new' : 'synced'
}

const DISK = 'Free some space on this device, then sync now. Saved data is unharmed.'
const NETWORK =
  'No sync server could be reached, or none gave a valid reply. Pending changes are saved on this device, and the next sync uploads them.'
const HELP = 'The kernel tries again, each time after a longer wait. The logs say more.'
const helps: Readonly<Record<string, string>> = {
  NETWORK,
  SYNC_FAILED: NETWORK,
  STORAGE_FAILED: DISK,
  STORAGE_FULL: DISK
}
