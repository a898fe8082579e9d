import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { AGAIN, ANY_LOGIN } from './flags.ts'

const QUOTE: readonly CommandFlag[] = [
  { flags: '--from <asset>', summary: 'what to pay with: a wallet, or wallet:token' },
  { flags: '--to <asset>', summary: 'where to receive: a wallet, or wallet:token' },
  { flags: '--amount <amount>', summary: '"0.01 BTC", "1000000 native" or max' },
  {
    flags: '--for <side>',
    summary: 'which side the amount is of: from unless said, to, or max for all there is',
    choices: ['from', 'to', 'max']
  },
  { flags: '--prefer <plugin>', summary: 'this provider first' },
  { flags: '--prefer-type <type>', summary: 'this kind of provider first', choices: ['DEX', 'CEX'] },
  { flags: '--disable <plugin>', summary: 'do not ask this provider', isRepeatable: true },
  { flags: '--promo <plugin=code>', summary: 'a promotion code', isRepeatable: true },
  { flags: '--all', summary: 'wait until every provider has answered, up to a minute' }
]

const WATCH: CommandFlag = { flags: '--watch', summary: 'tell of every answer as it comes' }

const MAX_FEE: CommandFlag = {
  flags: '--max-fee <amount>',
  summary: 'refuse a higher network fee, and allow one up to this that is not usual'
}

const APPROVAL: readonly CommandFlag[] = [
  {
    flags: '--min-receive <amount>',
    summary: 'refuse when less than this is to arrive; --yes needs it'
  },
  {
    flags: '--max-pay <amount>',
    summary: 'refuse when more than this is to be paid; --yes with --for to needs it'
  },
  MAX_FEE,
  AGAIN
]

/**
 * Swaps. A quote is approved by a choice in `swap quote`, or later by its id: its terms are kept, and the provider is
 * asked for a new quote.
 */
export const swapCommands: readonly CommandSpec[] = [
  {
    name: 'swap providers',
    summary: 'list the providers of swaps, whether they are asked, and how they did last',
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/providers.ts')).swapProviders
  },
  {
    name: 'swap enable',
    arguments: '<plugin>',
    summary: 'ask a provider for quotes',
    example: 'swap enable sideshift',
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/providers.ts')).swapEnable
  },
  {
    name: 'swap disable',
    arguments: '<plugin>',
    summary: 'never ask a provider for quotes',
    example: 'swap disable sideshift',
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/providers.ts')).swapDisable
  },
  {
    name: 'swap settings',
    arguments: '<plugin>',
    summary: 'show or change what a provider is told of you',
    example: 'swap settings sideshift --set region=EU',
    flags: [
      { flags: '--set <name=value>', summary: 'change a setting that is no secret', isRepeatable: true },
      {
        flags: '--ask <name>',
        summary: 'change one that is: typed hidden, or a field of that name in --secrets-stdin',
        isRepeatable: true
      },
      { flags: '--unset <name>', summary: 'remove a setting', isRepeatable: true },
      { flags: '--reveal', summary: 'print secrets' }
    ],
    secrets: [...ANY_LOGIN, 'api-key'],
    load: async () => (await import('./swaps/providers.ts')).swapSettings
  },
  {
    name: 'swap quote',
    summary: 'ask for quotes and rank them; in a terminal, choose one and approve it',
    example: 'swap quote --from Savings --to Litecoin --amount "0.01 BTC"',
    flags: [...QUOTE, WATCH, ...APPROVAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/run-swaps.ts')).swapQuote
  },
  {
    name: 'swap approve',
    arguments: '<quoteId>',
    summary: 'approve a quote that was shown, after a review, if it holds',
    example: 'swap approve 1f0c9a3b-1',
    flags: [
      {
        flags: '--min-receive <amount>',
        summary: 'accept as little as this; else as much as was shown, of an estimate one percent less'
      },
      MAX_FEE,
      AGAIN
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/run-swaps.ts')).swapApprove
  },
  {
    name: 'swap close',
    arguments: '<quoteId>',
    summary: 'forget a quote that was shown',
    example: 'swap close 1f0c9a3b-1',
    load: async () => (await import('./swaps/run-swaps.ts')).swapClose
  },
  {
    name: 'swap run',
    summary: 'ask for quotes and approve the best, after a review',
    example: 'swap run --from Savings --to Litecoin --amount "0.01 BTC"',
    flags: [...QUOTE, ...APPROVAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/run-swaps.ts')).swapRun
  },
  {
    name: 'swap history',
    summary: 'list past swaps with their orders',
    example: 'swap history --wallet Savings --since 2026-01-01',
    flags: [
      { flags: '--wallet <wallet>', summary: 'only those that this wallet paid for' },
      { flags: '--since <date>', summary: 'from this date on' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/swap-history.ts')).swapHistory
  }
]
