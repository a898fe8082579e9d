import type { CommandFlag, CommandSpec } from '../session/command.ts'

const PAIR = '<from> <to>'
const MAX_AGE: CommandFlag = {
  flags: '--max-age <duration>',
  summary: 'ask nobody if a rate no older than this is known; refuse an older one'
}
const BIAS: CommandFlag = {
  flags: '--bias <source=x>',
  summary: 'make a source dearer (0.5) or cheaper (-0.5) to go through',
  isRepeatable: true
}

/** Exchange rates, and the routes that lead through them. None of these needs a login. */
export const rateCommands: readonly CommandSpec[] = [
  {
    name: 'rates get',
    arguments: `${PAIR} [amount]`,
    summary: 'say what something is worth, how old the rate is and where it comes from',
    example: 'rates get BTC iso:EUR 0.5',
    flags: [BIAS, MAX_AGE, { flags: '--watch', summary: 'show it again whenever it changes' }],
    load: async () => (await import('./rates/routes.ts')).ratesGet
  },
  {
    name: 'rates route',
    arguments: PAIR,
    summary: 'draw the chain of rates that leads from one currency to another',
    example: 'rates route LTC iso:EUR --explain',
    flags: [
      { flags: '--explain', summary: 'what each step costs and why, and the routes that cost more' },
      {
        flags: '--graph <format>',
        summary: 'the routes as a graph for other programs',
        choices: ['mermaid', 'dot', 'json']
      },
      BIAS,
      MAX_AGE
    ],
    load: async () => (await import('./rates/routes.ts')).ratesRoute
  },
  {
    name: 'rates pairs',
    arguments: '[code...]',
    summary: 'list the rates that this device knows, with their age',
    example: 'rates pairs BTC --source coinbase',
    flags: [
      { flags: '--source <plugin>', summary: 'only of this provider' },
      { flags: '--stale', summary: 'only those that are too old to trust' }
    ],
    load: async () => (await import('./rates/pairs.ts')).ratesPairs
  },
  {
    name: 'rates providers',
    summary: 'ask the providers of rates, and list how each of them did',
    load: async () => (await import('./rates/pairs.ts')).ratesProviders
  },
  {
    name: 'rates refresh',
    summary: 'ask for fresh rates now',
    load: async () => (await import('./rates/pairs.ts')).ratesRefresh
  },
  {
    name: 'rates hints list',
    summary: 'list the pairs that providers are asked for',
    aliases: ['ls'],
    load: async () => (await import('./rates/pairs.ts')).ratesHintsList
  },
  {
    name: 'rates hints add',
    arguments: PAIR,
    summary: 'have providers asked for a pair from now on',
    example: 'rates hints add LTC iso:CHF',
    load: async () => (await import('./rates/pairs.ts')).ratesHintsAdd
  },
  {
    name: 'rates hints clear',
    summary: 'go back to the pairs that every wallet starts with',
    load: async () => (await import('./rates/pairs.ts')).ratesHintsClear
  }
]
