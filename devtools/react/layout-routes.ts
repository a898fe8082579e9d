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
  graph.setGraph({ rankdir: 'LR', nodesep: 26, edgesep: 14, ranksep: 60, marginx: 4, marginy: 4 })
  for (const node of nodes) graph.setNode(node, { ...NODE_SIZE })
  for (const [place, { from, to, labelWidth }] of edges.entries()) {
    graph.setEdge(
      from,
      to,
      { width: labelWidth, height: labelWidth === 0 ? 0 : 18, labelpos: 'c' },
      String(place)
    )
  }
  layout(graph)
  const { width = 0, height = 0 } = graph.graph()
  return {
    width,
    height,
    nodes: nodes.map(node => pointOf(graph.node(node))),
    edges: edges.map(({ from, to }, place) => {
      const laid = graph.edge(from, to, String(place))
      return { points: laid.points.map(pointOf), label: pointOf(laid) }
    })
  }
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

const pointOf = ({ x, y }: Point): Point => ({ x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10 })
