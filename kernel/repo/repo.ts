import { Turns } from '../crypto/serial-queue.ts'
import { isWalletError, WalletError } from '../errors/wallet-error.ts'
import type { Io } from '../io/io.ts'
import { Observable, type Readable } from '../state/observable.ts'
import type { Secret } from '../state/secret.ts'
import type { AppliedReply } from './apply-reply.ts'
import { checkPath } from './disk.ts'
import { FlyingWrites } from './flying-writes.ts'
import { PendingChanges, type TakeOptions } from './pending-changes.ts'
import { checkDeletions, partsOf, planHealing, planReply, planStatus } from './plan-reply.ts'
import { planWrite, type WritePlace } from './plan-write.ts'
import { RepoBoxes } from './repo-boxes.ts'
import { type RepoFacts, type RepoState, repoStateOf } from './repo-facts.ts'
import { type ChangedFiles, type NamedFile, RepoFiles } from './repo-files.ts'
import type { RepoParts } from './repo-parts.ts'
import { type BoxText, damageNotes, type PendingChange, PREFIX, parseStatus } from './repo-record.ts'
import type { Report } from './report.ts'
import { checkFile, type TextChanges } from './seal-changed.ts'
import { type BulkChange, type BulkStore, type StoreChanges, storeBelow } from './store/bulk.ts'
import type { PagedStore } from './store/paged-store.ts'

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
   * What this device keeps beside the files and never syncs: settings and tables of whoever the repo belongs to.
   *
   * Its keys are its own; each `t/<name>/` is a table of many rows.
   */
  readonly local: BulkStore
  readonly #io: Io
  readonly #report: Report
  readonly #store: PagedStore
  readonly #files: RepoFiles
  readonly #pending: PendingChanges
  readonly #boxes: RepoBoxes
  readonly #writing: WritePlace
  readonly #state: Observable<RepoState>
  #listeners: readonly ((paths: readonly string[]) => void)[] = []
  /** Whoever reads files in order to write them has its turn, so that nothing comes in between. */
  readonly #turns = new Turns()
  readonly #syncs = new Turns()
  readonly #flying = new FlyingWrites()

  constructor({ io, repoId, syncKey, dataKey, report, announce }: RepoParts, store: PagedStore) {
    this.id = repoId
    this.syncKey = syncKey
    this.local = storeBelow(store, PREFIX.local)
    this.#io = io
    this.#report = report
    this.#store = store
    this.#files = new RepoFiles(store)
    this.#pending = new PendingChanges(this.#files)
    this.#boxes = new RepoBoxes(io, dataKey)
    this.#writing = { clock: io.clock, files: this.#files, pending: this.#pending, boxes: this.#boxes }
    const { lastHash, lastSync } = parseStatus(store.get(PREFIX.status))
    const facts = { repoId, lastHash, lastSync, pendingCount: this.pendingCount, isSyncing: false }
    this.#state = new Observable<RepoState>(repoStateOf(facts), announce, report)
  }

  /** Pending writes, last hash, last sync, and whether it syncs now. */
  get state(): Readable<RepoState> {
    return this.#state
  }

  /** How many changes the server has not acknowledged. */
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
    await this.#turns.settled()
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
    await this.#turns.settled()
    const [box] = await this.#files.boxes([path])
    return box
  }

  /** Tells whether there is a file. @throws PATH_REFUSED */
  async has(path: string): Promise<boolean> {
    checkPath(path)
    await this.#turns.settled()
    return this.#files.has(path)
  }

  /** All paths below a folder, at any depth, in ascending order; '' lists everything. */
  async list(folder: string): Promise<string[]> {
    const prefix = folder === '' ? '' : `${checkPath(folder)}/`
    await this.#turns.settled()
    return this.#files.list(prefix)
  }

  /**
   * Grows with every write that changes a file, whether here or on the server.
   *
   * Who derives something from the files keeps it beside what was derived, and asks {@link changedSince}.
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
    await this.#turns.settled()
    return this.#files.changedSince(revision, except)
  }

  /** Writes one file; a text that is already there writes nothing. @throws as {@link setTexts} */
  async setText(path: string, text: string): Promise<void> {
    await this.setTexts(new Map([[path, text]]))
  }

  /**
   * Writes several files, all or nothing, durable when it resolves.
   *
   * @param alongside - changes of {@link local} that are in the same write, under its keys
   * @returns the revision that has them; undefined if every text was there already
   * @throws PATH_REFUSED; STORAGE_FULL; STORAGE_FAILED, also for a text beyond 8 MB or with half a character
   */
  async setTexts(texts: ReadonlyMap<string, string>, alongside?: StoreChanges): Promise<number | undefined> {
    for (const [path, text] of texts) checkFile(path, text)
    return this.#write(async () => ({ texts, ...(alongside && { alongside }) }))
  }

  /**
   * Replaces a text by what `edit` makes of it; no sync comes between the reading and the writing.
   *
   * @param edit - gets undefined if there is no such file; answers undefined to leave everything as it is
   * @throws what `edit` throws, and as {@link getText} and {@link setTexts}
   */
  async editText(path: string, edit: (text: string | undefined) => string | undefined): Promise<void> {
    await this.editTexts([path], ([present]) => {
      const text = edit(present)
      return { texts: new Map(text === undefined ? [] : [[path, text]]) }
    })
  }

  /**
   * The same of several texts, and of what is written alongside, all or nothing.
   *
   * @param edit - gets one text for each path, undefined where there is no such file
   * @returns as {@link setTexts}
   */
  async editTexts(
    paths: readonly string[],
    edit: (texts: readonly (string | undefined)[]) => TextChanges
  ): Promise<number | undefined> {
    for (const path of paths) checkPath(path)
    return this.#write(async () => {
      const boxes = await this.#files.boxes(paths)
      const prepared = edit(boxes.map((box, i) => box && this.#boxes.read(paths[i] ?? '', box)))
      for (const [path, text] of prepared.texts) checkFile(path, text ?? '')
      return prepared
    })
  }

  /** Deletes a file here and, with the next sync, on the server; no error if there is none. */
  async delete(path: string): Promise<void> {
    checkPath(path)
    await this.#write(async () => ({ texts: new Map([[path, null]]) }))
  }

  /** Tells the paths whose content a sync has changed, until the returned function is called. */
  onServerChange(listener: (paths: readonly string[]) => void): () => void {
    this.#listeners = this.#listeners.concat(listener)
    return () => {
      this.#listeners = this.#listeners.filter(known => known !== listener)
    }
  }

  /** Every acknowledged file and every pending change as boxes, for an export. */
  async *records(): AsyncGenerator<NamedFile> {
    for await (const files of this.#files.scan()) yield* files
  }

  /**
   * Runs one sync after another, and shows in the state that it runs and how it ends.
   *
   * Only `syncRepo` calls this.
   */
  runSync<T>(task: () => Promise<T>): Promise<T> {
    return this.#syncs.take(async () => {
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

  /** Changes for the server, which may have them from now on. Only `syncRepo` calls this. */
  takePending(options: TakeOptions): Promise<Map<string, PendingChange>> {
    return this.#turns.take(() => this.#flying.ended().then(() => this.#pending.take(options)))
  }

  /**
   * Takes a server's reply in, tells the listeners, and returns the changed paths.
   *
   * A large reply is taken in part by part, and its hash with the last one: after a crash in between the rest is fetched
   * again, and what is there already is not written twice. Listeners hear of each part when it is durable.
   *
   * @throws SYNC_FAILED if it would delete more than 50 files and a tenth of the repo; nothing is changed then
   */
  async applyReply(reply: AppliedReply): Promise<readonly string[]> {
    return (await this.takeIn(reply)).durable
  }

  /** {@link applyReply} up to where every read sees it; the rest of it ends with `durable`. */
  async takeIn(reply: AppliedReply): Promise<{ readonly durable: Promise<readonly string[]> }> {
    const place = {
      ...{ reply, store: this.#store, files: this.#files, boxes: this.#boxes, report: this.#report },
      clock: this.#io.clock,
      now: this.#io.clock.now()
    }
    const changed: string[] = []
    const parts = partsOf(reply)
    let turn = { done: Promise.resolve() }
    for (const [i, part] of parts.entries()) {
      await turn.done
      turn = await this.#turns.take(async () => {
        await this.#flying.ended()
        if (i === 0) await checkDeletions(this.#files, reply)
        const plan = await planReply(place, part)
        for (const path of plan.changed) changed.push(path)
        const isLast = i === parts.length - 1
        if (isLast) await planHealing(place, plan.writes)
        if (isLast) planStatus(place, plan.writes)
        return { done: this.#afterPart(this.#commit(plan.writes), plan.changed) }
      })
    }
    return { durable: turn.done.then(() => changed) }
  }

  /** Records that the server holds nothing either: for a repo whose keys were made here and now. */
  async beginEmpty(): Promise<void> {
    await this.applyReply({ changes: new Map(), sent: new Map() })
    this.#show({ lastSync: this.#io.clock.now() / 1000 })
  }

  /** Has the next sync fetch everything anew, because something was lost on this device. */
  async forgetServer(): Promise<void> {
    this.#show({ lastHash: undefined })
    await this.#store.write(damageNotes(this.#store.get(PREFIX.status), this.#io.clock.now()))
  }

  /** Another text after each damage to what this device keeps, {@link local} included. */
  get damage(): string {
    return this.#store.get(PREFIX.damage) ?? ''
  }

  /** Waits for the sync and the writes that were begun, and refuses more writes. */
  async close(): Promise<void> {
    await this.#syncs.settled()
    await this.#turns.settled()
    await this.#store.close()
  }

  async #afterPart(done: Promise<void>, changed: readonly string[]): Promise<void> {
    await done
    this.#show({ lastHash: parseStatus(this.#store.get(PREFIX.status)).lastHash })
    if (changed.length > 0) this.#tell(changed)
  }

  /** Writes texts, null for a deletion, when they are known. It is over when they are durable. */
  async #write(prepare: () => Promise<TextChanges>): Promise<number | undefined> {
    const { done, revision } = await this.#turns.take(async () => {
      const { writes, hasSkipped } = await planWrite(this.#writing, await prepare())
      // An equal text is acknowledged only when durable: what is new beside it is not written if it fails, and without writes
      // the store waits for what was written before.
      if (hasSkipped && writes.size > 0) await this.#store.write(new Map())
      const done = this.#flying.add(this.#commit(writes))
      return { done, revision: writes.has(PREFIX.revision) ? this.revision : undefined }
    })
    await done
    return revision
  }

  async #commit(writes: Map<string, string | BulkChange | null>): Promise<void> {
    const done = this.#store.write(writes)
    this.#learn(writes, false)
    try {
      await done
    } catch (error) {
      this.#learn(writes, true)
      throw error
    }
    this.#pending.forget(writes)
  }

  #learn(changes: StoreChanges, hasFailed: boolean): void {
    this.#files.learn(changes, hasFailed)
    const { pendingCount } = this
    if (this.#state.getSnapshot().pendingCount !== pendingCount) this.#show({ pendingCount })
  }

  #endSync(outcome: { readonly lastSync: number } | { readonly errorCode: string }): void {
    this.#show({ errorCode: undefined, ...outcome, isSyncing: false })
  }

  #show(changes: Partial<RepoFacts>): void {
    this.#state.set(repoStateOf({ ...this.#state.getSnapshot(), ...changes }))
  }

  #tell(paths: readonly string[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(paths)
      } catch (error) {
        this.#report(error)
      }
    }
  }
}

/** How many files are read at once. */
const GROUP = 1024
