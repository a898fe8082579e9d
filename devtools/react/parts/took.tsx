import type { ReactElement } from 'react'
import { durationText } from '../texts.ts'

/** How long something took, as a bar and in words. `share`: how much of the bar is filled, from 0 to 1. */
export const Took = (props: {
  readonly durationMs: number | undefined
  readonly share: number
  /** It still goes on: the bar moves. */
  readonly isGoing?: boolean
  /** How it ended, as a colour; grey by default. */
  readonly tone?: 'bad' | 'good' | 'warn'
}): ReactElement => {
  const { durationMs, isGoing = false, share, tone } = props
  if (durationMs === undefined && !isGoing) return <span className="soft">–</span>
  const filled = isGoing ? 100 : Math.max(4, Math.round(Math.min(1, share) * 100))
  return (
    <>
      <span className={isGoing ? 'bar going' : `bar ${tone ?? 'quiet'}`} aria-hidden="true">
        <span style={{ inlineSize: `${filled}%` }} />
      </span>
      <span className="took">{durationMs === undefined ? '–' : durationText(durationMs)}</span>
    </>
  )
}
