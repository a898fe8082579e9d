import { codeText, decimalText, productText, valueText } from '../../../app/format/amounts.ts'
import { costText, originJson, pathText, routeJson, sumLine } from '../../../app/format/routes.ts'
import { compact } from '../../../kernel/base/compact.ts'
import type { FoundRoutes, RatePair, RouteSnapshot } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { openLiveView } from '../../output/print-result.ts'
import type { CellLike, CommandResult, OutputView } from '../../output/view.ts'
import { findRate, pairOf, type RateRequest, routeFinder } from '../../rates/find-rate.ts'
import { type GraphFormat, graphLines } from '../../rates/route-graph.ts'
import { ageCell, chainLines, hopCells, hopColumns } from '../../rates/route-text.ts'
import type { CommandRun } from '../../session/command.ts'
import { openEventStream, sleep } from '../../session/event-stream.ts'
import type { Session } from '../../session/session.ts'

/** Converts an amount of one currency into another. */
export const ratesGet: CommandRun = async (session, from = '', to = '', amount = '1') => {
  if (!AMOUNT.test(amount))
    throw new CliError('USAGE', 'The amount must be a plain decimal number, such as 0.5')
  const request: RateRequest = { from, to }
  if (!session.isOn('watch')) return worth(amount, await findRate(session, request))
  const { rates } = await session.context()
  const find = routeFinder(session, rates, request)
  return watchRates(session, {
    event: 'rates.get',
    pair: pairOf(rates, request),
    find: async () => {
      const route = await find()
      return route === undefined ? undefined : worth(amount, route)
    }
  })
}

const AMOUNT = /^\d{1,40}(\.\d{1,40})?$/

const worth = (amount: string, route: FoundRoutes): CommandResult => {
  const { fromCurrency: from, toCurrency: to, rate } = route
  const value = productText(amount, decimalText(rate))
  return {
    data: {
      ...{ from, to, amount, value, rate: decimalText(rate) },
      ...originJson(route),
      route: routeJson(route)
    },
    view: {
      kind: 'record',
      fields: [
        [`${amount} ${codeText(from)}`, { text: valueText(value, to), tone: 'strong' }],
        ['rate', `1 ${codeText(from)} = ${decimalText(rate)} ${codeText(to)}`],
        ['age', ageCell(route)],
        ['route', pathText(route)]
      ]
    }
  }
}

/** The rate that {@link watchRates} shows. */
export interface RateWatch {
  /** The name of its events with `--json`. */
  readonly event: string
  readonly pair: RatePair
  /** Undefined while there is no rate. */
  find(): Promise<CommandResult | undefined>
}

/** Shows a rate and its age until the command is stopped; providers are asked every 30 seconds. */
const watchRates = async (session: Session, { event, pair, find }: RateWatch): Promise<undefined> => {
  const { rates } = await session.context()
  const stop = rates.want([pair])
  const stream = openEventStream(session, { hasOneShape: true })
  const screen = openLiveView(session.terminal, session.globals)
  session.statusLine.info('Watching; stop with Ctrl-C')
  let emitted = ''
  try {
    while (!session.signal.aborted) {
      const result = await find()
      // Scripts get changes only; a growing age is none until the rate is stale.
      const facts = result === undefined ? '' : withoutAges(result)
      if (result !== undefined && !session.globals.json && isDrawn(session, facts !== emitted)) {
        await screen.draw(result.view)
      }
      if (result !== undefined && facts !== emitted) await stream.emit(event, result.data)
      emitted = facts
      await sleep(session.signal, LOOK_SECONDS)
    }
  } finally {
    stop()
  }
  await stream.end('stopped')
  return undefined
}

const LOOK_SECONDS = 1

/** On a terminal the age is redrawn; into a pipe only changes are written. */
const isDrawn = ({ terminal }: Session, isNew: boolean): boolean => isNew || terminal.stdout.isTTY === true

const withoutAges = ({ data }: CommandResult): string =>
  JSON.stringify(data, (key, value: unknown) => (AGES.has(key) ? undefined : value))

const AGES: ReadonlySet<string> = new Set(['ageSeconds', 'cost', 'totalCost'])

/** Shows the routes between two currencies: as a chain, or as a graph for another program. */
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
      ...compact({
        alternatives: hasOthers ? found.alternatives.map(routeJson) : undefined,
        graph: graph?.join('\n')
      })
    },
    view: graph === undefined ? viewOf(session, found) : { kind: 'text', lines: graph }
  }
}

const ALTERNATIVES = 3

/** A drawing on a terminal, one row a hop into a pipe. */
const viewOf = (session: Session, found: FoundRoutes): OutputView => {
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
      ...(found.isStale ? [{ text: 'stale: a rate of this route is old', tone: 'warn' } as const] : []),
      ...(isExplained ? othersLines(found) : [])
    ]
  }
}

const othersLines = ({ alternatives, toCurrency }: FoundRoutes): readonly CellLike[] => [
  '',
  alternatives.length === 0 ? `no other route leads to ${codeText(toCurrency)}` : 'more expensive routes:',
  ...alternatives.map(otherLine)
]

const otherLine = (route: RouteSnapshot): string => `  ${costText(route.cost)}  ${pathText(route)}`
