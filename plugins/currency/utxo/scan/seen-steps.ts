import type { Ledger } from '../ledger/ledger.ts'
import type { LedgerTx } from '../ledger/ledger-tx.ts'
import type { SavedState } from './saved-state.ts'

/**
 * Counts the steps in which transactions change, so that a later engine reports only what the kernel has not seen.
 *
 * A checkpoint is the epoch of what is kept and the number of a step. Of another epoch, or without one, everything is
 * reported: a transaction must never be left out, but may well be told twice.
 */
export class SeenSteps {
  readonly #saved: SavedState
  readonly #seenEpoch: string
  readonly #seen: number
  #step = 0

  /** @param checkpoint - what the kernel says has been seen */
  constructor(saved: SavedState, checkpoint = '') {
    const [, epoch = '', step = '-1'] = /^([0-9a-f]{16}):(\d{1,15})$/.exec(checkpoint) ?? []
    this.#saved = saved
    this.#seenEpoch = epoch
    this.#seen = Number(step)
  }

  /**
   * Goes on counting after the steps there were. The kernel may have seen some that could not be kept here, so that
   * their numbers must not be given again.
   */
  begin(ledger: Ledger): void {
    this.#step = Math.max(this.#step, this.#seen)
    for (const { revision } of ledger.all()) this.#step = Math.max(this.#step, revision)
  }

  /** What the kernel has not seen. */
  unseen(ledger: Ledger): LedgerTx[] {
    const isKnown = this.#seenEpoch === this.#saved.epoch
    return [...ledger.all()].filter(({ revision }) => !isKnown || revision > this.#seen)
  }

  /** Notes that these changed in one step. */
  mark(changed: readonly LedgerTx[]): void {
    if (changed.length > 0) this.#step += 1
    for (const tx of changed) tx.revision = this.#step
  }

  /** What to say once everything so far is told; whether it could be kept here does not matter. */
  get checkpoint(): string {
    return `${this.#saved.epoch}:${this.#step}`
  }
}
