import { codeText, decimalText } from '../../app/format/amounts.ts'
import { ageOf, costText, hopCostText, rateText } from '../../app/format/routes.ts'
import { ageText } from '../../app/format/times.ts'
import type { RouteHopSnapshot, RouteSnapshot } from '../../kernel/index.ts'
import type { Cell, CellLike, Column } from '../output/view.ts'

/** The age of a route as a cell: never a colour alone. */
export const ageCell = (route: RouteSnapshot): Cell => {
  if (route.hops.length === 0) return { text: 'the same currency' }
  const age = ageText(ageOf(route))
  return route.isStale ? { text: `${age}, stale`, tone: 'warn' } : { text: age }
}

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
    ...(isExplained ? [{ text: `${marks.line}   = ${hopCostText(hop)}`, tone: 'dim' } as const] : []),
    { text: `${marks.arrow}`, tone: 'dim' },
    { text: `${isLast ? marks.end : marks.start} ${codeText(toCurrency)}`, tone: 'strong' }
  ]
}

const RATE_WIDTH = 18
const SOURCE_WIDTH = 21
const AGE_WIDTH = 11
