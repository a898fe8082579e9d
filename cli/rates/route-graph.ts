import { decimalText } from '../../app/format/amounts.ts'
import { costText, routeJson } from '../../app/format/routes.ts'
import { ageText } from '../../app/format/times.ts'
import type { JsonObject, RouteHopSnapshot, RouteSnapshot } from '../../kernel/index.ts'

/** A language of graphs. */
export type GraphFormat = 'dot' | 'json' | 'mermaid'

/** The routes between two currencies as a graph: currencies are nodes, and rates lead from one to the next. */
interface RouteGraph {
  /** Currency codes; the place of each is its name in the text. */
  readonly nodes: readonly string[]
  readonly edges: readonly Edge[]
}

interface Edge {
  readonly hop: RouteHopSnapshot
  /** True on the cheapest route. */
  readonly isBest: boolean
}

/** Writes routes as a graph for another program; the first route is the best. */
export const graphLines = (routes: readonly RouteSnapshot[], format: GraphFormat): readonly string[] => {
  const graph = graphOf(routes)
  if (format === 'json') return JSON.stringify(graphJson(routes, graph), undefined, 2).split('\n')
  return format === 'dot' ? dotLines(graph) : mermaidLines(graph)
}

const graphOf = (routes: readonly RouteSnapshot[]): RouteGraph => {
  const nodes = new Set<string>()
  const edges = new Map<string, Edge>()
  for (const [place, { fromCurrency, hops }] of routes.entries()) {
    nodes.add(fromCurrency)
    for (const hop of hops) {
      nodes.add(hop.toCurrency)
      const key = JSON.stringify([hop.fromCurrency, hop.toCurrency, hop.source])
      if (!edges.has(key)) edges.set(key, { hop, isBest: place === 0 })
    }
  }
  return { nodes: [...nodes], edges: [...edges.values()] }
}

const graphJson = (routes: readonly RouteSnapshot[], { nodes, edges }: RouteGraph): JsonObject => ({
  nodes: nodes.map(code => ({ id: code })),
  edges: edges.map(({ hop, isBest }) => ({
    from: hop.fromCurrency,
    to: hop.toCurrency,
    source: hop.source,
    rate: decimalText(hop.rate),
    ageSeconds: Math.round(hop.ageSeconds),
    cost: hop.cost,
    best: isBest
  })),
  routes: routes.map(routeJson)
})

const mermaidLines = ({ nodes, edges }: RouteGraph): readonly string[] => [
  'flowchart LR',
  ...nodes.map((code, place) => `  n${place}["${mermaidText(code)}"]`),
  ...edges.map(({ hop, isBest }) => {
    const [from, to] = endsOf(nodes, hop)
    return `  n${from} ${isBest ? '==>' : '-.->'}|"${mermaidText(labelOf(hop))}"| n${to}`
  })
]

const dotLines = ({ nodes, edges }: RouteGraph): readonly string[] => [
  'digraph rates {',
  '  rankdir=LR;',
  ...nodes.map((code, place) => `  n${place} [label=${dotText(code)}];`),
  ...edges.map(({ hop, isBest }) => {
    const [from, to] = endsOf(nodes, hop)
    return `  n${from} -> n${to} [label=${dotText(labelOf(hop))}, style=${isBest ? 'bold' : 'dashed'}];`
  }),
  '}'
]

const endsOf = (nodes: readonly string[], hop: RouteHopSnapshot): readonly [number, number] => [
  nodes.indexOf(hop.fromCurrency),
  nodes.indexOf(hop.toCurrency)
]

const labelOf = ({ source, rate, ageSeconds, cost }: RouteHopSnapshot): string =>
  `${source} x ${decimalText(rate)}, ${ageText(ageSeconds)}, cost ${costText(cost)}`

/** Codes and names of plugins are untrusted: quotes and backslashes are escaped. */
const dotText = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&').replace(/\s/g, ' ')}"`

/** Mermaid escapes other characters as `#` and their number. */
const mermaidText = (text: string): string =>
  text.replace(/[^A-Za-z0-9 .,:+_-]/g, letter => `#${letter.codePointAt(0) ?? 0};`)
