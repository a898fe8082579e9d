import type { Clock } from './io.ts'

interface Task {
  dueAt: number
  readonly run: () => void
}

/**
 * Runs many keyed tasks later with a single timer; nothing in the kernel owns a timer per wallet.
 *
 * A key has one task: scheduling it again replaces the earlier one.
 */
export class Scheduler {
  readonly #clock: Clock
  readonly #tasks = new Map<string, Task>()
  #cancelTimer: (() => void) | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #isClosed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Runs `run` once after `delayMs`, instead of what the key was to run. After `close` nothing runs. */
  schedule(key: string, delayMs: number, run: () => void): void {
    if (this.#isClosed) return
    this.#tasks.set(key, { dueAt: this.#clock.monotonic() + delayMs, run })
    this.#arm()
  }

  /** Forgets the task of a key. */
  cancel(key: string): void {
    this.#tasks.delete(key)
  }

  /** Forgets everything, for good. */
  close(): void {
    this.#isClosed = true
    this.#tasks.clear()
    this.#cancelTimer?.()
  }

  #arm(): void {
    let earliest = Number.POSITIVE_INFINITY
    for (const { dueAt } of this.#tasks.values()) earliest = Math.min(earliest, dueAt)
    if (earliest === Number.POSITIVE_INFINITY || earliest >= this.#timerAt) return
    this.#cancelTimer?.()
    this.#timerAt = earliest
    this.#cancelTimer = this.#clock.after(Math.max(0, earliest - this.#clock.monotonic()), () => this.#fire())
  }

  #fire(): void {
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.#clock.monotonic()
    const due = [...this.#tasks].filter(([, task]) => task.dueAt <= now)
    for (const [key] of due) this.#tasks.delete(key)
    for (const [, task] of due) task.run()
    this.#arm()
  }
}
