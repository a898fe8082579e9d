import { useCallback, useSyncExternalStore } from 'react'
import type { Readable } from '../kernel/index.ts'

/**
 * Returns the current value of a readable, or a part of it; draws again when that changes.
 *
 * `select` picks a part and makes nothing new: a fresh object each time would draw without end.
 */
export const useStore: {
  <S>(readable: Readable<S>): S
  <S, P>(readable: Readable<S>, select: (snapshot: S) => P): P
} = <S, P>(readable: Readable<S>, select?: (snapshot: S) => P): S | P => {
  const subscribe = useCallback((listener: () => void) => readable.subscribe(listener), [readable])
  const read = (): S | P => {
    const snapshot = readable.getSnapshot()
    return select === undefined ? snapshot : select(snapshot)
  }
  return useSyncExternalStore(subscribe, read, read)
}
