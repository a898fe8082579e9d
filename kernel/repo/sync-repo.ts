import { isWalletError, WalletError } from '../base/errors.ts'
import { FRESH_MS } from './plan-reply.ts'
import type { Repo } from './repo.ts'
import type { BoxText, PendingChange } from './repo-record.ts'
import type { StoreReply } from './sync-reply.ts'
import type { SyncServers } from './sync-server.ts'

/** What one sync did. */
export interface SyncResult {
  /** The paths of the changes that the server took. */
  readonly sent: readonly string[]
  /** The paths whose content the server changed here. */
  readonly changed: readonly string[]
}

/** The part of {@link SyncServers} that a sync needs. */
export type SyncPort = Pick<SyncServers, 'exchange'>

/**
 * Exchanges changes with the sync servers until nothing is left to send (protocol §2.9, §3.3).
 *
 * It reads first: an upload replaces whole files, so another device's edit should be merged before. Uploads then go
 * back to back to the server that answered, at most 100 files each, and none that is built upon a reply older than
 * {@link FRESH_MS}: so it is known how late an upload may arrive that was made without another one. After one that failed it reads anew: the request may
 * have arrived all the same, and others have had time to write. An edit made during its own upload waits for the next
 * sync. Syncs of one repo run one after another.
 *
 * @throws SYNC_FAILED, STORAGE_FULL, STORAGE_FAILED; everything pending is still pending then
 */
export const syncRepo = (repo: Repo, servers: SyncPort): Promise<SyncResult> =>
  repo.runSync(async () => {
    const changed = new Set<string>()
    const tried = new Set<string>()
    const failed = new Set<string>()
    let takesDeletions = true
    let age = repo.stopwatch()
    let server = await read(repo, { servers, failed, changed })
    let hash = hashOf(repo)
    // Requests leave while what the ones before achieved is made durable, so that several share a write.
    const applying: Promise<readonly string[]>[] = []
    const settle = async (): Promise<void> => {
      for (const done of applying.splice(0)) for (const path of await done) changed.add(path)
    }
    for (let reads = 0; ; ) {
      // Who is held up reads again; on a line so slow that nothing is ever fresh, what there is goes up all the same.
      if (repo.pendingCount > 0 && age() > FRESH_MS && reads < MAX_READS) {
        reads += 1
        await settle()
        age = repo.stopwatch()
        server = await read(repo, { servers, failed, changed, server })
        hash = hashOf(repo)
        continue
      }
      reads = 0
      const batch = await repo.takePending({ limit: MAX_FILES, skipped: tried, takesDeletions })
      if (batch.size === 0) {
        await settle()
        return { sent: [...tried], changed: [...changed] }
      }
      const uploadAge = repo.stopwatch()
      const tombstones = await repo.tombstonesFor(batch)
      const reply = await upload(repo, servers, { server, hash, batch, tombstones }).catch(faultOf)
      if (applying.length >= MAX_APPLYING || reply instanceof WalletError) await settle()
      if (reply instanceof WalletError) {
        // A server that cannot take deletions fails on null (protocol §8 row 11): the rest goes up without them.
        // They stay pending, so that the files do not come back, and are tried with each sync.
        if (takesDeletions && [...batch.values()].some(({ box }) => box === null)) takesDeletions = false
        else failed.add(server)
        age = repo.stopwatch()
        server = await read(repo, { servers, failed, changed }, reply)
        hash = hashOf(repo)
        continue
      }
      for (const path of batch.keys()) tried.add(path)
      hash = reply.hash ?? hash
      age = uploadAge
      const { durable } = await repo.takeIn({ ...reply, sent: batch, tombstones })
      durable.catch(() => {})
      applying.push(durable)
      // What others wrote must be safe here before anything is sent that was merged with it.
      if (hasNews(reply, batch, tombstones)) await settle()
    }
  })

const MAX_FILES = 100
/** How often a sync reads again before an upload. */
const MAX_READS = 2
/** How many replies may be on their way to the disk. */
const MAX_APPLYING = 4

interface ReadPlace {
  readonly servers: SyncPort
  /** Servers that could not take an upload. */
  readonly failed: ReadonlySet<string>
  /** Takes the changed paths. */
  readonly changed: Set<string>
  /** The one to ask; any will do if it is left out. */
  readonly server?: string
}

/** @throws the first failure, if the read is another try */
const read = async (
  repo: Repo,
  { servers, failed, changed, server }: ReadPlace,
  failure?: WalletError
): Promise<string> => {
  const hash = hashOf(repo)
  const request = { syncKey: repo.syncKey, hash, except: failed, ...(server !== undefined && { server }) }
  const reply = await servers.exchange(request).catch((error: unknown) => {
    throw failure ?? error
  })
  for (const path of await repo.applyReply({ ...reply, sent: new Map() })) changed.add(path)
  return reply.server
}

interface Upload {
  readonly server: string
  readonly hash: string | undefined
  readonly batch: ReadonlyMap<string, PendingChange>
  /** What the deletions among them knew. */
  readonly tombstones: ReadonlyMap<string, BoxText | null>
}

const upload = (
  repo: Repo,
  servers: SyncPort,
  { server, hash, batch, tombstones }: Upload
): Promise<StoreReply> => {
  const changes = new Map<string, BoxText | null>(tombstones)
  for (const [path, { box }] of batch) changes.set(path, box)
  return servers.exchange({ syncKey: repo.syncKey, hash, changes, server })
}

const hasNews = (
  { changes }: StoreReply,
  batch: Upload['batch'],
  tombstones: Upload['tombstones']
): boolean => {
  for (const [path, box] of changes)
    if (batch.get(path)?.box !== box && tombstones.get(path) !== box) return true
  return false
}

const faultOf = (error: unknown): WalletError => {
  if (isWalletError(error, 'SYNC_FAILED')) return error
  throw error
}

const hashOf = (repo: Repo): string | undefined => repo.state.getSnapshot().lastHash
