import type { RouteHopSnapshot, RouteSnapshot } from '../../kernel/index.ts'
import { decimalText, roundedText } from '../output/decimals.ts'
import { codeText } from '../output/money.ts'
import { ageText } from '../output/times.ts'
import type { CellLike } from '../output/view.ts'
import { costText } from './route-facts.ts'

/** How a route is drawn. */
export interface ChainOptions {
  readonly isAscii: boolean
  /** With what each cost is made of. */
  readonly isExplained: boolean
}

/**
 * Draws a route from top to bottom: each currency in a line of its own, and between two of them the rate that leads on.
 *
 * No line is wider than 80 columns as long as codes and sources are as short as they usually are.
 */
export const chainLines = (route: RouteSnapshot, options: ChainOptions): readonly CellLike[] => {
  const { fromCurrency, hops } = route
  const marks = options.isAscii ? ASCII : LINES
  return [
    { text: `${marks.start} ${codeText(fromCurrency)}`, tone: 'strong' },
    ...hops.flatMap((hop, index) => hopLines(hop, { ...options, marks, isLast: index === hops.length - 1 }))
  ]
}

/** What a route comes to, in a line: `1 LTC = 83.42 EUR, cost 2.311`. */
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

/** The sum of specification §9: `0.286 age 12/(30+12), -0.1 bias, 1 hop`. */
const explanation = ({ ageSeconds, bias, isInverted }: RouteHopSnapshot): string => {
  const age = Math.round(ageSeconds)
  const share = (ageSeconds / (30 + ageSeconds)).toFixed(3)
  return `${share} age ${age}/(30+${age}), ${bias} bias, ${isInverted ? '1.1 turned hop' : '1 hop'}`
}

const rateText = (rate: number): string => roundedText(decimalText(rate), { least: 0, most: 8, digits: 8 })
