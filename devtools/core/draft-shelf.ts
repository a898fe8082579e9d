import type { Io } from '../../kernel/index.ts'
import { ActionError } from './action-error.ts'

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
  readonly #kept = new Map<string, { readonly draft: T; readonly cancel: () => void }>()
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
    this.#kept.set(draftId, { draft, cancel })
    return draftId
  }

  /** Hands a draft out, once. @throws ActionError GONE */
  take(draftId: string): T {
    const kept = this.#kept.get(draftId)
    if (kept === undefined)
      throw new ActionError({
        code: 'GONE',
        message: 'This draft is no longer there',
        details: { what: 'draft' },
        hint: 'It was approved or given up, or it was older than ten minutes: make a new one.'
      })
    this.#kept.delete(draftId)
    kept.cancel()
    return kept.draft
  }

  /** Drops a draft, if it is there. */
  discard(draftId: string): void {
    if (this.#kept.has(draftId)) this.#options.drop(this.take(draftId))
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
}

const LIFE_MS = 10 * 60_000
const MOST = 50
