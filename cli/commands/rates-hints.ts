import type { RatePair } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { pairOf } from '../rates/find-rate.ts'
import { makeChange } from '../session/make-change.ts'

/** Lists the pairs that providers are asked for. */
export const ratesHintsList: CommandRun = async session => {
  const { rates } = await session.context()
  const pairs = [...rates.hints.list()]
  return {
    data: { hints: pairs.map(hintJson) },
    view: {
      kind: 'table',
      columns: [{ title: 'FROM' }, { title: 'TO' }],
      rows: pairs.map(({ fromCurrency, toCurrency }) => [fromCurrency, toCurrency]),
      empty: 'No pair is remembered; until one is, BTC, BCH and ETH are asked for in every money.'
    }
  }
}

/** Has providers asked for a pair from now on. */
export const ratesHintsAdd: CommandRun = async (session, from = '', to = '') => {
  const { rates } = await session.context()
  const pair = pairOf(rates, { from, to })
  return makeChange(session, {
    doing: 'Adding the pair',
    done: `${pair.fromCurrency} to ${pair.toCurrency}: asked for from now on`,
    data: hintJson(pair),
    call: async () => rates.hints.add(pair)
  })
}

/** Goes back to the pairs that every wallet starts with. */
export const ratesHintsClear: CommandRun = async session => {
  const { rates } = await session.context()
  return makeChange(session, {
    doing: 'Clearing the pairs',
    done: 'only the pairs that every wallet starts with are asked for',
    data: {},
    call: async () => rates.hints.clear()
  })
}

const hintJson = ({ fromCurrency, toCurrency }: RatePair) => ({ from: fromCurrency, to: toCurrency })
