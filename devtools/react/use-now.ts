import { useEffect, useState } from 'react'
import { usePanel } from './panel-state.ts'

/** The time of what is drawn, in Unix milliseconds; drawn anew every second. */
export const useNow = (): number => {
  const { now } = usePanel()
  const [, drawAnew] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => drawAnew(turn => turn + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  // Asked each time, so that a panel that turns to another moment tells of that one at once.
  return now()
}
