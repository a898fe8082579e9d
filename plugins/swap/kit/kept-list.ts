import type { Clock } from '../../../kernel/plugin-api.ts'

/**
 * Keeps what `load` gave; several who ask at once share one load.
 *
 * What is an hour old is still given, at once, while it is loaded anew: nobody waits for a server that has become slow.
 * What is a day old is given no more.
 */
export const keepList = <T>(clock: Pick<Clock, 'monotonic'>, load: () => Promise<T>): (() => Promise<T>) => {
  let kept: { readonly value: T; readonly at: number } | undefined
  let running: Promise<T> | undefined
  const loadNow = async (): Promise<T> => {
    try {
      const value = await load()
      kept = { value, at: clock.monotonic() }
      return value
    } finally {
      running = undefined
    }
  }
  return () => {
    const age = kept === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() - kept.at
    if (kept !== undefined && age < HOUR_MS) return Promise.resolve(kept.value)
    running ??= loadNow()
    if (kept === undefined || age > DAY_MS) return running
    running.catch(() => {})
    return Promise.resolve(kept.value)
  }
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
