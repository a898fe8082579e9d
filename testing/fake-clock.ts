import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../kernel/io/io.ts'

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Lets time pass: runs every timer that falls due, in order, and the work that each one starts. */
  advance(milliseconds: number): Promise<void>
  /** How many timers are waiting. */
  readonly timerCount: number
}

/**
 * Makes a clock that begins at `start`, in milliseconds since 1970. `turn` is the real event loop's.
 *
 * @example
 * ```ts
 * import { makeFakeClock } from 'holdfast/testing'
 *
 * const clock = makeFakeClock()
 * clock.after(60_000, () => console.log('a minute later'))
 * await clock.advance(60_000)
 * ```
 */
export const makeFakeClock = (start: number = Date.UTC(2026, 0, 1)): FakeClock => {
  let now = start
  let count = 0
  const timers = new Map<number, { readonly at: number; readonly task: () => void }>()

  const nextUntil = (end: number): number | undefined => {
    let found: number | undefined
    for (const [id, { at }] of timers) {
      if (at <= end && (found === undefined || at < (timers.get(found)?.at ?? 0))) found = id
    }
    return found
  }

  return {
    now: () => now,
    monotonic: () => now - start,
    after(delayMs, task) {
      count += 1
      const id = count
      timers.set(id, { at: now + Math.max(0, delayMs), task })
      return () => void timers.delete(id)
    },
    turn: () => setImmediate(),
    async advance(milliseconds) {
      const end = now + milliseconds
      await settle()
      for (let id = nextUntil(end); id !== undefined; id = nextUntil(end)) {
        const timer = timers.get(id)
        timers.delete(id)
        now = Math.max(now, timer?.at ?? now)
        timer?.task()
        await settle()
      }
      now = end
      await settle()
    },
    get timerCount() {
      return timers.size
    }
  }
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 10; i += 1) await setImmediate()
}
