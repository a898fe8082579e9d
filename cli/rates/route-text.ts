import type { JsonObject, RouteHopSnapshot, RouteSnapshot } from '../../kernel/index.ts'
import { codeText, decimalText, roundedText } from '../output/amounts.ts'
import { ageText } from '../output/texts.ts'
import type { Cell, CellLike, Column } from '../output/view.ts'

/** A route as JSON (ecosystem 1.8). Rates are decimal text; costs are those of the route search. */
export const routeJson = ({ rate, hops, cost, isStale }: RouteSnapshot): JsonObject => ({
  rate: decimalText(rate),
  totalCost: cost,
  stale: isStale,
  hops: hops.map(hopJson)
})

const hopJson = (hop: RouteHopSnapshot): JsonObject => ({
  from: hop.fromCurrency,
  to: hop.toCurrency,
  rate: decimalText(hop.rate),
  inverted: hop.isInverted,
  source: hop.source,
  at: isoTime(hop.at),
  ageSeconds: Math.round(hop.ageSeconds),
  bias: hop.bias,
  cost: hop.cost
})

/** Converts Unix seconds to ISO text. */
export const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString()

/** The age of a route, which is that of its oldest rate, and its sources as JSON. A route without a hop has no time. */
export const originJson = (route: RouteSnapshot): JsonObject => ({
  rateAt: route.hops.length === 0 ? null : isoTime(Math.min(...route.hops.map(({ at }) => at))),
  ageSeconds: Math.round(ageOf(route)),
  source: sourcesOf(route),
  stale: route.isStale
})

/** Returns the age of the oldest rate of a route in seconds; 0 without a hop. */
export const ageOf = ({ hops }: RouteSnapshot): number =>
  hops.reduce((most, { ageSeconds }) => Math.max(most, ageSeconds), 0)

/** The providers on a route, in its order: `coinbase, ecb`. */
const sourcesOf = ({ hops }: RouteSnapshot): string =>
  [...new Set(hops.map(({ source }) => source))].join(', ')

/** The age of a route as a cell: never a colour alone. */
export const ageCell = (route: RouteSnapshot): Cell => {
  if (route.hops.length === 0) return { text: 'the same currency' }
  const age = ageText(ageOf(route))
  return route.isStale ? { text: `${age}, stale`, tone: 'warn' } : { text: age }
}

/** Formats a route in one line: `LTC > USD (kraken) > EUR (ecb)`. */
export const pathText = ({ fromCurrency, hops }: RouteSnapshot): string =>
  [fromCurrency, ...hops.map(({ toCurrency, source }) => `${toCurrency} (${source})`)].join(' > ')

/** The columns of {@link hopCells}. */
export const hopColumns: readonly Column[] = [
  { title: 'FROM' },
  { title: 'TO' },
  { title: 'RATE', align: 'right' },
  { title: 'SOURCE', canShrink: true },
  { title: 'AGE', align: 'right' },
  { title: 'BIAS', align: 'right' },
  { title: 'COST', align: 'right' },
  { title: 'WAY' }
]

/** A hop as a table row. */
export const hopCells = (hop: RouteHopSnapshot): readonly CellLike[] => [
  hop.fromCurrency,
  hop.toCurrency,
  decimalText(hop.rate),
  hop.source,
  ageText(hop.ageSeconds),
  String(hop.bias),
  costText(hop.cost),
  hop.isInverted ? 'turned' : ''
]

/** Formats a cost. */
export const costText = (cost: number): string => cost.toFixed(3)

/** Options of {@link chainLines}. */
export interface ChainOptions {
  readonly isAscii: boolean
  /** Adds the parts of each cost. */
  readonly isExplained: boolean
}

/**
 * Draws a route from top to bottom: each currency in its own line, and between two of them the rate that connects them.
 *
 * No line is wider than 80 columns as long as codes and sources have their usual length.
 */
export const chainLines = (route: RouteSnapshot, options: ChainOptions): readonly CellLike[] => {
  const { fromCurrency, hops } = route
  const marks = options.isAscii ? ASCII : LINES
  return [
    { text: `${marks.start} ${codeText(fromCurrency)}`, tone: 'strong' },
    ...hops.flatMap((hop, index) => hopLines(hop, { ...options, marks, isLast: index === hops.length - 1 }))
  ]
}

/** Sums up a route in a line: `1 LTC = 83.42 EUR, cost 2.311`. */
export const sumLine = ({ fromCurrency, toCurrency, rate, cost }: RouteSnapshot): string =>
  `1 ${codeText(fromCurrency)} = ${rateText(rate)} ${codeText(toCurrency)}, cost ${costText(cost)}`

interface Marks {
  readonly start: string
  readonly line: string
  readonly arrow: string
  readonly end: string
}

const LINES: Marks = { start: '●', line: '│', arrow: '▼', end: '●' }
const ASCII: Marks = { start: 'o', line: '|', arrow: 'v', end: 'o' }

const hopLines = (
  hop: RouteHopSnapshot,
  { marks, isLast, isExplained }: ChainOptions & { readonly marks: Marks; readonly isLast: boolean }
): readonly CellLike[] => {
  const { source, rate, ageSeconds, toCurrency, isInverted } = hop
  const facts = [
    `× ${rateText(rate)}`.padEnd(RATE_WIDTH),
    `${source}${isInverted ? ', turned' : ''}`.padEnd(SOURCE_WIDTH),
    `${ageText(ageSeconds)} old`.padEnd(AGE_WIDTH),
    `cost ${costText(hop.cost)}`
  ].join('  ')
  return [
    `${marks.line}   ${marks === ASCII ? facts.replace('×', 'x') : facts}`,
    ...(isExplained ? [{ text: `${marks.line}   = ${explanation(hop)}`, tone: 'dim' } as const] : []),
    { text: `${marks.arrow}`, tone: 'dim' },
    { text: `${isLast ? marks.end : marks.start} ${codeText(toCurrency)}`, tone: 'strong' }
  ]
}

const RATE_WIDTH = 18
const SOURCE_WIDTH = 21
const AGE_WIDTH = 11

/** The formula of specification §9: `0.286 age 12/(30+12), -0.1 bias, 1 hop`. */
const explanation = ({ ageSeconds, bias, isInverted }: RouteHopSnapshot): string => {
  const age = Math.round(ageSeconds)
  const share = (ageSeconds / (30 + ageSeconds)).toFixed(3)
  return `${share} age ${age}/(30+${age}), ${bias} bias, ${isInverted ? '1.1 turned hop' : '1 hop'}`
}

const rateText = (rate: number): string => roundedText(decimalText(rate), { least: 0, most: 8, digits: 8 })
