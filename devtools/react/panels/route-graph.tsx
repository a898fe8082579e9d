import { type ReactElement, useMemo } from 'react'
import { HALF_AGE_SECONDS } from '../../../kernel/index.ts'
import type { RouteGraph as Graph } from '../../core/rows/route-graph.ts'
import type { DrawnEdge } from '../drawn-edges.ts'
import { type GraphLayout, layoutGraph, NODE_SIZE, pathThrough } from '../layout-routes.ts'
import { rateText, shortId, spanText, visibleText } from '../texts.ts'

/** The currencies and rates of some routes, the chosen route bold; the table below tells the same. */
export const RouteGraph = (props: {
  readonly nodes: Graph['nodes']
  readonly edges: readonly DrawnEdge[]
  readonly sources: readonly string[]
}): ReactElement => {
  const { nodes, edges, sources } = props
  // Ages change every second, what stands where does not: a picture is laid out anew only for other words.
  const words = JSON.stringify([
    nodes.map(({ code }) => code),
    edges.map(edge => ({
      from: edge.fromCurrency,
      to: edge.toCurrency,
      labelWidth: isLabelled(edge, edges) ? labelWidthOf(edge) : 0
    }))
  ])
  const laid = useMemo(() => layoutGraph(...(JSON.parse(words) as Parameters<typeof layoutGraph>)), [words])
  const placed = edges.flatMap((edge, place) => {
    const at = laid.edges[place]
    return at === undefined ? [] : { edge, at, look: lookOf(edge, sources) }
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with keys
    <section className="graph" aria-label="Graph of rates" tabIndex={0}>
      <svg width={laid.width} height={laid.height} role="img" aria-label={spoken(edges)}>
        {placed.map(({ edge, at, look }) => (
          <Line key={edge.id} edge={edge} at={at} look={look} />
        ))}
        {placed
          .filter(({ edge }) => isLabelled(edge, edges))
          .map(({ edge, at }) => (
            <Label key={edge.id} edge={edge} at={at.label} />
          ))}
        {nodes.map(({ code, isOnRoute }, place) => (
          <Node key={code} code={code} isChosen={isOnRoute} at={laid.nodes[place]} />
        ))}
      </svg>
    </section>
  )
}

// More labels than these hide what they stand on; the table has them all.
const MOST_LABELS = 12

// A label stands above its line, which goes on below it.
const LABEL_RISE = 11

/** In a crowd, only the edges of routes are labelled. */
const isLabelled = (edge: DrawnEdge, edges: readonly DrawnEdge[]): boolean =>
  edges.length <= MOST_LABELS || edge.isChosen || edge.isAlternative

const labelOf = ({ source, rate, isInverted, otherSources }: DrawnEdge): string =>
  `${visibleText(shortId(source, 24))}${otherSources === 0 ? '' : ` +${otherSources}`} · ${shortId(rateText(rate), 24)}${isInverted ? ' inverted' : ''}`

// Letters are about 6.5 px wide at 12 px, bold ones 7.2.
const labelWidthOf = (edge: DrawnEdge): number => 10 + labelOf(edge).length * (edge.isChosen ? 7.2 : 6.5)

const lookOf = ({ source, isChosen, isAlternative }: DrawnEdge, sources: readonly string[]): string =>
  `source-${Math.max(0, sources.indexOf(source)) % 8}${isChosen || isAlternative ? '' : ' aside'}`

const spoken = (edges: readonly DrawnEdge[]): string => {
  const chosen = edges
    .filter(({ isChosen }) => isChosen)
    .map(({ fromCurrency, toCurrency, source }) => `${fromCurrency} to ${toCurrency} by ${source}`)
  return chosen.length === 0 ? 'No route is chosen' : `The chosen route: ${chosen.join(', ')}`
}

type Laid = GraphLayout['edges'][number]

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

const Line = (props: {
  readonly edge: DrawnEdge
  readonly at: Laid
  readonly look: string
}): ReactElement | null => {
  const { edge, at, look } = props
  const [before, tip] = at.points.slice(-2)
  if (before === undefined || tip === undefined) return null
  const turn = Math.round((Math.atan2(tip.y - before.y, tip.x - before.x) * 180) / Math.PI)
  return (
    <g className={look}>
      <title>{`${edge.fromCurrency} to ${edge.toCurrency}: ${labelOf(edge)}, ${spanText(edge.ageSeconds)} old, cost ${edge.cost.toFixed(3)}`}</title>
      <path
        className={`route-edge${edge.isChosen ? ' chosen' : ''}${ageLook(edge)}`}
        d={pathThrough(at.points)}
      />
      <path
        className="route-arrow"
        d="M0 0-9-4.5v9z"
        transform={`translate(${tip.x} ${tip.y}) rotate(${turn})`}
      />
    </g>
  )
}

const ageLook = ({ isStale, ageSeconds }: DrawnEdge): string => {
  if (isStale) return ' stale'
  return ageSeconds > HALF_AGE_SECONDS ? ' ageing' : ''
}

const Label = (props: { readonly edge: DrawnEdge; readonly at: Laid['label'] }): ReactElement => {
  const { edge, at } = props
  return (
    <g
      className={edge.isChosen ? 'route-label chosen' : 'route-label'}
      transform={`translate(${at.x} ${at.y - LABEL_RISE})`}
    >
      <text>{labelOf(edge)}</text>
    </g>
  )
}
