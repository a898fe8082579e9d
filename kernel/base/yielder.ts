import type { Clock } from '../io/io.ts'

/** The longest that a loop over user data may keep the thread, in milliseconds (decision 17). */
const SLICE_MS = 8

/** Gives other work a turn when it is due; undefined, without a promise, when it is not. */
export type Yielder = () => Promise<void> | undefined

/**
 * Makes a pause for long loops: call it after every item, and await its answer if there is one.
 *
 * It answers undefined while the slice lasts, so that short loops cost no promise.
 */
export const makeYielder = (clock: Pick<Clock, 'monotonic' | 'turn'>): Yielder => {
  let began = clock.monotonic()
  return () => {
    if (clock.monotonic() - began < SLICE_MS) return undefined
    return clock.turn().then(() => {
      began = clock.monotonic()
    })
  }
}
