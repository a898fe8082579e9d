import type { Io } from '../../../kernel/index.ts'
import { ActionError } from '../model/action-error.ts'

/** What a shelf is made of. */
export interface DraftShelfOptions<T> {
  readonly io: Pick<Io, 'clock' | 'random' | 'crypto'>
  /** Whoever approved it has taken it; anyone else's draft is dropped: given up, too old, or one too many. */
  readonly drop: (draft: T) => void
}

/**
 * Drafts that wait to be approved, each for ten minutes at most.
 *
 * Their ids are random: one from before a restart, or of another kernel, never means another draft.
 */
export class DraftShelf<T> {
  readonly #options: DraftShelfOptions<T>
  readonly #kept = new Map<string, KeptDraft<T>>()
  #isClosed = false

  constructor(options: DraftShelfOptions<T>) {
    this.#options = options
  }

  /** Keeps a draft, and gives its id; the oldest one makes room. On a closed shelf it is dropped at once. */
  put(draft: T): string {
    const { io, drop } = this.#options
    const draftId = io.crypto.toHex(io.random(16))
    if (this.#isClosed) {
      drop(draft)
      return draftId
    }
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= MOST && oldest !== undefined) this.discard(oldest)
    const cancel = io.clock.after(LIFE_MS, () => this.discard(draftId))
    this.#kept.set(draftId, { draft, cancel, until: io.clock.now() + LIFE_MS })
    return draftId
  }

  /** Hands a draft out, once. @throws ActionError GONE */
  take(draftId: string): T {
    // No timer runs while a machine sleeps: what was reviewed before is not what anyone has in mind after.
    if ((this.#kept.get(draftId)?.until ?? 0) <= this.#options.io.clock.now()) this.discard(draftId)
    const kept = this.#takeOut(draftId)
    if (kept === undefined)
      throw new ActionError({
        code: 'GONE',
        message: 'This draft is no longer there',
        details: { what: 'draft' },
        hint: 'It was approved or given up, or it was older than ten minutes: make a new one.'
      })
    return kept.draft
  }

  /** Drops a draft, if it is there. */
  discard(draftId: string): void {
    const kept = this.#takeOut(draftId)
    if (kept !== undefined) this.#options.drop(kept.draft)
  }

  /** Drops the drafts that are so. */
  discardThose(isSo: (draft: T) => boolean): void {
    for (const [draftId, { draft }] of [...this.#kept]) if (isSo(draft)) this.discard(draftId)
  }

  /** Drops all of them, and what comes later. */
  close(): void {
    this.#isClosed = true
    this.discardThose(() => true)
  }

  #takeOut(draftId: string): KeptDraft<T> | undefined {
    const kept = this.#kept.get(draftId)
    this.#kept.delete(draftId)
    kept?.cancel()
    return kept
  }
}

interface KeptDraft<T> {
  readonly draft: T
  readonly cancel: () => void
  /** Unix milliseconds. */
  readonly until: number
}

const LIFE_MS = 10 * 60_000
const MOST = 50
