import { useEffect, useState } from 'react'
import { usePanel } from './panel-state.ts'

/** The time in Unix milliseconds, anew every second while the part is drawn. */
export const useNow = (): number => {
  const { now } = usePanel()
  const [time, setTime] = useState(now)
  useEffect(() => {
    const timer = setInterval(() => setTime(now()), 1000)
    return () => clearInterval(timer)
  }, [now])
  return time
}
