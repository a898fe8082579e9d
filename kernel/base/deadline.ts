import type { AbortSignalLike, Clock } from '../io/io.ts'
import { WalletError } from './errors.ts'

/** A limit on waiting. `what` begins the sentence of the error: "the engine's answer". */
export interface Deadline {
  readonly clock: Clock
  readonly milliseconds: number
  readonly what: string
}

/**
 * Waits for a call, but never longer than the deadline; a synchronous throw is a rejection.
 *
 * The call itself goes on when the deadline passes; its late result is dropped.
 *
 * @throws DEADLINE
 */
export const withDeadline = <T>(deadline: Deadline, call: () => T | Promise<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const { clock, milliseconds, what } = deadline
    const cancel = clock.after(milliseconds, () =>
      reject(new WalletError('DEADLINE', { what, milliseconds }))
    )
    const settle =
      <V>(finish: (value: V) => void) =>
      (value: V): void => {
        cancel()
        finish(value)
      }
    try {
      Promise.resolve(call()).then(settle(resolve), settle(reject))
    } catch (error) {
      settle(reject)(error)
    }
  })

/** A signal and the way to abort it; aborting it again does nothing. */
export interface Abort {
  readonly signal: AbortSignalLike
  /** Tells the listeners; one that throws, such as a plugin's, harms neither the others nor the caller. */
  abort(): void
}

/** Makes a signal that works on every platform. */
export const makeAbort = (): Abort => {
  const listeners = new Set<() => void>()
  let aborted = false
  return {
    // Many plugins may hold it.
    signal: Object.freeze({
      get aborted() {
        return aborted
      },
      addEventListener: (_type: 'abort', listener: () => void) => void listeners.add(listener),
      removeEventListener: (_type: 'abort', listener: () => void) => void listeners.delete(listener)
    }),
    abort() {
      if (aborted) return
      aborted = true
      for (const listener of [...listeners]) {
        try {
          listener()
        } catch {
          // A failing listener must not stop the others, and the signal has no error handler.
        }
      }
    }
  }
}
