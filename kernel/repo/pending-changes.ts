import type { Box } from '../types/keys.ts'
import { type PendingChange, PREFIX, parsePending } from './repo-record.ts'
import type { PagedStore } from './store/paged-store.ts'

/** Characters of ciphertext in one request; one larger file goes alone. */
const MAX_UPLOAD = 900_000

/** How many texts are kept of a change that is edited again and again while no answer comes. */
const MAX_SENT = 3
/** Of what an earlier process left, nobody knows whether it was sent. */
const ANY = '*'

/** Which changes of a repo wait for the server, and which are on their way; an index over its store. */
export class PendingChanges {
  readonly #store: PagedStore
  readonly #paths = new Set<string>()
  /** The text of a path that a request held last, by the vector of its box. */
  readonly #taken = new Map<string, string>()

  constructor(store: PagedStore) {
    this.#store = store
    for (const [key] of store.entries(PREFIX.pending)) this.#paths.add(key.slice(PREFIX.pending.length))
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

  /** Reads again what the store says under these of its keys. */
  refresh(keys: Iterable<string>): void {
    for (const path of pathsOf(keys)) {
      if (this.#store.get(PREFIX.pending + path) === undefined) this.#paths.delete(path)
      else this.#paths.add(path)
    }
  }

  /** Forgets what was sent under the keys that durably hold nothing more; until then a change may come back. */
  forget(keys: Iterable<string>): void {
    for (const path of pathsOf(keys)) if (!this.#paths.has(path)) this.#taken.delete(path)
  }

  /**
   * Our texts of a path that the server may hold, the present one included: a request that failed may have arrived.
   * What replaces the present change keeps them, to tell them from another device's.
   */
  sentBefore(path: string): readonly Box[] {
    const pending = this.get(path)
    if (pending === undefined) return []
    const { box, sent } = pending
    const vector = box?.iv_hex ?? ''
    const taken = this.#taken.get(path)
    if (taken === ANY) this.#taken.set(path, vector)
    const mayBeSent = taken === ANY || taken === vector
    return mayBeSent && box !== null ? [...sent, box].slice(-MAX_SENT) : sent
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
      this.#taken.set(path, pending.box?.iv_hex ?? '')
      if (batch.size >= limit) break
    }
    return batch
  }
}

function* pathsOf(keys: Iterable<string>): Generator<string> {
  for (const key of keys) if (key.startsWith(PREFIX.pending)) yield key.slice(PREFIX.pending.length)
}
