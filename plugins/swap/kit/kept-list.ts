import type { Clock } from '../../../kernel/plugin-api.ts'

/**
 * Keeps what `load` gave for an hour; several who ask at once share one load.
 *
 * Where a later load fails, what was there before goes on being good for a day.
 */
export const keepList = <T>(clock: Pick<Clock, 'monotonic'>, load: () => Promise<T>): (() => Promise<T>) => {
  let kept: { readonly value: T; readonly at: number } | undefined
  let running: Promise<T> | undefined
  const loadNow = async (): Promise<T> => {
    try {
      const value = await load()
      kept = { value, at: clock.monotonic() }
      return value
    } catch (error) {
      if (kept === undefined || clock.monotonic() - kept.at > DAY_MS) throw error
      return kept.value
    } finally {
      running = undefined
    }
  }
  return () => {
    if (kept !== undefined && clock.monotonic() - kept.at < HOUR_MS) return Promise.resolve(kept.value)
    running ??= loadNow()
    return running
  }
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
