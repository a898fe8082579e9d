import type { Clock } from '../kernel/io/io.ts'

/** The time of a fake world: that of its host, moved forward by what a user skipped. */
export interface WorldClock extends Clock {
  /** Milliseconds that the world is ahead of its host. */
  readonly offset: number
  /** Skips time, as for a two-factor reset. Timers are not moved. */
  skip(milliseconds: number): void
}

/** Makes the clock of a world. `onSkip` is told the new offset. */
export const makeWorldClock = (
  base: Clock,
  { offset = 0, onSkip }: { readonly offset?: number; readonly onSkip?: (offset: number) => void } = {}
): WorldClock => {
  let ahead = offset
  return {
    get offset() {
      return ahead
    },
    now: () => base.now() + ahead,
    monotonic: () => base.monotonic(),
    after: (delayMs, task) => base.after(delayMs, task),
    turn: () => base.turn(),
    skip(milliseconds) {
      if (!Number.isFinite(milliseconds) || milliseconds < 0) throw new RangeError('Time only goes forward')
      ahead += milliseconds
      onSkip?.(ahead)
    }
  }
}
