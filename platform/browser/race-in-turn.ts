import type { Clock, FetchOptions } from '../../kernel/io/io.ts'

/** How {@link raceInTurn} waits. */
export interface RaceOptions {
  readonly clock: Clock
  /** How long an attempt runs alone. */
  readonly staggerMs: number
  readonly signal?: FetchOptions['signal'] | undefined
}

/**
 * Starts attempts one after another, each when the one before has failed or had its time, until one succeeds.
 *
 * Earlier attempts go on beside later ones. The first success ends all others, and so does the signal.
 *
 * @throws the first failure, when all have failed; what an attempt says of the signal; a `TypeError` if there are none
 */
export const raceInTurn = <T>(
  attempts: readonly ((signal: AbortSignal) => Promise<T>)[],
  { clock, staggerMs, signal }: RaceOptions
): Promise<T> => {
  const aborter = new AbortController()
  const abort = (): void => aborter.abort()
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  let cancel = (): void => {}
  return new Promise<T>((resolve, reject) => {
    const failures: unknown[] = []
    let started = 0
    const startNext = (): void => {
      cancel()
      const attempt = attempts[started]
      if (attempt === undefined) return
      started += 1
      const number = started
      if (started < attempts.length) cancel = clock.after(staggerMs, startNext)
      attempt(aborter.signal).then(resolve, error => {
        failures.push(error)
        if (aborter.signal.aborted) reject(error)
        else if (failures.length === attempts.length) reject(failures[0])
        else if (number === started) startNext()
      })
    }
    if (attempts.length === 0) reject(new TypeError('There is nobody to ask'))
    startNext()
  }).finally(() => {
    cancel()
    signal?.removeEventListener('abort', abort)
    abort()
  })
}
