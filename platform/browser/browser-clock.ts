import type { Clock } from '../../kernel/io/io.ts'

/** The clock of a web page. */
export const browserClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, task) => {
    let timer: ReturnType<typeof setTimeout>
    const wait = (restMs: number): void => {
      const stepMs = Math.min(Math.max(restMs, 0), MAX_TIMER_MS)
      timer = setTimeout(() => (restMs <= MAX_TIMER_MS ? task() : wait(restMs - stepMs)), stepMs)
    }
    wait(delayMs)
    return () => clearTimeout(timer)
  },
  turn: () =>
    // Timers of a page wait at least 4 ms when they follow each other; messages do not.
    new Promise(resolve => {
      const { port1, port2 } = new MessageChannel() as unknown as Channel
      port1.onmessage = () => {
        port1.close()
        resolve()
      }
      port2.postMessage(undefined)
    })
}

/** As the standard has it; Node's types lack the handler. */
interface Channel {
  readonly port1: { onmessage: () => void; close(): void }
  readonly port2: { postMessage(value: unknown): void }
}

/** Browsers fire at once when asked to wait longer. */
const MAX_TIMER_MS = 2 ** 31 - 1
