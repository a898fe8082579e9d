import type { Clock } from '../../../../kernel/plugin-api.ts'

/** Lets long loops share the thread. */
export interface Yielder {
  /** Returns at once, except that every few milliseconds of work other work gets a turn. */
  breathe(): Promise<void> | undefined
}

const SLICE_MS = 8

/** Makes a yielder that gives way after every 8 ms of work. */
export const makeYielder = (clock: Clock): Yielder => {
  let since = clock.monotonic()
  return {
    breathe() {
      if (clock.monotonic() - since < SLICE_MS) return undefined
      return clock.turn().then(() => {
        since = clock.monotonic()
      })
    }
  }
}
