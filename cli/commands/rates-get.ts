import type { FoundRoutes } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { decimalText, productText } from '../output/decimals.ts'
import { codeText, valueText } from '../output/money.ts'
import { findRate, lookFor, pairOf, type RateQuestion } from '../rates/find-rate.ts'
import { ageCell, originJson, pathText, routeJson } from '../rates/route-facts.ts'
import { watchRates } from '../rates/watch-rates.ts'

/** Says what an amount of one currency is worth in another. */
export const ratesGet: CommandRun = async (session, from = '', to = '', amount = '1') => {
  if (!AMOUNT.test(amount))
    throw new CliError('USAGE', 'The amount must be a plain decimal number, such as 0.5')
  const question: RateQuestion = { from, to }
  if (!session.isOn('watch')) return worth(amount, await findRate(session, question))
  const { rates } = await session.context()
  const look = lookFor(session, rates, question)
  return watchRates(session, {
    event: 'rates.get',
    pair: pairOf(rates, question),
    look: () => {
      const route = look()
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
