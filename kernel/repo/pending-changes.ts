import type { RepoFiles } from './repo-files.ts'
import { type BoxText, type PendingChange, PREFIX, vectorOf } from './repo-record.ts'
import type { StoreChanges } from './store/bulk.ts'

/** Characters of ciphertext in one request; one larger file goes alone. */
const MAX_UPLOAD = 900_000
/** How many files are read at once for a request. */
const GROUP = 25
/** How many texts are kept of a change that is edited again and again while no answer comes. */
const MAX_SENT = 3
/** Of what an earlier process left, nobody knows whether it was sent. */
const ANY = '*'

/** Which changes to send. */
export interface TakeOptions {
  readonly limit: number
  readonly skipped: ReadonlySet<string>
  readonly takesDeletions: boolean
}

/** What is known of the pending changes of a repo beside what they are: which may have been sent. */
export class PendingChanges {
  readonly #files: RepoFiles
  /** The text of a path that a request held last, by the vector of its box; undefined while there is none. */
  #taken: Map<string, string> | undefined

  constructor(files: RepoFiles) {
    this.#files = files
    if (files.pending.size > 0) this.#taken = new Map([...files.pending].map(path => [path, ANY]))
  }

  /** Forgets what was sent of paths that durably hold nothing more; until then a change may come back. */
  forget(changes: StoreChanges): void {
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
   * What replaces the present change keeps them, to tell them from another device's.
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
  async take({ limit, skipped, takesDeletions }: TakeOptions): Promise<Map<string, PendingChange>> {
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
