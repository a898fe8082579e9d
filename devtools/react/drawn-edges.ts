import type { RouteHopSnapshot, RouteSnapshot } from '../../kernel/index.ts'
import type { RouteEdge } from '../core/rows/route-graph.ts'

/** An edge as it is drawn: a hop in the direction in which its route goes, another pair in its own. */
export interface DrawnEdge extends RouteEdge {
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
