import type { Clock } from '../io/io.ts'

/** The longest that a loop over user data may keep the thread, in milliseconds (decision 17). */
const SLICE_MS = 8

/** A function of {@link makeYielder}: a promise to await, or undefined while no pause is due. */
export type Yielder = () => Promise<void> | undefined

/**
 * Makes a function for long loops: call it after each item, and await its promise if it returns one. Other work then runs
 * at least every 8 ms (architecture decision 17).
 *
 * It returns undefined while no pause is due, so that short loops cost no promise.
 *
 * @example
 * ```ts
 * import { makeYielder } from 'holdfast/plugin'
 *
 * const pause = makeYielder(io.clock)
 * for (const bytes of [io.random(32), io.random(32)]) {
 *   io.crypto.sha256(bytes)
 *   await pause()
 * }
 * ```
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
