import type { Clock } from '../io/io.ts'

const DELAY_MS = 20
const SLICE_MS = 8

/**
 * Gathers events of many wallets and delivers the newest of each key, in slices of at most 8 ms.
 *
 * An event waits at least 20 ms, so that a burst becomes one, and is never held back beyond the work before it.
 *
 * @see architecture decision 28; `docs/adr/0012`
 */
export class EventQueue {
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #waiting = new Map<string, () => void>()
  #cancelTimer: (() => void) | undefined
  #isFlushing = false
  #isClosed = false

  constructor(clock: Clock, onError: (error: unknown) => void) {
    this.#clock = clock
    this.#onError = onError
  }

  /** Delivers later; an earlier event under the same key is replaced in its place. */
  push(key: string, deliver: () => void): void {
    if (this.#isClosed) return
    this.#waiting.set(key, deliver)
    if (this.#cancelTimer !== undefined || this.#isFlushing) return
    this.#cancelTimer = this.#clock.after(DELAY_MS, () => {
      this.#cancelTimer = undefined
      void this.#flush()
    })
  }

  /** Delivers what is waiting, now and in one go. */
  flush(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    for (const [key, deliver] of [...this.#waiting]) this.#deliver(key, deliver)
  }

  /** Drops what is waiting, for good. */
  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
    this.#waiting.clear()
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true
    let sliceStart = this.#clock.monotonic()
    for (const [key, deliver] of this.#waiting) {
      this.#deliver(key, deliver)
      if (this.#clock.monotonic() - sliceStart < SLICE_MS) continue
      await this.#clock.turn()
      sliceStart = this.#clock.monotonic()
    }
    this.#isFlushing = false
  }

  #deliver(key: string, deliver: () => void): void {
    this.#waiting.delete(key)
    try {
      deliver()
    } catch (error) {
      this.#onError(error)
    }
  }
}
