import type { CommandFlag, CommandSpec } from '../session/command.ts'

const PAIR = '<from> <to>'
const MAX_AGE: CommandFlag = {
  flags: '--max-age <duration>',
  summary: 'use a known rate up to this age without a request; refuse an older one'
}
const BIAS: CommandFlag = {
  flags: '--bias <source=x>',
  summary: 'make routes through a source more expensive (0.5) or cheaper (-0.5)',
  isRepeatable: true
}

/** Exchange rates, and the routes that lead through them. None of these needs a login. */
export const rateCommands: readonly CommandSpec[] = [
  {
    name: 'rates get',
    readsOnly: true,
    arguments: `${PAIR} [amount]`,
    summary: 'show a value, and the age and source of its rate',
    example: 'rates get BTC iso:EUR 0.5',
    flags: [BIAS, MAX_AGE, { flags: '--watch', summary: 'show it again after each change' }],
    load: async () => (await import('./rates/routes.ts')).ratesGet
  },
  {
    name: 'rates route',
    readsOnly: true,
    arguments: PAIR,
    summary: 'draw the route of rates from one currency to another',
    example: 'rates route LTC iso:EUR --explain',
    flags: [
      { flags: '--explain', summary: 'also show the cost of each step and the alternative routes' },
      {
        flags: '--graph <format>',
        summary: 'print the routes as a graph for other programs',
        choices: ['mermaid', 'dot', 'json']
      },
      BIAS,
      MAX_AGE
    ],
    load: async () => (await import('./rates/routes.ts')).ratesRoute
  },
  {
    name: 'rates pairs',
    readsOnly: true,
    arguments: '[code...]',
    summary: 'list the known rates with their age',
    example: 'rates pairs BTC --source coinbase',
    flags: [
      { flags: '--source <plugin>', summary: 'only rates of this source' },
      { flags: '--stale', summary: 'only stale rates' }
    ],
    load: async () => (await import('./rates/pairs.ts')).ratesPairs
  },
  {
    name: 'rates providers',
    readsOnly: true,
    summary: 'ask the rate sources, and list the state of each',
    load: async () => (await import('./rates/pairs.ts')).ratesProviders
  },
  {
    name: 'rates refresh',
    summary: 'fetch new rates now',
    load: async () => (await import('./rates/pairs.ts')).ratesRefresh
  },
  {
    name: 'rates hints list',
    readsOnly: true,
    summary: 'list the rate hints: the pairs that you want rates for',
    aliases: ['ls'],
    load: async () => (await import('./rates/pairs.ts')).ratesHintsList
  },
  {
    name: 'rates hints add',
    arguments: PAIR,
    summary: 'add a rate hint for a pair',
    example: 'rates hints add LTC iso:CHF',
    load: async () => (await import('./rates/pairs.ts')).ratesHintsAdd
  },
  {
    name: 'rates hints clear',
    summary: 'reset the rate hints to the default pairs',
    load: async () => (await import('./rates/pairs.ts')).ratesHintsClear
  }
]
