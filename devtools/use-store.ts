import { useCallback, useSyncExternalStore } from 'react'
import type { Readable } from '../kernel/index.ts'

/**
 * What a readable holds now, or a part of it; draws anew when that changes.
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
