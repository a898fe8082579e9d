import type { Io } from '../../kernel/index.ts'
import { ActionError } from './action-error.ts'

/** The dependencies of a draft store. */
export interface DraftStoreOptions<T> {
  readonly io: Pick<Io, 'clock' | 'random' | 'crypto'>
  /** Called with each draft that is not approved: discarded, expired, or one too many. */
  readonly drop: (draft: T) => void
}

/**
 * Drafts that wait to be approved, each for ten minutes at most.
 *
 * Their ids are random: one from before a restart, or of another kernel, never means another draft.
 */
export class DraftStore<T> {
  readonly #options: DraftStoreOptions<T>
  readonly #drafts = new Map<string, StoredDraft<T>>()
  #isClosed = false

  constructor(options: DraftStoreOptions<T>) {
    this.#options = options
  }

  /** Keeps a draft, and gives its id; the oldest one makes room. A closed store drops it at once. */
  put(draft: T): string {
    const { io, drop } = this.#options
    const draftId = io.crypto.toHex(io.random(16))
    if (this.#isClosed) {
      drop(draft)
      return draftId
    }
    const [oldest] = this.#drafts.keys()
    if (this.#drafts.size >= MAX_DRAFTS && oldest !== undefined) this.discard(oldest)
    const cancel = io.clock.after(LIFE_MS, () => this.discard(draftId))
    this.#drafts.set(draftId, { draft, cancel, until: io.clock.now() + LIFE_MS })
    return draftId
  }

  /** A draft that waits; undefined if there is none. */
  find(draftId: string): T | undefined {
    return this.#drafts.get(draftId)?.draft
  }

  /** How long a draft waits on, in milliseconds; 0 without one. */
  leftOf(draftId: string): number {
    return Math.max(0, (this.#drafts.get(draftId)?.until ?? 0) - this.#options.io.clock.now())
  }

  /** Hands a draft out, once. @throws ActionError GONE */
  take(draftId: string): T {
    // No timer runs while a machine sleeps: what was reviewed before is not what anyone has in mind after.
    if ((this.#drafts.get(draftId)?.until ?? 0) <= this.#options.io.clock.now()) this.discard(draftId)
    const stored = this.#remove(draftId)
    if (stored === undefined)
      throw new ActionError({
        code: 'GONE',
        message: 'This draft no longer exists',
        details: { what: 'draft' },
        hint: 'It was approved or discarded, or is older than ten minutes: make a new one.'
      })
    return stored.draft
  }

  /** Drops a draft, if it is there. */
  discard(draftId: string): void {
    const stored = this.#remove(draftId)
    if (stored !== undefined) this.#options.drop(stored.draft)
  }

  /** Drops the drafts that are so. */
  discardWhere(isSo: (draft: T) => boolean): void {
    for (const [draftId, { draft }] of [...this.#drafts]) if (isSo(draft)) this.discard(draftId)
  }

  /** Drops all of them, and what comes later. */
  close(): void {
    this.#isClosed = true
    this.discardWhere(() => true)
  }

  #remove(draftId: string): StoredDraft<T> | undefined {
    const stored = this.#drafts.get(draftId)
    this.#drafts.delete(draftId)
    stored?.cancel()
    return stored
  }
}

interface StoredDraft<T> {
  readonly draft: T
  readonly cancel: () => void
  /** Unix milliseconds. */
  readonly until: number
}

const LIFE_MS = 10 * 60_000
const MAX_DRAFTS = 50
