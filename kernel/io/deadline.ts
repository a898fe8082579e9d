import { WalletError } from '../errors/wallet-error.ts'
import type { Clock } from './io.ts'

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
