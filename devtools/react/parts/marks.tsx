import type { ReactElement, ReactNode } from 'react'
import { durationText } from '../../../app/format/times.ts'

/** The tone of a state: each has its own shape, colour and word. */
export type Tone = 'bad' | 'busy' | 'good' | 'idle' | 'warn'

/** A state as shape, colour and word, so that none of them is the only distinction. */
export const StateMark = (props: { readonly tone: Tone; readonly children: ReactNode }): ReactElement => (
  <span className={`state ${props.tone === 'idle' ? 'soft' : props.tone}`}>
    <svg viewBox="0 0 12 12" aria-hidden="true">
      {shapes[props.tone]}
    </svg>
    <span>{props.children}</span>
  </span>
)

const shapes: Readonly<Record<Tone, ReactElement>> = {
  good: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  idle: <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.5" />,
  busy: (
    <g className="mark-spin" fill="none" stroke="currentColor" strokeWidth="2">
      <circle cx="6" cy="6" r="4.5" opacity=".3" />
      <path d="M6 1.5a4.5 4.5 0 0 1 4.5 4.5" />
    </g>
  ),
  warn: <path d="M6 1 11.5 11h-11z" fill="currentColor" />,
  bad: <path d="m2 2 8 8m0-8-8 8" stroke="currentColor" strokeWidth="2.2" />
}

/** Shows a duration as a bar and in words. `share`: the filled part of the bar, from 0 to 1. */
export const DurationBar = (props: {
  readonly durationMs: number | undefined
  readonly share: number
  /** It still goes on: the bar moves. */
  readonly isGoing?: boolean
  /** The outcome, as a colour; grey by default. */
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

/** Explains an empty list, and the next step. */
export const EmptyState = (props: { readonly title: string; readonly children: ReactNode }): ReactElement => (
  <div className="empty">
    <h2>{props.title}</h2>
    {props.children}
  </div>
)

/** Says that no row matches the filter. */
export const NoMatch = (props: { readonly filter: string; readonly onClear: () => void }): ReactElement => (
  <EmptyState title="Nothing matches">
    <p>
      Nothing here contains <code>{props.filter}</code>.
    </p>
    <button type="button" className="button" onClick={props.onClear}>
      Clear the filter
    </button>
  </EmptyState>
)
