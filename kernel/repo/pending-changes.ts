import { type PendingChange, PREFIX, parsePending } from './repo-record.ts'
import type { PagedStore } from './store/paged-store.ts'

/** Characters of ciphertext in one request; one larger file goes alone. */
const MAX_UPLOAD = 900_000

/** Of what an earlier process left, nobody knows whether it was sent. */
const ANY = '*'

const vectorOf = (pending: PendingChange | undefined): string => pending?.box?.iv_hex ?? ''

/** Which changes of a repo wait for the server, and which are on their way; an index over its store. */
export class PendingChanges {
  readonly #store: PagedStore
  readonly #paths = new Set<string>()
  /** The text of a path that a request held last, by the vector of its box. */
  readonly #taken = new Map<string, string>()

  constructor(store: PagedStore) {
    this.#store = store
    for (const [key] of store.entries(PREFIX.pending)) this.refresh(key.slice(PREFIX.pending.length))
    for (const path of this.#paths) this.#taken.set(path, ANY)
  }

  get count(): number {
    return this.#paths.size
  }

  paths(): Iterable<string> {
    return this.#paths
  }

  get(path: string): PendingChange | undefined {
    return this.#paths.has(path) ? parsePending(this.#store.get(PREFIX.pending + path)) : undefined
  }

  /** Reads again from the store what it says of a path. */
  refresh(path: string): void {
    if (this.#store.get(PREFIX.pending + path) === undefined) this.#paths.delete(path)
    else this.#paths.add(path)
  }

  /** Forgets what was sent of a path that durably waits no longer; until then its change may come back. */
  forget(path: string): void {
    if (!this.#paths.has(path)) this.#taken.delete(path)
  }

  /** Whether the server may hold the present text of a pending change: a request that failed may have arrived. */
  mayBeSent(path: string): boolean {
    const present = vectorOf(this.get(path))
    const taken = this.#taken.get(path)
    if (taken === ANY) this.#taken.set(path, present)
    return taken === ANY || taken === present
  }

  /** Up to `limit` changes and about 900 KB that `isWanted`, for the caller to send. */
  take(
    limit: number,
    isWanted: (path: string, pending: PendingChange) => boolean
  ): Map<string, PendingChange> {
    const batch = new Map<string, PendingChange>()
    let length = 0
    for (const path of this.#paths) {
      const pending = this.get(path)
      if (pending === undefined || !isWanted(path, pending)) continue
      length += pending.box?.data_base64.length ?? 0
      if (batch.size > 0 && length > MAX_UPLOAD) break
      batch.set(path, pending)
      this.#taken.set(path, vectorOf(pending))
      if (batch.size >= limit) break
    }
    return batch
  }
}
