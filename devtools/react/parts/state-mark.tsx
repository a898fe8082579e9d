import type { ReactElement, ReactNode } from 'react'

/** How something stands, in kind: each has a shape, a colour and a word of its own. */
export type Tone = 'bad' | 'busy' | 'good' | 'idle' | 'warn'

/** A state as shape, colour and word, so that none of them has to be told apart alone. */
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
