import type { ReactElement } from 'react'
import { HALF_AGE_SECONDS } from '../../../kernel/index.ts'
import type { RouteGraph } from '../../core/rows/route-graph.ts'
import { shortId, visibleText } from '../texts.ts'

/** What the colours and lines of the picture mean, and how much it leaves out. */
export const RouteLegend = (props: {
  readonly graph: RouteGraph
  /** All sources, in the order of their colours. */
  readonly sources: readonly string[]
}): ReactElement => {
  const { graph, sources } = props
  const shown = sources.filter(source => graph.edges.some(edge => edge.source === source))
  return (
    <p className="legend">
      {shown.map(source => (
        <Line key={source} name={source} look={`source-${sources.indexOf(source) % 8}`} width={3} />
      ))}
      <Line name="chosen" width={4.5} />
      <Line name={`over ${HALF_AGE_SECONDS} s old`} width={1.5} dashes="12 2" />
      <Line name="stale" width={1.5} dashes="5 3" />
      {graph.hiddenNodes === 0 ? null : <span>Not drawn: {graph.hiddenNodes} more currencies</span>}
    </p>
  )
}

const Line = (props: {
  readonly name: string
  readonly width: number
  readonly look?: string
  readonly dashes?: string
}): ReactElement => (
  <span className={props.look}>
    <svg viewBox="0 0 22 8" aria-hidden="true">
      <path d="M0 4h22" stroke="currentColor" strokeWidth={props.width} strokeDasharray={props.dashes} />
    </svg>
    {visibleText(shortId(props.name, 24))}
  </span>
)
