import { type ReactElement, useMemo } from 'react'
import type { RouteHopSnapshot, RouteSnapshot } from '../../../kernel/index.ts'
import { type GraphLayout, layoutGraph, NODE_SIZE, pathThrough } from '../layout-routes.ts'
import { rateText } from '../texts.ts'

/** A pair in the picture. */
export interface RouteEdge {
  readonly hop: RouteHopSnapshot
  readonly isChosen: boolean
  readonly isStale: boolean
}

/** Routes as one graph. */
export interface RouteGraphFacts {
  readonly nodes: readonly { readonly code: string; readonly isChosen: boolean }[]
  readonly edges: readonly RouteEdge[]
}

/** The currencies and rates of some routes, the chosen route bold; the table below tells the same. */
export const RouteGraph = (props: {
  readonly graph: RouteGraphFacts
  readonly sources: readonly string[]
}): ReactElement => {
  const { nodes, edges } = props.graph
  const laid = useMemo(
    () =>
      layoutGraph(
        nodes.map(({ code }) => code),
        edges.map(edge => ({
          from: edge.hop.fromCurrency,
          to: edge.hop.toCurrency,
          labelWidth: labelWidthOf(edge)
        }))
      ),
    [nodes, edges]
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
    <section className="graph" aria-label="Graph of rates" tabIndex={0}>
      <svg width={laid.width} height={laid.height} role="img" aria-label={spoken(props.graph)}>
        {edges.map((edge, place) => (
          <Edge
            key={keyOf(edge)}
            edge={edge}
            at={laid.edges[place]}
            colour={props.sources.indexOf(edge.hop.source) % 8}
          />
        ))}
        {nodes.map(({ code, isChosen }, place) => (
          <Node key={code} code={code} isChosen={isChosen} at={laid.nodes[place]} />
        ))}
      </svg>
    </section>
  )
}

/** What tells an edge from the others. */
export const keyOf = ({ hop }: RouteEdge): string => `${hop.fromCurrency} ${hop.toCurrency} ${hop.source}`

const labelOf = ({ hop }: RouteEdge): string => `${hop.source} · ${rateText(hop.rate)}`

// Letters are about 6.5 px wide at 12 px, bold ones 7.4.
const labelWidthOf = (edge: RouteEdge): number => 10 + labelOf(edge).length * (edge.isChosen ? 7.4 : 6.5)

const spoken = ({ edges }: RouteGraphFacts): string => {
  const chosen = edges
    .filter(({ isChosen }) => isChosen)
    .map(({ hop }) => `${hop.fromCurrency} to ${hop.toCurrency} by ${hop.source}`)
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
  readonly edge: RouteEdge
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
      <title>{`${keyOf(edge)}, cost ${edge.hop.cost.toFixed(3)}`}</title>
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

/** All hops of some routes, the first of which is the chosen one. */
export const graphOf = (routes: readonly RouteSnapshot[]): RouteGraphFacts => {
  const nodes = new Map<string, boolean>()
  const edges = new Map<string, RouteEdge>()
  for (const [place, { hops }] of routes.entries()) {
    for (const hop of hops) {
      for (const code of [hop.fromCurrency, hop.toCurrency])
        nodes.set(code, nodes.get(code) === true || place === 0)
      const edge = { hop, isChosen: place === 0, isStale: hop.ageSeconds > 3600 }
      const key = keyOf(edge)
      if (!edges.has(key)) edges.set(key, edge)
    }
  }
  return { nodes: [...nodes].map(([code, isChosen]) => ({ code, isChosen })), edges: [...edges.values()] }
}
