import type { FoundRoutes, RouteSnapshot } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { codeText } from '../output/money.ts'
import type { CellLike, View } from '../output/view.ts'
import { findRate } from '../rates/find-rate.ts'
import { chainLines, sumLine } from '../rates/route-chain.ts'
import { costText, hopCells, hopColumns, originJson, pathText, routeJson } from '../rates/route-facts.ts'
import { type GraphFormat, graphLines } from '../rates/route-graph.ts'
import type { Session } from '../session.ts'

/** Draws the routes between two currencies: as a chain, or as a graph for another program. */
export const ratesRoute: CommandRun = async (session, from = '', to = '') => {
  const format = session.text('graph') as GraphFormat | undefined
  const hasOthers = session.isOn('explain') || format !== undefined
  const found = await findRate(session, { from, to, alternatives: hasOthers ? ALTERNATIVES : 0 })
  const graph = format === undefined ? undefined : graphLines([found, ...found.alternatives], format)
  return {
    data: {
      from: found.fromCurrency,
      to: found.toCurrency,
      ...originJson(found),
      ...routeJson(found),
      ...(hasOthers ? { alternatives: found.alternatives.map(routeJson) } : {}),
      ...(graph === undefined ? {} : { graph: graph.join('\n') })
    },
    view: graph === undefined ? viewOf(session, found) : { kind: 'text', lines: graph }
  }
}

const ALTERNATIVES = 3

/** A picture for a person, and the hops as rows at the other end of a pipe. */
const viewOf = (session: Session, found: FoundRoutes): View => {
  if (session.terminal.stdout.isTTY !== true) {
    return { kind: 'table', columns: hopColumns, rows: found.hops.map(hopCells), empty: '' }
  }
  const isExplained = session.isOn('explain')
  return {
    kind: 'text',
    lines: [
      ...chainLines(found, { isAscii: session.globals.ascii, isExplained }),
      '',
      { text: sumLine(found), tone: 'strong' },
      ...(found.isStale ? [{ text: 'stale: some rate on it is old', tone: 'warn' } as const] : []),
      ...(isExplained ? othersLines(found) : [])
    ]
  }
}

const othersLines = ({ alternatives, toCurrency }: FoundRoutes): readonly CellLike[] => [
  '',
  alternatives.length === 0 ? `no other route leads to ${codeText(toCurrency)}` : 'routes that cost more:',
  ...alternatives.map(otherLine)
]

const otherLine = (route: RouteSnapshot): string => `  ${costText(route.cost)}  ${pathText(route)}`
