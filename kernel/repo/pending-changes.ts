import { type PendingChange, PREFIX, parsePending } from './repo-record.ts'
import type { PagedStore } from './store/paged-store.ts'

/** Characters of ciphertext in one request; one larger file goes alone. */
const MAX_UPLOAD = 900_000

/** Which changes of a repo wait for the server, and which are on their way; an index over its store. */
export class PendingChanges {
  readonly #store: PagedStore
  readonly #paths = new Set<string>()
  readonly #sending = new Set<string>()

  constructor(store: PagedStore) {
    this.#store = store
    for (const [key] of store.entries(PREFIX.pending)) this.refresh(key.slice(PREFIX.pending.length))
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

  isSending(path: string): boolean {
    return this.#sending.has(path)
  }

  /** Up to `limit` changes and about 900 KB that are not in `skipped`, which are then on their way. */
  begin(limit: number, skipped: ReadonlySet<string>): Map<string, PendingChange> {
    const batch = new Map<string, PendingChange>()
    let length = 0
    for (const path of this.#paths) {
      const pending = skipped.has(path) ? undefined : this.get(path)
      if (pending === undefined) continue
      length += pending.box?.data_base64.length ?? 0
      if (batch.size > 0 && length > MAX_UPLOAD) break
      batch.set(path, pending)
      this.#sending.add(path)
      if (batch.size >= limit) break
    }
    return batch
  }

  /** Ends what `begin` began, acknowledged or not. */
  end(batch: ReadonlyMap<string, PendingChange>): void {
    for (const path of batch.keys()) this.#sending.delete(path)
  }
}
