import { compact } from '../base/compact.ts'
import { isWalletError, type ReportError, WalletError } from '../base/errors.ts'
import type { Io } from '../io/io.ts'
import type { ExchangeSnapshot } from '../types/snapshots.ts'
import { FRESH_MS } from './reply-plan.ts'
import type { Repo } from './repo.ts'
import type { BoxText, PendingChange } from './repo-record.ts'
import type { StoreReply } from './store-reply.ts'
import type { SyncServers } from './sync-servers.ts'

export interface SyncLoopOptions {
  readonly io: Pick<Io, 'clock' | 'random'>
  readonly servers: Pick<SyncServers, 'exchange'>
  /** Called for each failed sync; the loop goes on. */
  readonly report: ReportError
  /** Receives the files that a sync has exchanged; not called for a sync that had nothing to do. */
  readonly onExchange?: (exchange: ExchangeSnapshot) => void
}

/** The number of files that the syncs of a repo have exchanged since it was opened. */
export interface RepoTraffic {
  /** The server's state that was known before the first of them. */
  readonly openingHash?: string
  /** Files that the server took. */
  readonly sent: number
  /** Files whose content the server changed here. */
  readonly received: number
}

interface LoopEntry {
  readonly repo: Repo
  readonly unsubscribe: () => void
  dueAt: number
  failures: number
  pendingCount: number
  /** True if something was written since the last sync began. */
  hasWrite: boolean
  /** The number of syncs in a row that have each left something to send. */
  leftovers: number
  isRunning: boolean
}

/**
 * The one scheduler of all repos: every 30 s each, unless another period is set, and a second after a write (decision 17).
 *
 * There is one timer, whatever the number of repos; periods are jittered, and at most four repos sync at one
 * time, so that neither devices nor repos march in step. What falls due within seven seconds is synced with it: to wake up
 * costs more than to sync one more repo. A repo that fails waits twice as long each time, up to ten minutes; one that always has
 * something left to send, up to 30 s.
 */
export class SyncLoop {
  readonly #io: SyncLoopOptions['io']
  readonly #servers: SyncLoopOptions['servers']
  readonly #report: ReportError
  readonly #onExchange: SyncLoopOptions['onExchange']
  readonly #items = new Map<Repo, LoopEntry>()
  readonly #traffic = new WeakMap<Repo, RepoTraffic>()
  #cancel: (() => void) | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #runningCount = 0
  #periodMs = SYNC_PERIOD_MS
  #isPaused = false
  #isClosed = false

  constructor({ io, servers, report, onExchange }: SyncLoopOptions) {
    this.#io = io
    this.#servers = servers
    this.#report = report
    this.#onExchange = onExchange
  }

  /** Syncs a repo from now on, first within a second. */
  add(repo: Repo): void {
    if (this.#isClosed || this.#items.has(repo)) return
    const item: LoopEntry = {
      repo,
      unsubscribe: repo.state.subscribe(() => this.#onState(item)),
      dueAt: this.#now() + Math.floor(this.#draw() * FIRST_MS),
      failures: 0,
      pendingCount: repo.pendingCount,
      hasWrite: false,
      leftovers: 0,
      isRunning: false
    }
    this.#items.set(repo, item)
    this.#planFor(item)
  }

  /** Begins no more syncs of a repo. */
  remove(repo: Repo): void {
    const item = this.#items.get(repo)
    if (item === undefined) return
    item.unsubscribe()
    this.#items.delete(repo)
    if (item.dueAt <= this.#timerAt) this.#plan()
  }

  /** Syncs a repo at once, paused or not; one that is on this device only has nothing to sync with. @throws as `syncRepo` */
  async syncNow(repo: Repo): Promise<SyncResult> {
    if (repo.state.getSnapshot().isDeviceOnly === true) return { sent: [], changed: [] }
    const item = this.#items.get(repo)
    if (item !== undefined) item.hasWrite = false
    this.#traffic.set(repo, this.trafficOf(repo))
    try {
      const result = await syncRepo(repo, this.#servers)
      this.#count(repo, result)
      if (item !== undefined) this.#onDone(item, result)
      return result
    } catch (error) {
      if (item !== undefined) this.#onFailure(item)
      throw error
    }
  }

  /** Returns the traffic of a repo so far. */
  trafficOf(repo: Repo): RepoTraffic {
    const { lastHash } = repo.state.getSnapshot()
    const none = { ...compact({ openingHash: lastHash }), sent: 0, received: 0 }
    return this.#traffic.get(repo) ?? none
  }

  /** Syncs each repo so often from now on, in milliseconds. A repo that would wait longer than that waits for a part of it. */
  changePeriod(periodMs: number): void {
    this.#periodMs = periodMs
    const now = this.#now()
    for (const item of this.#items.values()) {
      if (item.failures > 0 || item.isRunning || item.dueAt <= now + periodMs) continue
      item.dueAt = now + Math.floor(periodMs * this.#draw())
    }
    this.#plan()
  }

  /** Stops beginning syncs until `resume`. */
  pause(): void {
    this.#isPaused = true
    this.#plan()
  }

  /** Goes on; what fell due meanwhile is synced now. */
  resume(): void {
    this.#isPaused = false
    this.#plan()
  }

  /** Ends for good. Syncs that run are ended by their own time limits; their repos wait for them. */
  close(): void {
    this.#isClosed = true
    for (const repo of [...this.#items.keys()]) this.remove(repo)
  }

  // A write makes the count of pending changes grow; while a repo fails, its back-off stands.
  #onState(item: LoopEntry): void {
    const { pendingCount } = item.repo
    const isWrite = pendingCount > item.pendingCount
    item.pendingCount = pendingCount
    if (!isWrite) return
    item.hasWrite = true
    if (item.failures > 0) return
    item.dueAt = Math.min(item.dueAt, this.#now() + AFTER_WRITE_MS)
    this.#planFor(item)
  }

  /** Only what comes before all others changes the plan: hundreds of repos are added at once. */
  #planFor({ dueAt }: LoopEntry): void {
    if (dueAt < this.#timerAt) this.#plan()
  }

  #plan(): void {
    const next = this.#isPaused || this.#isClosed ? Number.POSITIVE_INFINITY : this.#nextDue()
    if (next === this.#timerAt) return
    this.#cancel?.()
    this.#cancel = undefined
    this.#timerAt = next
    if (next === Number.POSITIVE_INFINITY) return
    this.#cancel = this.#io.clock.after(Math.max(0, Math.ceil(next - this.#now())), () => {
      this.#timerAt = Number.POSITIVE_INFINITY
      this.#runDue()
    })
  }

  #nextDue(): number {
    let next = Number.POSITIVE_INFINITY
    if (this.#runningCount >= MAX_RUNNING) return next
    for (const { dueAt, isRunning } of this.#items.values()) if (!isRunning) next = Math.min(next, dueAt)
    return next
  }

  #runDue(): void {
    const now = this.#now()
    const isDue = ({ isRunning, dueAt, hasWrite }: LoopEntry): boolean =>
      !isRunning && dueAt <= now + (hasWrite ? 0 : GATHER_MS)
    const due = [...this.#items.values()].filter(isDue)
    due.sort((left, right) => left.dueAt - right.dueAt)
    for (const item of due.slice(0, MAX_RUNNING - this.#runningCount)) this.#run(item)
    this.#plan()
  }

  #run(item: LoopEntry): void {
    item.isRunning = true
    item.dueAt = Number.POSITIVE_INFINITY
    this.#runningCount += 1
    const end = (): void => {
      item.isRunning = false
      this.#runningCount -= 1
      this.#plan()
    }
    this.syncNow(item.repo).catch(this.#report).then(end, end)
  }

  #count(repo: Repo, { sent, changed }: SyncResult): void {
    const traffic = this.trafficOf(repo)
    const counts = { sent: traffic.sent + sent.length, received: traffic.received + changed.length }
    this.#traffic.set(repo, { ...traffic, ...counts })
    if (sent.length + changed.length > 0) this.#onExchange?.({ repoId: repo.id, sent, received: changed })
  }

  // What is left after a sync was edited during its own upload; a deletion that the server does not take is
  // left as well, and can wait. A server that undoes each upload leaves something each time: it waits twice as long again and again.
  #onDone(item: LoopEntry, { sent }: SyncResult): void {
    item.failures = 0
    const isSoon = item.repo.pendingCount > 0 && (item.hasWrite || sent.length > 0)
    item.leftovers = isSoon ? item.leftovers + 1 : 0
    const wait = AFTER_WRITE_MS * 2 ** Math.min(Math.max(0, item.leftovers - FREE_LEFTOVERS), 10)
    this.#schedule(item, isSoon ? Math.min(wait, SYNC_PERIOD_MS) : this.#periodMs)
  }

  #onFailure(item: LoopEntry): void {
    item.failures += 1
    this.#schedule(item, Math.min(MAX_BACKOFF_MS, this.#periodMs * 2 ** Math.min(item.failures - 1, 10)))
  }

  #schedule(item: LoopEntry, period: number): void {
    item.dueAt = this.#now() + Math.floor(period * (0.9 + 0.2 * this.#draw()))
    this.#plan()
  }

  #now(): number {
    return this.#io.clock.monotonic()
  }

  /** Uniform in 0 to 1. */
  #draw(): number {
    const [high = 0, low = 0] = this.#io.random(2)
    return (high * 256 + low) / 65_535
  }
}

/** The time between two syncs of a repo, in milliseconds (specification §5). */
export const SYNC_PERIOD_MS = 30_000
const AFTER_WRITE_MS = 1000
/** The number of syncs in a row that may each be followed by another a second later. */
const FREE_LEFTOVERS = 5
const FIRST_MS = 1000
/** As long as chance spreads what was synced together. */
const GATHER_MS = 7000
const MAX_BACKOFF_MS = 600_000
const MAX_RUNNING = 4

/** The result of one sync. */
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
 * {@link FRESH_MS}: so it is known how late an upload may arrive that was made without another one. After a failed upload
 * it reads again: the request may have arrived all the same, and others have had time to write. An edit made during its
 * own upload waits for the next sync. Syncs of one repo run one after another.
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
      const reply = await upload(repo, servers, { server, hash, batch, tombstones }).catch(failureOf)
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
      const { durable } = await repo.apply({ ...reply, sent: batch, tombstones })
      durable.catch(() => {})
      applying.push(durable)
      // What others wrote must be safe here before anything is sent that was merged with it.
      if (hasNews(reply, batch, tombstones)) await settle()
    }
  })

const MAX_FILES = 100
/** The number of times that a sync reads again before an upload. */
const MAX_READS = 2
/** The number of replies that may be on their way to the disk. */
const MAX_APPLYING = 4

interface ReadOptions {
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
  { servers, failed, changed, server }: ReadOptions,
  failure?: WalletError
): Promise<string> => {
  const hash = hashOf(repo)
  const request = { syncKey: repo.syncKey, hash, except: failed, ...compact({ server }) }
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
  /** The edits known to the deletions among them. */
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

const failureOf = (error: unknown): WalletError => {
  if (isWalletError(error, 'SYNC_FAILED')) return error
  throw error
}

const hashOf = (repo: Repo): string | undefined => repo.state.getSnapshot().lastHash
