import type { AbortSignalLike } from '../types/abort-signal.ts'

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
          // It answers for itself; the signal has nobody to tell.
        }
      }
    }
  }
}
