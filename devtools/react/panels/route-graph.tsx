import { type ReactElement, useMemo } from 'react'
import type { RouteGraph as Graph } from '../../core/rows/route-graph.ts'
import type { DrawnEdge } from '../drawn-edges.ts'
import { type GraphLayout, layoutGraph, NODE_SIZE, pathThrough } from '../layout-routes.ts'
import { rateText } from '../texts.ts'

/** The currencies and rates of some routes, the chosen route bold; the table below tells the same. */
export const RouteGraph = (props: {
  readonly nodes: Graph['nodes']
  readonly edges: readonly DrawnEdge[]
  readonly sources: readonly string[]
}): ReactElement => {
  const { nodes, edges } = props
  const laid = useMemo(
    () =>
      layoutGraph(
        nodes.map(({ code }) => code),
        edges.map(edge => ({
          from: edge.fromCurrency,
          to: edge.toCurrency,
          labelWidth: labelWidthOf(edge)
        }))
      ),
    [nodes, edges]
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
    <section className="graph" aria-label="Graph of rates" tabIndex={0}>
      <svg width={laid.width} height={laid.height} role="img" aria-label={spoken(edges)}>
        {edges.map((edge, place) => (
          <Edge
            key={edge.id}
            edge={edge}
            at={laid.edges[place]}
            colour={props.sources.indexOf(edge.source) % 8}
          />
        ))}
        {nodes.map(({ code, isOnRoute }, place) => (
          <Node key={code} code={code} isChosen={isOnRoute} at={laid.nodes[place]} />
        ))}
      </svg>
    </section>
  )
}

const labelOf = ({ source, rate, isInverted, otherSources }: DrawnEdge): string =>
  `${source}${otherSources === 0 ? '' : ` +${otherSources}`} · ${rateText(rate)}${isInverted ? ' inverted' : ''}`

// Letters are about 6.5 px wide at 12 px, bold ones 7.4.
const labelWidthOf = (edge: DrawnEdge): number => 10 + labelOf(edge).length * (edge.isChosen ? 7.4 : 6.5)

const spoken = (edges: readonly DrawnEdge[]): string => {
  const chosen = edges
    .filter(({ isChosen }) => isChosen)
    .map(({ fromCurrency, toCurrency, source }) => `${fromCurrency} to ${toCurrency} by ${source}`)
  return chosen.length === 0 ? 'No route is chosen' : `The chosen route: ${chosen.join(', ')}`
}

const Node = (props: {
  readonly code: string
  readonly isChosen: boolean
  readonly at: GraphLayout['nodes'][number] | undefined
}): ReactElement | null => {
  const { code, isChosen, at } = props
  if (at === undefined) return null
  const { width, height } = NODE_SIZE
  return (
    <g className={isChosen ? 'route-node chosen' : 'route-node'} transform={`translate(${at.x} ${at.y})`}>
      <title>{code}</title>
      <rect x={-width / 2} y={-height / 2} width={width} height={height} rx="6" />
      <text>{code.length > 10 ? `${code.slice(0, 9)}…` : code}</text>
    </g>
  )
}

const Edge = (props: {
  readonly edge: DrawnEdge
  readonly at: GraphLayout['edges'][number] | undefined
  readonly colour: number
}): ReactElement | null => {
  const { edge, at, colour } = props
  const [before, tip] = at?.points.slice(-2) ?? []
  if (at === undefined || before === undefined || tip === undefined) return null
  const turn = (Math.atan2(tip.y - before.y, tip.x - before.x) * 180) / Math.PI
  const width = labelWidthOf(edge)
  return (
    <g className={`source-${colour}`}>
      <title>{`${edge.id}, cost ${edge.cost.toFixed(3)}`}</title>
      <path
        className={`route-edge ${edge.isChosen ? 'chosen' : ''} ${edge.isStale ? 'stale' : ''}`}
        d={pathThrough(at.points)}
      />
      <path
        className="route-arrow"
        d="M0 0-9-4.5v9z"
        transform={`translate(${tip.x} ${tip.y}) rotate(${turn})`}
      />
      <g
        className={edge.isChosen ? 'route-label chosen' : 'route-label'}
        transform={`translate(${at.label.x} ${at.label.y})`}
      >
        <rect x={-width / 2} y="-9" width={width} height="18" rx="3" />
        <text>{labelOf(edge)}</text>
      </g>
    </g>
  )
}
