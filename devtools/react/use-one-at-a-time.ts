import { useCallback, useEffect, useRef, useState } from 'react'

/** Starts a task. `isHere` tells it, once it has waited, whether its control is still in the page. */
export type StartTask = (task: (isHere: () => boolean) => Promise<void>) => void

/**
 * Does one thing at a time: what is started while something goes on is not done at all.
 *
 * A control that is busy is not disabled, since it would lose the focus; so this is what keeps a second press from being heard,
 * even in the same turn as the first.
 */
export const useOneAtATime = (): readonly [isBusy: boolean, start: StartTask] => {
  const [isBusy, setBusy] = useState(false)
  const isGoingOn = useRef(false)
  const isInPage = useRef(true)
  useEffect(() => {
    isInPage.current = true
    return () => {
      isInPage.current = false
    }
  }, [])
  const start = useCallback<StartTask>(task => {
    if (isGoingOn.current) return
    isGoingOn.current = true
    setBusy(true)
    void task(() => isInPage.current).finally(() => {
      isGoingOn.current = false
      setBusy(false)
    })
  }, [])
  return [isBusy, start]
}
