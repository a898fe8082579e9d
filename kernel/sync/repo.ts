import { checkPath } from '../base/disk-path.ts'
import { isWalletError, type ReportError, WalletError } from '../base/errors.ts'
import { InFlightWrites, Mutex } from '../base/mutex.ts'
import { Observable, type Readable } from '../base/observable.ts'
import type { Secret } from '../base/secret.ts'
import type { Io } from '../io/io.ts'
import {
  type BulkChange,
  type BulkStore,
  type StoreChanges,
  storeBelow,
  type WriteOptions
} from '../repo/store/bulk.ts'
import type { SealedStore, StoreContents } from '../repo/store/sealed-store.ts'
import { type AppliedReply, knownEdits } from './apply-reply.ts'
import { countKept, findKept, isKept, type KeptFile, listKept, planKept } from './kept-files.ts'
import type { Conflict } from './merge-versions.ts'
import type { BelongsAt, GuardFindings } from './reply-guard.ts'
import {
  checkDeletions,
  deletionsLeftOut,
  needsRecovery,
  partsOf,
  planForgetting,
  planHash,
  planHealing,
  planReply,
  planStatus
} from './reply-plan.ts'
import { RepoBoxes } from './repo-boxes.ts'
import {
  type ChangedFiles,
  type NamedFile,
  PendingChanges,
  RepoFiles,
  type TakeOptions
} from './repo-files.ts'
import { type BoxText, type PendingChange, PREFIX } from './repo-record.ts'
import {
  damageNotes,
  parseRollback,
  parseStatus,
  type RepoState,
  type RepoStateFields,
  repoStateOf
} from './repo-state.ts'
import { type Tombstone, Tombstones, tombstoneFiles } from './tombstones.ts'
import { checkFile, planWrite, type RepoChanges, type WriteContext } from './write-plan.ts'

/** The identity and keys of a repo, and the listeners of its owner. */
export interface RepoOptions {
  readonly io: Io
  /** Base58 of the sync key's hash (protocol §1.7); names the folder and stands in logs. */
  readonly repoId: string
  readonly syncKey: Secret<Uint8Array>
  readonly dataKey: Secret<Uint8Array>
  /** Called for every fault that was survived. */
  readonly report: ReportError
  /** Checks what belongs where; without it, any text that opens does. */
  readonly belongsAt?: BelongsAt
  /** Called with each new state. */
  readonly onState?: (state: RepoState) => void
}

/**
 * One synced repo: our pending changes laid over the server's acknowledged files.
 *
 * Every file is a box of the wire, sealed with the repo's data key when it is written. Reads
 * see a write at once. A write resolves when it is durable on this device, and is pending until a sync has
 * brought it to the server.
 */
export class Repo {
  readonly id: string
  /** For the calls to the sync servers only; never logged. */
  readonly syncKey: Secret<Uint8Array>
  /**
   * Entries and tables of the repo's owner that this device keeps beside the files and never syncs.
   *
   * Its keys are its own; each `t/<name>/` is a table of many rows.
   */
  readonly local: BulkStore
  readonly #io: Io
  readonly #report: ReportError
  readonly #store: SealedStore
  readonly #files: RepoFiles
  readonly #pending: PendingChanges
  readonly #boxes: RepoBoxes
  readonly #tombstones: Tombstones
  readonly #writeContext: WriteContext
  readonly #belongsAt: BelongsAt | undefined
  readonly #state: Observable<RepoState>
  #listeners: readonly ((paths: readonly string[]) => void)[] = []
  /** Held from reading files to writing them, so that no other write comes in between. */
  readonly #mutex = new Mutex()
  readonly #syncMutex = new Mutex()
  readonly #inFlight = new InFlightWrites()

  constructor(options: RepoOptions, store: SealedStore) {
    const { io, repoId, syncKey, dataKey, report, onState } = options
    this.id = repoId
    this.syncKey = syncKey
    this.local = storeBelow(store, PREFIX.local)
    this.#io = io
    this.#report = report
    this.#store = store
    this.#files = new RepoFiles(store)
    this.#pending = new PendingChanges(this.#files)
    this.#boxes = new RepoBoxes(io, dataKey, store.get(PREFIX.sessions))
    this.#tombstones = new Tombstones({ io, store, boxes: this.#boxes })
    this.#writeContext = {
      ...{ clock: io.clock, store, boxes: this.#boxes },
      ...{ files: this.#files, pending: this.#pending }
    }
    this.#belongsAt = options.belongsAt
    const { lastHash, lastSync } = parseStatus(store.get(PREFIX.status))
    const rollback = parseRollback(store.get(PREFIX.rollback))
    const counts = { pendingCount: this.pendingCount, keptCount: countKept(store) }
    const facts = { repoId, lastHash, lastSync, ...counts, isSyncing: false, ...rollback }
    this.#state = new Observable<RepoState>(repoStateOf(facts), onState, report)
  }

  /** Pending writes, last hash, last sync, and whether it syncs now. */
  get state(): Readable<RepoState> {
    return this.#state
  }

  /** The number of changes that the server has not acknowledged. */
  get pendingCount(): number {
    return this.#files.pending.size
  }

  /**
   * The text of a file, or undefined if there is none.
   *
   * @throws PATH_REFUSED; CORRUPT_FILE if its box does not open
   */
  async getText(path: string): Promise<string | undefined> {
    const box = await this.getBox(path)
    return box === undefined ? undefined : this.#boxes.read(path, box)
  }

  /**
   * The texts of many files, one for each path; much quicker than one by one.
   *
   * A file whose box does not open is reported, and undefined like one that is not there.
   *
   * @throws PATH_REFUSED
   */
  async getTexts(paths: readonly string[]): Promise<(string | undefined)[]> {
    for (const path of paths) checkPath(path)
    await this.#mutex.settled()
    const texts: (string | undefined)[] = []
    for (let start = 0; start < paths.length; start += GROUP) {
      const group = paths.slice(start, start + GROUP)
      const boxes = await this.#files.boxes(group)
      for (const [i, text] of (await this.#boxes.openMany(boxes)).entries()) {
        texts.push(text)
        if (boxes[i] === undefined || text !== undefined) continue
        this.#report(new WalletError('CORRUPT_FILE', { path: group[i] ?? '', rule: 'its box does not open' }))
      }
    }
    return texts
  }

  /** The box of a file as it is, for who must keep what cannot be read. @throws PATH_REFUSED */
  async getBox(path: string): Promise<BoxText | undefined> {
    checkPath(path)
    await this.#mutex.settled()
    const [box] = await this.#files.boxes([path])
    return box
  }

  /** Checks if there is a file. @throws PATH_REFUSED */
  async has(path: string): Promise<boolean> {
    checkPath(path)
    await this.#mutex.settled()
    return this.#files.has(path)
  }

  /** All paths below a folder, at any depth, in ascending order; '' lists everything. */
  async list(folder: string): Promise<string[]> {
    const prefix = folder === '' ? '' : `${checkPath(folder)}/`
    await this.#mutex.settled()
    return this.#files.list(prefix)
  }

  /**
   * Grows with every write that changes a file, whether here or on the server.
   *
   * Keep it beside data that is derived from the files, and pass it to {@link changedSince}.
   */
  get revision(): number {
    return this.#files.revision
  }

  /**
   * The files below `transaction/` and `Transactions/` that changed after a revision, and the present revision.
   *
   * Files that were deleted are among them. A path may be named although its text is the same.
   *
   * @param except - revisions of one's own, whose files need not be named
   */
  async changedSince(revision: number, except?: ReadonlySet<number>): Promise<ChangedFiles> {
    await this.#mutex.settled()
    return this.#files.changedSince(revision, except)
  }

  /**
   * Writes texts and deletes files, all or nothing, durable when it resolves, or held ({@link WriteOptions.onHeld}). A text that is
   * already there writes nothing, and is durable too by then.
   *
   * A file that is deleted here is deleted on the server with the next sync; no error if there is none.
   *
   * To edit a file, pass its text as it was read in `expect`: if it has changed meanwhile nothing is written, and the caller reads
   * again. Who edits a file with several calls at once puts them in order with a mutex, since a call may have to read again.
   *
   * @throws PATH_REFUSED; STORAGE_FULL; STORAGE_FAILED, also for a text beyond 8 MB or with half a character
   */
  async write(changes: RepoChanges): Promise<WriteResult> {
    const { texts = NO_TEXTS, expect = NO_TEXTS } = changes
    for (const path of expect.keys()) checkPath(path)
    for (const [path, text] of texts) checkFile(path, text ?? '')
    const { done, result } = await this.#mutex.run(async () => {
      if (await this.#isStale(expect)) return { done: undefined, result: STALE }
      const { writes, hasSkipped } = await planWrite(this.#writeContext, changes)
      // An equal text is acknowledged only when durable: what is new beside it is not written if it fails, and without writes
      // the store waits for what was written before.
      if (hasSkipped && writes.size > 0) await this.#store.write(new Map())
      const done = this.#inFlight.add(this.#commit(writes, changes))
      return {
        done,
        result: { isStale: false, revision: writes.has(PREFIX.revision) ? this.revision : undefined }
      }
    })
    await done
    return result
  }

  /** Reports the paths whose content a sync has changed, until the returned function is called. */
  onServerChange(listener: (paths: readonly string[]) => void): () => void {
    this.#listeners = this.#listeners.concat(listener)
    return () => {
      this.#listeners = this.#listeners.filter(known => known !== listener)
    }
  }

  /** The texts that were deleted, or that a server replaced, in the last 30 days, newest first. */
  keptFiles(): readonly KeptFile[] {
    return listKept(this.#store, this.#io.clock.now())
  }

  /** The text of a box that was a file's and is somewhere else now. @throws CORRUPT_FILE if it does not open */
  openText(path: string, box: BoxText): string {
    return this.#boxes.read(checkPath(path), box)
  }

  /**
   * The text of a kept file, or undefined if it is kept no more.
   *
   * @throws CORRUPT_FILE if its box does not open
   */
  keptText(keptId: string): string | undefined {
    const kept = findKept(this.#store, keptId)
    return kept === undefined ? undefined : this.#boxes.read(kept.path, kept.box)
  }

  /**
   * Makes a kept text the present one again, here and with the next sync on the server; what is there now is kept in its place.
   *
   * @returns the path of the file; undefined if the text is kept no more
   * @throws CORRUPT_FILE if its box does not open; STORAGE_FULL, STORAGE_FAILED
   */
  async restoreKept(keptId: string): Promise<string | undefined> {
    const kept = findKept(this.#store, keptId)
    if (kept === undefined) return undefined
    const { path, box } = kept
    const text = this.#boxes.read(path, box)
    const { done } = await this.#mutex.run(async () => {
      const [present] = await this.#files.boxes([path])
      const { writes } = await planWrite(this.#writeContext, { texts: new Map([[path, text]]) })
      writes.set(keptId, null)
      const isOther = present !== undefined && writes.has(PREFIX.file + path)
      if (isOther) {
        const now = this.#io.clock.now()
        planKept(this.#store, { reason: 'replaced', files: [[path, present]], now }, writes)
      }
      return { done: this.#inFlight.add(this.#commit(writes)) }
    })
    await done
    this.#notify([path])
    return path
  }

  /** Every acknowledged file, tombstones included, and every pending change as boxes, for an export. */
  async *records(): AsyncGenerator<NamedFile> {
    for await (const files of this.#files.scan()) yield* files
    for (const { path, box } of tombstoneFiles(this.#store))
      yield { path, data: box, pending: undefined, isLost: false }
  }

  /**
   * Runs one sync after another, and shows in the state that it runs and how it ends.
   *
   * Only `syncRepo` calls this.
   */
  runSync<T>(task: () => Promise<T>): Promise<T> {
    return this.#syncMutex.run(async () => {
      this.#show({ isSyncing: true })
      try {
        const result = await task()
        this.#endSync({ lastSync: this.#io.clock.now() / 1000 })
        return result
      } catch (error) {
        this.#endSync({ errorCode: isWalletError(error) ? error.code : 'SYNC_FAILED' })
        throw error
      }
    })
  }

  /** Returns a function that gives the milliseconds since this call, also by the clock that goes on while a device sleeps. */
  stopwatch(): () => number {
    const { clock } = this.#io
    const [began, beganAt] = [clock.monotonic(), clock.now()]
    return () => Math.max(clock.monotonic() - began, clock.now() - beganAt)
  }

  /**
   * Changes for the server, which may have them from now on. Only `syncRepo` calls this.
   *
   * @throws STORAGE_FAILED if a write has failed and it cannot be made sure that nothing of it is there after a crash: what it
   *   would have left does not know that these were sent
   */
  takePending(options: TakeOptions): Promise<Map<string, PendingChange>> {
    return this.#mutex.run(async () => {
      await this.#inFlight.ended()
      await this.#store.settleFailed()
      return this.#pending.takeBatch(options)
    })
  }

  /** The files that go up beside changes: what the deletions among them knew. Only `syncRepo` calls this. */
  async tombstonesFor(changes: ReadonlyMap<string, PendingChange>): Promise<Map<string, BoxText | null>> {
    const paths = [...changes].filter(([, { box }]) => box === null).map(([path]) => path)
    if (paths.length === 0) return new Map()
    const now = this.#io.clock.now()
    const files = await this.#mutex.run(() => this.#files.read(paths))
    const deletions: Tombstone[] = []
    for (const { path, past } of files) {
      const lineage = knownEdits({ data: undefined, pending: changes.get(path), past }, this.#boxes)
      if (lineage !== undefined) deletions.push({ path, at: Math.floor(now / 1000), lineage })
    }
    return this.#tombstones.seal(deletions, now)
  }

  /**
   * Applies a server's reply durably, notifies the listeners, and returns the changed paths.
   *
   * A large reply is applied in parts, and its hash with the last one: after a crash in between the rest is fetched again,
   * and files that are there already are not written twice. Listeners are notified of each part when it is durable.
   *
   * @throws SYNC_FAILED if it would delete more than 50 files and a tenth of the repo; nothing is changed then
   */
  async applyReply(reply: AppliedReply): Promise<readonly string[]> {
    return (await this.apply(reply)).durable
  }

  /** Applies a reply; when it resolves every read sees the reply, and `durable` resolves with the changed paths. */
  async apply(reply: AppliedReply): Promise<{ readonly durable: Promise<readonly string[]> }> {
    const place = {
      ...{ reply, store: this.#store, files: this.#files, boxes: this.#boxes, report: this.#report },
      clock: this.#io.clock,
      now: this.#io.clock.now(),
      belongsAt: this.#belongsAt,
      tombstones: this.#tombstones,
      random: () => (this.#io.random(1)[0] ?? 0) / 256
    }
    const changed: string[] = []
    const found = { old: 0, misplaced: 0, refused: 0 }
    const parts = partsOf(reply)
    let named: ReadonlySet<string> = new Set()
    let turn = { done: Promise.resolve() }
    const takePart = (i: number, part: readonly string[]): Promise<{ done: Promise<void> }> =>
      this.#mutex.run(async () => {
        await this.#inFlight.ended()
        const news = i === 0 ? this.#tombstones.ingest(reply) : undefined
        named = news?.named ?? named
        if (i === 0) await checkDeletions(this.#files, reply, named)
        const gone = i === 0 ? deletionsLeftOut(reply, named) : []
        if (gone.length > 0)
          place.reply = {
            ...reply,
            changes: new Map([...reply.changes, ...gone.map(path => [path, null] as const)])
          }
        const plan = await planReply({ ...place, named }, [...part, ...gone])
        for (const [key, text] of news?.writes ?? []) plan.writes.set(key, text)
        for (const path of plan.changed) changed.push(path)
        this.#countConflicts(plan.conflicts)
        for (const kind of FINDINGS) found[kind] += plan.findings[kind]
        if (i < parts.length - 1) return { done: this.#afterPart(this.#commit(plan.writes), plan.changed) }
        found.old += await planHealing(place, plan.writes)
        planStatus(place, plan.writes)
        planForgetting(place, plan.writes)
        const isOld = planHash(place, plan.writes)
        return {
          done: this.#afterPart(this.#commit(this.#withFindings(plan.writes, found, isOld)), plan.changed)
        }
      })
    for (const [i, part] of parts.entries()) {
      await turn.done
      turn = await takePart(i, part).catch((error: unknown) => {
        // Of a reply that is refused nothing is written, and the next one must bring its tombstones again.
        this.#tombstones.reset()
        throw error
      })
    }
    return { durable: turn.done.then(() => changed) }
  }

  /** Records that the server holds nothing either: for a repo whose keys were made here and now. */
  async beginEmpty(): Promise<void> {
    await this.applyReply({ changes: new Map(), sent: new Map() })
    this.#show({ lastSync: this.#io.clock.now() / 1000 })
  }

  /** Says that the repo is on this device only, or no longer: a sync then does nothing. */
  keepHere(isDeviceOnly: boolean): void {
    this.#show({ isDeviceOnly: isDeviceOnly || undefined })
  }

  /** Everything in the local store, as it is at one time: for a backup. */
  contents(): Promise<StoreContents> {
    return this.#mutex.run(() => this.#store.contents())
  }

  /** Makes the next sync fetch everything again, because something was lost on this device. @throws STORAGE_FULL, STORAGE_FAILED */
  async forgetServer(): Promise<void> {
    await this.#store.write(this.damageNotes())
  }

  /** The entries that note a loss on this device, so that the next sync fetches everything again. */
  damageNotes(): StoreChanges {
    this.#show({ lastHash: undefined })
    this.#boxes.edits.forget()
    return damageNotes(this.#store.get(PREFIX.status), this.#io.clock.now(), this.#boxes.edits.stored)
  }

  /** Another text after each damage to what this device keeps, {@link local} included. */
  get damage(): string {
    return this.#store.get(PREFIX.damage) ?? ''
  }

  /** Waits for the sync and the writes that were begun, and refuses more writes. */
  async close(): Promise<void> {
    await this.#syncMutex.settled()
    await this.#mutex.settled()
    await this.#store.close()
  }

  /** Notes and reports what a server did not have as it should; nothing is lost by it. */
  #withFindings(
    writes: Map<string, string | BulkChange | null>,
    { old, misplaced, refused }: GuardFindings,
    isOld: boolean
  ): Map<string, string | BulkChange | null> {
    if (refused > 0) this.#report(new WalletError('REPO_LIMIT', { count: refused }))
    if (old + misplaced === 0 && !isOld) return writes
    const at = Math.floor(this.#io.clock.now() / 1000)
    const files = old + misplaced
    this.#report(new WalletError('SYNC_OLD_STATE', { files }))
    this.#show({ rolledBackAt: at, rolledBackFiles: files })
    return writes.set(PREFIX.rollback, JSON.stringify({ at, files }))
  }

  async #afterPart(done: Promise<void>, changed: readonly string[]): Promise<void> {
    await done
    this.#show({ lastHash: parseStatus(this.#store.get(PREFIX.status)).lastHash })
    if (changed.length > 0) this.#notify(changed)
  }

  /** Returns true unless every file has the text that is expected of it; undefined expects no file. */
  async #isStale(expect: ReadonlyMap<string, string | undefined>): Promise<boolean> {
    if (expect.size === 0) return false
    const boxes = await this.#files.boxes([...expect.keys()])
    const texts = await this.#boxes.openMany(boxes)
    // A box that does not open is no absent file.
    return [...expect.values()].some(
      (text, i) => text !== texts[i] || (text === undefined && boxes[i] !== undefined)
    )
  }

  async #commit(
    writes: Map<string, string | BulkChange | null>,
    { onHeld }: WriteOptions = {}
  ): Promise<void> {
    if (writes.size > 0) this.#boxes.edits.keepIn(this.#store, writes)
    const done = this.#store.write(writes, { onHeld })
    this.#learn(writes, false)
    try {
      await done
    } catch (error) {
      this.#learn(writes, true)
      throw error
    }
    this.#pending.forgetSent(writes)
    if ([...writes.keys()].some(isKept)) this.#show({ keptCount: countKept(this.#store) })
  }

  #learn(changes: StoreChanges, hasFailed: boolean): void {
    this.#files.learn(changes, hasFailed)
    if (hasFailed) this.#tombstones.reset()
    const { pendingCount } = this
    if (this.#state.getSnapshot().pendingCount !== pendingCount) this.#show({ pendingCount })
  }

  #endSync(outcome: { readonly lastSync: number } | { readonly errorCode: string }): void {
    this.#show({ errorCode: undefined, ...outcome, isSyncing: false })
  }

  #countConflicts(conflicts: readonly Conflict[]): void {
    if (conflicts.length === 0) return
    const { mergedCount = 0, doubtfulCount = 0 } = this.#state.getSnapshot()
    const merged = conflicts.filter(conflict => conflict === 'merged').length
    const unclear = conflicts.filter(needsRecovery).length
    if (merged > 0) this.#show({ mergedCount: mergedCount + merged })
    if (unclear > 0) this.#show({ doubtfulCount: doubtfulCount + unclear })
  }

  #show(changes: Partial<RepoStateFields>): void {
    this.#state.set(repoStateOf({ ...this.#state.getSnapshot(), ...changes }))
  }

  #notify(paths: readonly string[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(paths)
      } catch (error) {
        this.#report(error)
      }
    }
  }
}

/** The outcome of a write. */
export interface WriteResult {
  /** True if a file no longer had the text that was expected of it; nothing was written then. */
  readonly isStale: boolean
  /** The revision that has the texts; undefined if each of them was there already. */
  readonly revision: number | undefined
}

const STALE: WriteResult = { isStale: true, revision: undefined }
const NO_TEXTS = new Map<string, never>()

const FINDINGS = ['old', 'misplaced', 'refused'] as const
/** The number of files read at once. */
const GROUP = 1024
