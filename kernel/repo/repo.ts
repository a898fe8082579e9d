import { isWalletError, WalletError } from '../errors/wallet-error.ts'
import type { RepoSnapshot } from '../hooks/snapshots.ts'
import type { Io } from '../io/io.ts'
import { Observable, type Readable } from '../state/observable.ts'
import type { Secret } from '../state/secret.ts'
import type { Box } from '../types/keys.ts'
import { type AppliedReply, type RepoFile, sameBox } from './apply-reply.ts'
import { makeBreather } from './breather.ts'
import { checkPath } from './disk.ts'
import { PendingChanges } from './pending-changes.ts'
import { planReply } from './plan-reply.ts'
import { makeRepoBoxes, type RepoBoxes } from './repo-boxes.ts'
import { isFileKey, PREFIX, parseBox, parseStatus, pendingText } from './repo-record.ts'
import type { Report } from './report.ts'
import { type BulkChange, type BulkStore, changesBelow, type StoreChanges, storeBelow } from './store/bulk.ts'
import type { PagedStore } from './store/paged-store.ts'

/** What a repo is made of besides its store. */
export interface RepoParts {
  readonly io: Io
  /** Base58 of the sync key's hash (protocol §1.7); names the folder and stands in logs. */
  readonly repoId: string
  readonly syncKey: Secret<Uint8Array>
  readonly dataKey: Secret<Uint8Array>
  /** Hears of every fault that was survived. */
  readonly report: Report
  /** The kernel's hook of repo changes. */
  readonly announce?: (snapshot: RepoSnapshot) => void
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
  /** What the syncs of this repo upload. */
  readonly pending: PendingChanges
  /**
   * What this device keeps beside the files and never syncs: settings and tables of whoever the repo belongs to.
   *
   * Its keys are its own; each `t/<name>/` is a table of many rows.
   */
  readonly local: BulkStore
  readonly #io: Io
  readonly #report: Report
  readonly #store: PagedStore
  readonly #boxes: RepoBoxes
  readonly #state: Observable<RepoSnapshot>
  readonly #listeners = new Set<(paths: readonly string[]) => void>()
  #large: Promise<void> | undefined
  #syncing: Promise<unknown> = Promise.resolve()

  constructor({ io, repoId, syncKey, dataKey, report, announce }: RepoParts, store: PagedStore) {
    this.id = repoId
    this.syncKey = syncKey
    this.pending = new PendingChanges(store)
    this.local = storeBelow(store, PREFIX.local)
    this.#io = io
    this.#report = report
    this.#store = store
    this.#boxes = makeRepoBoxes(io, dataKey)
    const status = parseStatus(store.get(PREFIX.status))
    const snapshot = { repoId, pendingCount: this.pending.count, isSyncing: false, ...status }
    this.#state = new Observable<RepoSnapshot>(snapshot, announce, report)
  }

  /** Pending writes, last hash, last sync, and whether it syncs now. */
  get state(): Readable<RepoSnapshot> {
    return this.#state
  }

  /** How many changes the server has not acknowledged. */
  get pendingCount(): number {
    return this.pending.count
  }

  /**
   * The text of a file, or undefined if there is none.
   *
   * @throws PATH_REFUSED; CORRUPT_FILE if its box does not open
   */
  async getText(path: string): Promise<string | undefined> {
    const box = this.#visible(checkPath(path))
    return box === undefined ? undefined : this.#boxes.read(path, box)
  }

  /** Tells whether there is a file. @throws PATH_REFUSED */
  async has(path: string): Promise<boolean> {
    return this.#visible(checkPath(path)) !== undefined
  }

  /** All paths below a folder, at any depth, in ascending order; '' lists everything. */
  async list(folder: string): Promise<string[]> {
    const prefix = folder === '' ? '' : `${checkPath(folder)}/`
    const paths = new Set<string>()
    for (const [key] of this.#store.entries(PREFIX.data + prefix)) paths.add(key.slice(PREFIX.data.length))
    for (const path of this.pending.paths()) {
      if (!path.startsWith(prefix)) continue
      if (this.#visible(path) === undefined) paths.delete(path)
      else paths.add(path)
    }
    return [...paths].sort()
  }

  /**
   * Grows with every write that changes a file, whether here or on the server.
   *
   * Who derives something from the files keeps it beside what was derived, and asks {@link changedSince}.
   */
  get revision(): number {
    return Number(this.#store.get(PREFIX.revision) ?? 0)
  }

  /**
   * The files below `transaction/` and `Transactions/` that changed after a revision, and the present revision.
   *
   * Files that were deleted are among them. A path may be named although its text is the same.
   */
  async changedSince(revision: number): Promise<{ readonly paths: string[]; readonly revision: number }> {
    const present = this.revision
    if (present === revision) return { paths: [], revision }
    const paths = [...(await this.list('transaction')), ...(await this.list('Transactions'))]
    return { paths, revision: present }
  }

  /** Writes one file; a text that is already there writes nothing. @throws as {@link setTexts} */
  setText(path: string, text: string): Promise<void> {
    return this.setTexts(new Map([[path, text]]))
  }

  /**
   * Writes several files, all or nothing, durable when it resolves.
   *
   * @param alongside - changes of {@link local} that are in the same write, under its keys
   * @throws PATH_REFUSED; STORAGE_FULL; STORAGE_FAILED, also for a text beyond 8 MB or with half a character
   */
  async setTexts(texts: ReadonlyMap<string, string>, alongside: StoreChanges = NOTHING): Promise<void> {
    for (const [path, text] of texts) checkFile(path, text)
    if (this.#large === undefined && texts.size <= SMALL) {
      const boxes = new Map<string, Box | null>()
      for (const [path, text] of texts) this.#sealChanged(boxes, path, text)
      return this.#write(boxes, alongside)
    }
    // Sealing many yields; what is written meanwhile must not be overtaken.
    const before = this.#large ?? Promise.resolve()
    const done = before.catch(() => {}).then(() => this.#writeLarge(texts, alongside))
    this.#large = done
    try {
      await done
    } finally {
      if (this.#large === done) this.#large = undefined
    }
  }

  /**
   * Replaces a text by what `edit` makes of it; no sync comes between the reading and the writing.
   *
   * @param edit - gets undefined if there is no such file; answers undefined to leave everything as it is
   * @throws what `edit` throws, and as {@link getText} and {@link setTexts}
   */
  async editText(path: string, edit: (text: string | undefined) => string | undefined): Promise<void> {
    while (this.#large !== undefined) await this.#large.catch(() => {})
    const box = this.#visible(checkPath(path))
    const text = edit(box === undefined ? undefined : this.#boxes.read(path, box))
    if (text !== undefined) await this.setText(path, text)
  }

  /** Deletes a file here and, with the next sync, on the server; no error if there is none. */
  async delete(path: string): Promise<void> {
    checkPath(path)
    if (this.#large !== undefined) await this.#large.catch(() => {})
    await this.#write(new Map(this.#visible(path) === undefined ? [] : [[path, null]]))
  }

  /** Tells the paths whose content a sync has changed, until the returned function is called. */
  onServerChange(listener: (paths: readonly string[]) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Every acknowledged file and every pending change as boxes, for an export. */
  *records(): Generator<RepoFile & { readonly path: string }> {
    const paths = new Set(this.pending.paths())
    for (const [key] of this.#store.entries(PREFIX.data)) paths.add(key.slice(PREFIX.data.length))
    for (const path of paths) yield { path, ...this.#fileOf(path) }
  }

  /**
   * Runs one sync after another, and shows in the state that it runs and how it ends.
   *
   * Only `syncRepo` calls this.
   */
  runSync<T>(task: () => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      this.#state.update({ isSyncing: true })
      try {
        const result = await task()
        this.#endSync({ lastSync: this.#io.clock.now() / 1000 })
        return result
      } catch (error) {
        this.#endSync({ errorCode: isWalletError(error) ? error.code : 'SYNC_FAILED' })
        throw error
      }
    }
    const done = this.#syncing.then(run, run)
    this.#syncing = done.catch(() => {})
    return done
  }

  /**
   * Takes a server's reply in, all or nothing, tells the listeners, and returns the changed paths.
   *
   * @throws SYNC_FAILED if it would delete more than 50 files and a tenth of the repo; nothing is changed then
   */
  async applyReply(reply: AppliedReply): Promise<readonly string[]> {
    const changes = await this.#openable(reply.changes)
    const { writes, changed } = planReply({
      reply: { ...reply, changes },
      store: this.#store,
      fileOf: path => this.#fileOf(path),
      boxes: this.#boxes,
      now: this.#io.clock.now()
    })
    await this.#commit(writes)
    if (reply.hash !== undefined) this.#state.update({ lastHash: reply.hash })
    if (changed.length > 0) this.#tell(changed)
    return changed
  }

  /** Records that the server holds nothing either: for a repo whose keys were made here and now. */
  async beginEmpty(): Promise<void> {
    await this.applyReply({ changes: new Map(), sent: new Map() })
    this.#state.update({ lastSync: this.#io.clock.now() / 1000 })
  }

  /** Waits for the sync and the writes that were begun, and refuses more writes. */
  async close(): Promise<void> {
    await this.#syncing
    if (this.#large !== undefined) await this.#large.catch(() => {})
    await this.#store.close()
  }

  #visible(path: string): Box | undefined {
    const { data, pending } = this.#fileOf(path)
    return pending === undefined ? data : (pending.box ?? undefined)
  }

  #fileOf(path: string): RepoFile {
    return { data: parseBox(this.#store.get(PREFIX.data + path)), pending: this.pending.get(path) }
  }

  async #writeLarge(texts: ReadonlyMap<string, string>, alongside: StoreChanges): Promise<void> {
    const breathe = makeBreather(this.#io.clock)
    const boxes = new Map<string, Box | null>()
    for (const [path, text] of texts) {
      this.#sealChanged(boxes, path, text)
      await breathe()
    }
    await this.#write(boxes, alongside)
  }

  #sealChanged(boxes: Map<string, Box | null>, path: string, text: string): void {
    const present = this.#visible(path)
    if (present !== undefined && this.#boxes.open(present) === text) return
    try {
      boxes.set(path, this.#boxes.seal(text))
    } catch (error) {
      throw new WalletError('STORAGE_FAILED', { path, reason: 'the text cannot be sealed' }, error)
    }
  }

  /** Without boxes it waits for what was written before: an equal text is acknowledged only when durable. */
  #write(boxes: ReadonlyMap<string, Box | null>, alongside: StoreChanges = NOTHING): Promise<void> {
    const writes = new Map<string, string | BulkChange | null>(changesBelow(alongside, PREFIX.local))
    for (const [path, box] of boxes) {
      const { data, pending } = this.#fileOf(path)
      const base = pending === undefined ? (data ?? null) : pending.base
      const sent = this.pending.sentBefore(path)
      // What never left this device needs no deletion.
      const isUnknown = box === null && data === undefined && sent.length === 0
      writes.set(PREFIX.pending + path, isUnknown ? null : pendingText({ box, base, sent }))
    }
    return this.#commit(writes)
  }

  async #commit(changes: StoreChanges): Promise<void> {
    const writes = new Map(changes)
    if ([...writes.keys()].some(isFileKey)) writes.set(PREFIX.revision, String(this.revision + 1))
    const done = this.#store.write(writes)
    this.#refresh(writes)
    try {
      await done
    } catch (error) {
      this.#refresh(writes)
      throw error
    }
    this.pending.forget(writes.keys())
  }

  #refresh(writes: StoreChanges): void {
    this.pending.refresh(writes.keys())
    const pendingCount = this.pending.count
    if (this.#state.getSnapshot().pendingCount !== pendingCount) this.#state.update({ pendingCount })
  }

  /** A box that does not open would replace what we have by nothing: it is left out. */
  async #openable(changes: ReadonlyMap<string, Box | null>): Promise<Map<string, Box | null>> {
    const breathe = makeBreather(this.#io.clock)
    const sound = new Map<string, Box | null>()
    for (const [path, box] of changes) {
      if (box === null || sameBox(this.#visible(path), box) || this.#boxes.canOpen(box)) sound.set(path, box)
      else this.#report(new WalletError('CORRUPT_FILE', { path, rule: 'the server’s box does not open' }))
      await breathe()
    }
    return sound
  }

  #endSync(outcome: { readonly lastSync: number } | { readonly errorCode: string }): void {
    const { errorCode: _, ...rest } = this.#state.getSnapshot()
    this.#state.set({ ...rest, ...outcome, isSyncing: false })
  }

  #tell(paths: readonly string[]): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(paths)
      } catch (error) {
        this.#report(error)
      }
    }
  }
}

const NOTHING: StoreChanges = new Map()

/** How many files are sealed without a pause. */
const SMALL = 64
/** The largest file of a repo, in characters (architecture decision 18). */
const MAX_FILE_LENGTH = 8 * 1024 * 1024

const checkFile = (path: string, text: string): void => {
  checkPath(path)
  if (text.length > MAX_FILE_LENGTH) {
    throw new WalletError('STORAGE_FAILED', { path, reason: 'the text is larger than 8 MB' })
  }
}
