import type { BulkChange, StoreChanges } from '../repo/store/bulk.ts'
import type { SealedStore } from '../repo/store/sealed-store.ts'
import {
  type BoxText,
  boxText,
  LARGE_FOLDERS,
  type PendingChange,
  PREFIX,
  parseBox,
  parseFile,
  parsePast,
  type RepoFile,
  vectorOf
} from './repo-record.ts'

/** A file with its path. */
export interface NamedFile extends RepoFile {
  readonly path: string
  /** There is a pending change of which the text was lost on this device, so that it counts for none. */
  readonly isLost: boolean
}

/** Files that changed after some revision, and the revision up to which that is. */
export interface ChangedFiles {
  readonly paths: readonly string[]
  readonly revision: number
}

/** The files of one repo as its local store holds them: most of them as entries, those of large folders as rows of tables. */
export class RepoFiles {
  /** The time of the last search for versions that no device can build upon any more, in milliseconds since 1970. */
  forgotAt: number = Number.NEGATIVE_INFINITY
  /** When so many new files came at once that it was remembered of none, in milliseconds since 1970. */
  filledAt: number = Number.NEGATIVE_INFINITY
  readonly #store: SealedStore
  /** {@link SealedStore.readings} when the lists were read. */
  #readings = -1
  /** The paths of pending changes; undefined while there is none. */
  #pending: Set<string> | undefined
  /** The paths of files whose past is kept; undefined while there is none. */
  #past: Set<string> | undefined
  /** An upper bound of the remembered deletions: one that is undone or made twice counts until the next recount. */
  #deletedCount = 0
  /** The revision of the last write; read on first use. */
  #revision: number | undefined
  /** The highest revision ever assigned, failed writes included; revisions are never reused. */
  #highest = 0

  constructor(store: SealedStore) {
    this.#store = store
    this.#learnAgain()
  }

  /** The paths whose changes the server has not acknowledged. */
  get pending(): ReadonlySet<string> {
    this.#learnAgain()
    return this.#pending ?? NONE
  }

  /** The paths of files whose past is kept. */
  get past(): ReadonlySet<string> {
    this.#learnAgain()
    return this.#past ?? NONE
  }

  /** Reads the lists from the store, if that has read its entries since: a batch whose answer was lost may have been made. */
  #learnAgain(): void {
    if (this.#readings === this.#store.readings) return
    this.#readings = this.#store.readings
    this.#revision = undefined
    this.#pending = undefined
    this.#past = undefined
    this.#deletedCount = 0
    for (const [key] of this.#store.entries(PREFIX.pending)) this.#pending = withKey(this.#pending, key, true)
    for (const [key] of this.#store.entries(PREFIX.past)) this.#past = withKey(this.#past, key, true)
    for (const _ of this.#store.entries(PREFIX.gone)) this.#deletedCount += 1
  }

  /** Learns what a write makes of pending changes and past versions; after one that failed, what the store says. */
  learn(changes: StoreChanges, hasFailed: boolean): void {
    this.#learnAgain()
    this.#revision = undefined
    const isThere = (key: string, change: unknown): boolean =>
      hasFailed ? this.#store.get(key) !== undefined : change !== null
    for (const [key, change] of changes) {
      if (key.startsWith(PREFIX.pending)) this.#pending = withKey(this.#pending, key, isThere(key, change))
      else if (key.startsWith(PREFIX.past)) this.#past = withKey(this.#past, key, isThere(key, change))
    }
  }

  /** Returns the present box of each file; undefined where there is no file. */
  async boxes(paths: readonly string[]): Promise<(BoxText | undefined)[]> {
    const boxes: (BoxText | undefined)[] = []
    const inTables = new Map<string, number[]>()
    for (const path of paths) {
      const folder = folderOf(path)
      const list = folder === undefined ? undefined : inTables.get(folder)
      if (folder !== undefined && list === undefined) inTables.set(folder, [boxes.length])
      else list?.push(boxes.length)
      boxes.push(folder === undefined ? this.#store.get(PREFIX.file + path) : undefined)
    }
    for (const [folder, list] of inTables) {
      const keys = list.map(i => (paths[i] ?? '').slice(folder.length))
      const found = await this.#store.table(PREFIX.file + folder).getMany(keys)
      for (let at = 0; at < list.length; at += 1) boxes[list[at] ?? 0] = found[at]
    }
    return boxes
  }

  /** Some files, each with its pending change. */
  async read(paths: readonly string[]): Promise<NamedFile[]> {
    const boxes = await this.boxes(paths)
    return paths.map((path, i) => this.#named(path, boxes[i]))
  }

  /** Checks if there is a file; it is not read. */
  async has(path: string): Promise<boolean> {
    const folder = folderOf(path)
    if (folder === undefined) return this.#store.get(PREFIX.file + path) !== undefined
    return this.#store.table(PREFIX.file + folder).has(path.slice(folder.length))
  }

  /** Counts the files. */
  async count(): Promise<number> {
    let count = 0
    for (const _ of this.#store.entries(PREFIX.file)) count += 1
    for (const folder of LARGE_FOLDERS) count += await this.#store.table(PREFIX.file + folder).count()
    return count
  }

  /** All paths that begin with a prefix, in ascending order. */
  async list(prefix: string): Promise<string[]> {
    const paths: string[] = []
    for (const [key] of this.#store.entries(PREFIX.file + prefix)) paths.push(key.slice(PREFIX.file.length))
    for (const folder of LARGE_FOLDERS) {
      if (!folder.startsWith(prefix) && !prefix.startsWith(folder)) continue
      const keys = await this.#store.table(PREFIX.file + folder).keysWhere(() => true)
      for (const key of keys) if ((folder + key).startsWith(prefix)) paths.push(folder + key)
    }
    return paths.sort()
  }

  /** The files below large folders that were written or deleted after a revision, unless in one of `except`. */
  async changedSince(revision: number, except?: ReadonlySet<number>): Promise<ChangedFiles> {
    const present = this.revision
    const paths: string[] = []
    if (present === revision) return { paths, revision }
    const isWanted = (mark: number): boolean => mark > revision && except?.has(mark) !== true
    for (const folder of LARGE_FOLDERS) {
      const keys = await this.#store.table(PREFIX.file + folder).keysWhere(isWanted)
      for (const key of keys) paths.push(folder + key)
    }
    for (const [key, mark] of this.#store.entries(PREFIX.gone)) {
      if (isWanted(Number(mark))) paths.push(key.slice(PREFIX.gone.length))
    }
    return { paths, revision: present }
  }

  /** Every file and every pending change, in batches. */
  async *scan(): AsyncGenerator<readonly NamedFile[]> {
    const small: NamedFile[] = []
    for (const [key, box] of this.#store.entries(PREFIX.file))
      small.push(this.#named(key.slice(PREFIX.file.length), box))
    yield small
    for (const folder of LARGE_FOLDERS) {
      for await (const rows of this.#store.table(PREFIX.file + folder).scan()) {
        yield rows.map(({ key, text }) => this.#named(folder + key, text))
      }
    }
    yield (await this.read([...this.pending])).filter(file => file.pending?.box === null)
  }

  /** Adds to the writes of a store what makes a file this one, and their revision; null deletes it. */
  put(writes: Map<string, string | BulkChange | null>, path: string, box: BoxText | null): void {
    // Fixed with the first of them: a write before these may fail while they are planned.
    if (!writes.has(PREFIX.revision)) {
      this.#highest = Math.max(this.#highest, this.revision) + 1
      writes.set(PREFIX.revision, String(this.#highest))
    }
    const folder = folderOf(path)
    if (folder === undefined) {
      // The text may be a slice of a whole reply, which would stay in memory with it.
      const parsed = parseBox(box ?? undefined)
      writes.set(PREFIX.file + path, parsed === undefined ? box : boxText(parsed))
      return
    }
    const mark = Number(writes.get(PREFIX.revision))
    writes.set(PREFIX.file + path, box === null ? null : { text: box, order: dateIn(path), mark })
    if (box === null) {
      this.#deletedCount += 1
      writes.set(PREFIX.gone + path, String(mark))
    } else if (this.wasDeleted(path)) {
      writes.set(PREFIX.gone + path, null)
    }
  }

  /** Returns true if a file of a large folder is remembered as deleted and not written since. */
  wasDeleted(path: string): boolean {
    return this.#deletedCount > 0 && this.#store.get(PREFIX.gone + path) !== undefined
  }

  /**
   * Adds to writes that only the newest {@link MAX_DELETED} deletions are remembered; who missed the others finds no file.
   *
   * They are as many as the largest wallet that is aimed at has files, and are looked through when a tenth more has gathered.
   */
  pruneDeletions(writes: Map<string, string | BulkChange | null>): void {
    if (this.#deletedCount <= MAX_DELETED * 1.1) return
    const deletions = [...this.#store.entries(PREFIX.gone)].filter(([key]) => !writes.has(key))
    deletions.sort(([, left], [, right]) => Number(right) - Number(left))
    this.#deletedCount = 0
    for (const [key, change] of writes)
      if (change !== null && key.startsWith(PREFIX.gone)) this.#deletedCount += 1
    const room = Math.max(0, MAX_DELETED - this.#deletedCount)
    for (const [key] of deletions.slice(room)) writes.set(key, null)
    this.#deletedCount += Math.min(deletions.length, room)
  }

  /** The number of the last write that changed a file. */
  get revision(): number {
    this.#learnAgain()
    this.#revision ??= Number(this.#store.get(PREFIX.revision) ?? 0)
    return this.#revision
  }

  #named(path: string, box: BoxText | undefined): NamedFile {
    const entry = this.pending.has(path) ? this.#store.get(PREFIX.pending + path) : undefined
    const past = this.past.has(path) ? parsePast(this.#store.get(PREFIX.past + path)) : undefined
    if (entry === undefined) return { path, data: box, pending: undefined, past, isLost: false }
    const file = parseFile(box, entry)
    return { path, ...file, past, isLost: file.pending === undefined }
  }
}

/** A set of paths with, or without, that of a key of two letters and a path; undefined while it is empty. */
const withKey = (paths: Set<string> | undefined, key: string, isIn: boolean): Set<string> | undefined => {
  const path = key.slice(2)
  if (isIn) return (paths ?? new Set()).add(path)
  if (paths?.delete(path) === true && paths.size === 0) return undefined
  return paths
}

const NONE: ReadonlySet<string> = new Set()
const MAX_DELETED = 100_000

const folderOf = (path: string): string | undefined => {
  for (const folder of LARGE_FOLDERS) if (path.startsWith(folder)) return folder
  return undefined
}

/** The creation date in the name of a transaction file (protocol §3.5), so that files of one time lie together. */
const dateIn = (path: string): number => {
  const start = path.indexOf('/') + 1
  const date = Number(path.slice(start, path.indexOf('-', start)))
  return Number.isSafeInteger(date) ? date : 0
}

/** Characters of ciphertext in one request; one larger file goes alone. */
const MAX_UPLOAD = 900_000
/** The number of files read at once for a request. */
const GROUP = 25
/** The number of texts kept of a change that is edited again and again while no answer comes. */
const MAX_SENT = 3
/** Stands for a change of an earlier process, which may have been sent. */
const ANY = '*'

/** Which changes to send. */
export interface TakeOptions {
  readonly limit: number
  readonly skipped: ReadonlySet<string>
  readonly takesDeletions: boolean
}

/** Remembers which pending changes of a repo may have been sent. */
export class PendingChanges {
  readonly #files: RepoFiles
  /** The text of a path that a request held last, by the vector of its box; undefined while there is none. */
  #taken: Map<string, string> | undefined

  constructor(files: RepoFiles) {
    this.#files = files
    if (files.pending.size > 0) this.#taken = new Map([...files.pending].map(path => [path, ANY]))
  }

  /** Drops the upload record of paths without a pending change, once that is durable. */
  forgetSent(changes: StoreChanges): void {
    if (this.#taken === undefined) return
    for (const key of changes.keys()) {
      if (!key.startsWith(PREFIX.pending)) continue
      const path = key.slice(PREFIX.pending.length)
      if (!this.#files.pending.has(path)) this.#taken.delete(path)
    }
    if (this.#taken.size === 0) this.#taken = undefined
  }

  /**
   * Our texts of a path that the server may hold, the present one included: a request that failed may have arrived.
   * The next change of the path keeps them, to distinguish them from another device's.
   */
  sentBefore(path: string, pending: PendingChange | undefined): readonly BoxText[] {
    if (pending === undefined) return []
    const { box, sent } = pending
    const taken = this.#taken?.get(path)
    const vector = taken === undefined ? undefined : vectorOf(box)
    if (taken === ANY && vector !== undefined) this.#taken?.set(path, vector)
    const mayBeSent = taken !== undefined && (taken === ANY || taken === vector)
    return mayBeSent && box !== null ? [...sent, box].slice(-MAX_SENT) : sent
  }

  /** Up to `limit` changes and about 900 KB, for the caller to send. */
  async takeBatch({ limit, skipped, takesDeletions }: TakeOptions): Promise<Map<string, PendingChange>> {
    const batch = new Map<string, PendingChange>()
    let length = 0
    for (const group of groupsOf(this.#files.pending, skipped)) {
      for (const { path, pending } of await this.#files.read(group)) {
        if (pending === undefined || (pending.box === null && !takesDeletions)) continue
        length += pending.box?.length ?? 0
        if (batch.size > 0 && length > MAX_UPLOAD) return batch
        batch.set(path, pending)
        this.#taken ??= new Map()
        this.#taken.set(path, vectorOf(pending.box))
        if (batch.size >= limit) return batch
      }
    }
    return batch
  }
}

function* groupsOf(paths: Iterable<string>, skipped: ReadonlySet<string>): Generator<string[]> {
  let group: string[] = []
  for (const path of paths) {
    if (skipped.has(path)) continue
    group.push(path)
    if (group.length < GROUP) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}
