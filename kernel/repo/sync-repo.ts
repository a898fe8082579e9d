import { isWalletError } from '../errors/wallet-error.ts'
import type { Box } from '../types/keys.ts'
import type { Repo } from './repo.ts'
import type { PendingChange } from './repo-record.ts'
import type { StoreReply } from './sync-reply.ts'
import type { SyncServers } from './sync-server.ts'

/** What one sync did. */
export interface SyncResult {
  /** How many changes the server took. */
  readonly uploaded: number
  /** The paths whose content the server changed here. */
  readonly changed: readonly string[]
}

/**
 * Exchanges changes with the sync servers until nothing is left to send (protocol §2.9, §3.3).
 *
 * It reads first: an upload replaces whole files, so another device's edit must be merged before. Uploads then go
 * back to back, at most 100 files each. An edit made during its own upload waits for the next sync. Syncs of one
 * repo run one after another.
 *
 * @throws SYNC_FAILED, STORAGE_FULL, STORAGE_FAILED; everything pending is still pending then
 */
export const syncRepo = (repo: Repo, servers: Pick<SyncServers, 'exchange'>): Promise<SyncResult> =>
  repo.runSync(async () => {
    const changed = new Set<string>()
    const tried = new Set<string>()
    let uploaded = 0
    for (const path of await readRepo(repo, servers)) changed.add(path)
    for (;;) {
      const batch = repo.pending.begin(MAX_FILES, tried)
      if (batch.size === 0) break
      for (const path of batch.keys()) tried.add(path)
      try {
        const { sent, reply } = await upload(repo, servers, batch)
        uploaded += sent.size
        for (const path of await repo.applyReply({ ...reply, sent })) changed.add(path)
      } finally {
        repo.pending.end(batch)
      }
    }
    return { uploaded, changed: [...changed] }
  })

const MAX_FILES = 100

const readRepo = async (repo: Repo, servers: Pick<SyncServers, 'exchange'>): Promise<readonly string[]> => {
  const reply = await servers.exchange({ syncKey: repo.syncKey, hash: hashOf(repo) })
  return repo.applyReply({ ...reply, sent: new Map() })
}

interface Upload {
  readonly sent: ReadonlyMap<string, PendingChange>
  readonly reply: StoreReply
}

/**
 * Sends a batch. A server that cannot take deletions fails on null (protocol §8 row 11): then the rest goes up
 * without them. The deletions stay pending, so that the files do not come back, and are tried with each sync.
 */
const upload = async (
  repo: Repo,
  servers: Pick<SyncServers, 'exchange'>,
  batch: ReadonlyMap<string, PendingChange>
): Promise<Upload> => {
  try {
    return { sent: batch, reply: await exchange(repo, servers, batch) }
  } catch (error) {
    const sent = new Map([...batch].filter(([, { box }]) => box !== null))
    if (sent.size === batch.size || !isWalletError(error, 'SYNC_FAILED')) throw error
    return { sent, reply: await exchange(repo, servers, sent) }
  }
}

const exchange = (
  repo: Repo,
  servers: Pick<SyncServers, 'exchange'>,
  batch: ReadonlyMap<string, PendingChange>
): Promise<StoreReply> => {
  const boxes = new Map<string, Box | null>()
  for (const [path, { box }] of batch) boxes.set(path, box)
  const request = { syncKey: repo.syncKey, hash: hashOf(repo) }
  return servers.exchange(boxes.size === 0 ? request : { ...request, changes: boxes })
}

const hashOf = (repo: Repo): string | undefined => repo.state.getSnapshot().lastHash
