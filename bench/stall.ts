import { type Cost, costBetween, type Moment, momentNow } from './measure.ts'

/** What a piece of work cost, and the longest time it kept other work of its thread waiting. */
export interface StallCost extends Cost {
  /** How late a 5 ms timer was at worst: how long a user interface in the same thread would have been frozen. */
  readonly stallMs: number
}

/** Runs some work once; tells what it cost, how long it froze the event loop, and the moment it began. */
export const watch = async <T>(
  work: () => Promise<T>
): Promise<StallCost & { readonly value: T; readonly start: Moment }> => {
  let last = performance.now()
  let stallMs = 0
  const look = (): void => {
    const now = performance.now()
    stallMs = Math.max(stallMs, now - last - TICK_MS)
    last = now
  }
  const timer = setInterval(look, TICK_MS)
  try {
    const start = momentNow()
    const value = await work()
    const cost = costBetween(start, momentNow())
    // The end of the work may have been in one piece with what froze it.
    look()
    return { ...cost, stallMs, value, start }
  } finally {
    clearInterval(timer)
  }
}

const TICK_MS = 5
