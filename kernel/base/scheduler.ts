import type { Clock } from '../io/io.ts'

interface Task {
  readonly dueAt: number
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
    this.#put(key, this.#clock.monotonic() + delayMs, run)
  }

  /**
   * As {@link schedule}, up to a quarter of a second later, so that hundreds of tasks wake the device a few times and
   * not hundreds of times.
   */
  scheduleLoosely(key: string, delayMs: number, run: () => void): void {
    const dueAt = Math.ceil((this.#clock.monotonic() + delayMs) / TICK_MS) * TICK_MS
    this.#put(key, dueAt, run)
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

  #put(key: string, dueAt: number, run: () => void): void {
    if (this.#isClosed) return
    this.#tasks.set(key, { dueAt, run })
    this.#arm(dueAt)
  }

  #arm(earliest: number): void {
    if (earliest >= this.#timerAt) return
    this.#cancelTimer?.()
    this.#timerAt = earliest
    // A timer that came a fraction early would find nothing due, and be set again for no time at all.
    const delayMs = Math.max(0, Math.ceil(earliest - this.#clock.monotonic()))
    this.#cancelTimer = this.#clock.after(Math.min(delayMs, MAX_TIMER_MS), () => this.#fire())
  }

  #fire(): void {
    const now = this.#clock.monotonic()
    const due: [string, Task][] = []
    let next = Number.POSITIVE_INFINITY
    for (const [key, task] of this.#tasks) {
      if (task.dueAt > now) next = Math.min(next, task.dueAt)
      else due.push([key, task])
    }
    this.#timerAt = Number.POSITIVE_INFINITY
    this.#arm(next)
    for (const [key, task] of due) {
      // One that ran before may have cancelled it, put another in its place, or closed everything.
      if (this.#tasks.get(key) !== task) continue
      this.#tasks.delete(key)
      task.run()
    }
  }
}

const TICK_MS = 250
/** Platforms take a longer timer for none at all. */
const MAX_TIMER_MS = 2_147_483_647
