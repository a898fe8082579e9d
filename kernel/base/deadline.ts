import type { AbortSignalLike, Clock, Io } from '../io/io.ts'
import { WalletError } from './errors.ts'

/** A limit on waiting. `what` begins the sentence of the error: "The answer of Corner Shop". */
export interface Deadline {
  readonly clock: Clock
  readonly milliseconds: number
  readonly what: string
}

/**
 * Waits for a call, at most until the deadline; a synchronous throw is a rejection.
 *
 * The call itself goes on after the deadline; its late result is dropped.
 *
 * @throws DEADLINE
 *
 * @example
 * ```ts
 * import { withDeadline } from 'holdfast/plugin'
 *
 * const deadline = { clock: io.clock, milliseconds: 5000, what: 'The price' }
 * const { text } = await withDeadline(deadline, () => io.fetch('https://shop.example.org/price'))
 * ```
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

/**
 * How many times as long to wait for an answer: three times through a proxy, such as Tor, which builds circuits.
 *
 * @example
 * ```ts
 * import { patienceOf, withDeadline } from 'holdfast/plugin'
 *
 * const deadline = { clock: io.clock, milliseconds: 5000 * patienceOf(io), what: 'The price' }
 * const { text } = await withDeadline(deadline, () => io.fetch('https://shop.example.org/price'))
 * ```
 */
export const patienceOf = ({ isProxied }: Pick<Io, 'isProxied'>): number => (isProxied === true ? 3 : 1)

/** A signal and the function that aborts it; a second call does nothing. {@link makeAbort} makes one. */
export interface Abort {
  readonly signal: AbortSignalLike
  /** Notifies the listeners of the signal. A listener that throws affects neither the others nor the caller. */
  abort(): void
}

/**
 * Makes a signal and the function that aborts it, on platforms with and without `AbortController`.
 *
 * @example
 * ```ts
 * import { makeAbort } from 'holdfast/plugin'
 *
 * const { signal, abort } = makeAbort()
 * io.clock.after(5000, abort)
 * const reply = await io.fetch('https://shop.example.org/price', { signal })
 * ```
 */
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

/**
 * Calls `end` when the signal aborts, or at once if it has aborted already.
 *
 * @returns stops listening
 */
export const onAbort = (signal: AbortSignalLike | undefined, end: (error: Error) => void): (() => void) => {
  const listener = (): void => end(new Error('The connection is needed no more'))
  if (signal?.aborted === true) listener()
  else signal?.addEventListener('abort', listener)
  return () => signal?.removeEventListener('abort', listener)
}
