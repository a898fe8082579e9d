import { Graph, layout } from '@dagrejs/dagre'
import { type ReactElement, useMemo } from 'react'
import { costText, rateText } from '../../../app/format/routes.ts'
import { ageText } from '../../../app/format/times.ts'
import { HALF_AGE_SECONDS, type RouteHopSnapshot, type RouteSnapshot } from '../../../kernel/index.ts'
import type { RouteEdge, RouteGraph } from '../../core/rows/route-rows.ts'
import { shortId, visibleText } from '../parts/texts.ts'

/** The currencies and rates of some routes, the chosen route bold; the table below has the same. */
export const RouteDrawing = (props: {
  readonly nodes: RouteGraph['nodes']
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
      <title>{`${edge.fromCurrency} to ${edge.toCurrency}: ${labelOf(edge)}, ${ageText(edge.ageSeconds)} old, cost ${costText(edge.cost)}`}</title>
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

/** Explains the colours and lines of the graph, and counts the parts that are left out. */
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
        <LegendLine key={source} name={source} look={`source-${sources.indexOf(source) % 8}`} width={3} />
      ))}
      <LegendLine name="chosen" width={4.5} />
      <LegendLine name={`over ${HALF_AGE_SECONDS} s old`} width={1.5} dashes="12 2" />
      <LegendLine name="stale" width={1.5} dashes="5 3" />
      {graph.hiddenNodes === 0 ? null : <span>Not drawn: {graph.hiddenNodes} more currencies</span>}
    </p>
  )
}

const LegendLine = (props: {
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

/** An edge as it is drawn: a hop in the direction in which its route goes, another pair in its own. */
interface DrawnEdge extends RouteEdge {
  /** It is drawn against the direction of its pair. */
  readonly isInverted: boolean
}

/** Turns the edges of routes round where a route goes against a pair, so that routes read from left to right (pure). */
export const drawnEdges = (
  edges: readonly RouteEdge[],
  routes: readonly RouteSnapshot[]
): readonly DrawnEdge[] => {
  const inverted = new Map<string, RouteHopSnapshot>(
    routes
      .flatMap(({ hops }) => hops)
      .filter(({ isInverted }) => isInverted)
      .map(hop => [`${hop.toCurrency} ${hop.fromCurrency} ${hop.source}`, hop] as const)
  )
  return edges.map(edge => {
    const hop = inverted.get(edge.id)
    if (hop === undefined) return { ...edge, isInverted: false }
    const { fromCurrency, toCurrency, rate } = hop
    return { ...edge, fromCurrency, toCurrency, rate, isInverted: true }
  })
}

/** A place in the picture, in pixels. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** The positions of nodes and edges. */
interface GraphLayout {
  readonly width: number
  readonly height: number
  /** The centre of each node, in the order of the nodes. */
  readonly nodes: readonly Point[]
  /** The course of each edge and the centre of its label, in the order of the edges. */
  readonly edges: readonly { readonly points: readonly Point[]; readonly label: Point }[]
}

/** A node's width and height. */
export const NODE_SIZE: { readonly width: number; readonly height: number } = { width: 84, height: 30 }

/** Lays a graph out from left to right, with room for each label that has a width. The same graph always gives the same picture. */
export const layoutGraph = (
  nodes: readonly string[],
  edges: readonly { readonly from: string; readonly to: string; readonly labelWidth: number }[]
): GraphLayout => {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 26, edgesep: 4, ranksep: 24, marginx: MARGIN, marginy: MARGIN })
  for (const node of nodes) graph.setNode(node, { ...NODE_SIZE })
  for (const [place, { from, to, labelWidth }] of edges.entries()) {
    graph.setEdge(
      from,
      to,
      { width: labelWidth, height: labelWidth === 0 ? 0 : LABEL_HEIGHT, labelpos: 'c' },
      String(place)
    )
  }
  layout(graph)
  const courses: readonly Course[] = edges.map(({ from, to, labelWidth }, place) =>
    withFlatPart(graph.edge(from, to, String(place)), labelWidth)
  )
  // The layout counts nodes and labels; a bend may lie outside of them.
  const ends = courses.flatMap(({ points }) => points)
  const { width = 0, height = 0 } = graph.graph()
  const left = Math.min(0, ...ends.map(({ x }) => x - MARGIN))
  const top = Math.min(0, ...ends.map(({ y }) => y - MARGIN))
  const shifted = ({ x, y }: Point): Point => ({ x: rounded(x - left), y: rounded(y - top) })
  return {
    width: rounded(Math.max(width, ...ends.map(({ x }) => x + MARGIN)) - left),
    height: rounded(Math.max(height, ...ends.map(({ y }) => y + MARGIN)) - top),
    nodes: nodes.map(node => shifted(graph.node(node))),
    edges: courses.map(course => ({ points: course.points.map(shifted), label: shifted(course) }))
  }
}

const MARGIN = 4
// Half of it is above the line, where the label stands.
const LABEL_HEIGHT = 38

/** An edge as the layout leaves it: its label's centre, and where it goes through. */
interface Course extends Point {
  readonly points: readonly Point[]
}

/** A course that is level for as long as its label stands on it. */
const withFlatPart = (course: Course, labelWidth: number): Course => {
  if (labelWidth === 0) return course
  const { x, y, points } = course
  const isCentre = (point: Point): boolean => Math.abs(point.x - x) < 1 && Math.abs(point.y - y) < 1
  // Some rates go back, from right to left.
  const half = ((points[0]?.x ?? 0) > (points.at(-1)?.x ?? 0) ? -labelWidth : labelWidth) / 2
  const flatPart = [-half, 0, half].map(along => ({ x: x + along, y }))
  return { x, y, points: points.flatMap(point => (isCentre(point) ? flatPart : [point])) }
}

/** A smooth path through points: straight at its ends, rounded at the bends. */
export const pathThrough = (points: readonly Point[]): string => {
  const [first, ...rest] = points
  const last = rest.at(-1)
  if (first === undefined || last === undefined) return ''
  const bends = rest.slice(0, -1).map((bend, place) => {
    const next = rest[place + 1] ?? last
    const end = next === last ? last : { x: (bend.x + next.x) / 2, y: (bend.y + next.y) / 2 }
    return `Q${bend.x} ${bend.y} ${end.x} ${end.y}`
  })
  return bends.length === 0
    ? `M${first.x} ${first.y}L${last.x} ${last.y}`
    : `M${first.x} ${first.y}${bends.join('')}`
}

const rounded = (figure: number): number => Math.round(figure * 10) / 10
