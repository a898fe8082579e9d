import { useCallback, useRef, useState } from 'react'

/**
 * Does one thing at a time: what is started while something goes on is not done at all.
 *
 * A control that is busy is not disabled, since it would lose the focus; so this is what keeps a second press from being heard,
 * even in the same turn as the first.
 */
export const useOneAtATime = (): readonly [isBusy: boolean, start: (task: () => Promise<void>) => void] => {
  const [isBusy, setBusy] = useState(false)
  const isGoingOn = useRef(false)
  const start = useCallback((task: () => Promise<void>) => {
    if (isGoingOn.current) return
    isGoingOn.current = true
    setBusy(true)
    void task().finally(() => {
      isGoingOn.current = false
      setBusy(false)
    })
  }, [])
  return [isBusy, start]
}
