import type { Clock } from '../../kernel/io/io.ts'

/** The clock of the process. Its timers are unref'ed: a program ends although they wait. */
export const nodeClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, task) => {
    let timer: NodeJS.Timeout
    const wait = (restMs: number): void => {
      const stepMs = Math.min(Math.max(restMs, 0), MAX_TIMER_MS)
      const isLast = restMs <= MAX_TIMER_MS
      timer = setTimeout(() => (isLast ? task() : wait(restMs - stepMs)), stepMs)
      timer.unref()
    }
    wait(delayMs)
    return () => clearTimeout(timer)
  },
  turn: () => new Promise(resolve => setImmediate(resolve))
}

/** Node fires at once when asked to wait longer. */
const MAX_TIMER_MS = 2 ** 31 - 1
