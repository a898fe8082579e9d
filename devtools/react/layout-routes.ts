import { Graph, layout } from '@dagrejs/dagre'

/** A place in the picture, in pixels. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** Where everything of a graph goes. */
export interface GraphLayout {
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
    withShelf(graph.edge(from, to, String(place)), labelWidth)
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
const withShelf = (course: Course, labelWidth: number): Course => {
  if (labelWidth === 0) return course
  const { x, y, points } = course
  const isCentre = (point: Point): boolean => Math.abs(point.x - x) < 1 && Math.abs(point.y - y) < 1
  // Some rates go back, from right to left.
  const half = ((points[0]?.x ?? 0) > (points.at(-1)?.x ?? 0) ? -labelWidth : labelWidth) / 2
  const shelf = [-half, 0, half].map(along => ({ x: x + along, y }))
  return { x, y, points: points.flatMap(point => (isCentre(point) ? shelf : [point])) }
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
