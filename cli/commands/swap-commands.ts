import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { AGAIN_FLAG, ANY_LOGIN } from './flags.ts'

const QUOTE: readonly CommandFlag[] = [
  { flags: '--from <asset>', summary: 'the asset to pay with: a wallet, or wallet:token' },
  { flags: '--to <asset>', summary: 'the asset to receive: a wallet, or wallet:token' },
  { flags: '--amount <amount>', summary: '"0.01 BTC", "1000000 native" or max' },
  {
    flags: '--for <side>',
    summary: 'the side of the amount: from (default), to, or max for the whole balance',
    choices: ['from', 'to', 'max']
  },
  { flags: '--prefer <plugin>', summary: 'this provider first' },
  { flags: '--prefer-type <type>', summary: 'this kind of provider first', choices: ['DEX', 'CEX'] },
  { flags: '--disable <plugin>', summary: 'do not ask this provider', isRepeatable: true },
  { flags: '--promo <plugin=code>', summary: 'a promotion code', isRepeatable: true },
  { flags: '--all', summary: 'wait until every provider has answered, up to a minute' }
]

const WATCH: CommandFlag = { flags: '--watch', summary: 'show every reply as it comes' }

const MAX_FEE: CommandFlag = {
  flags: '--max-fee <amount>',
  summary: 'the highest network fee; also allows an unusual fee up to this'
}

const APPROVAL: readonly CommandFlag[] = [
  {
    flags: '--min-receive <amount>',
    summary: 'refuse if less than this would arrive; required with --yes'
  },
  {
    flags: '--max-pay <amount>',
    summary: 'refuse if more than this would be paid; required with --yes --for to'
  },
  MAX_FEE,
  AGAIN_FLAG
]

/**
 * Swaps. A quote is approved by a choice in `swap quote`, or later by its id: its terms are kept, and the provider is
 * asked for a new quote.
 */
export const swapCommands: readonly CommandSpec[] = [
  {
    name: 'swap providers',
    readsOnly: true,
    summary: 'list the swap providers with their state and their last result',
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/providers.ts')).swapProviders
  },
  {
    name: 'swap enable',
    arguments: '<plugin>',
    summary: 'enable a provider',
    example: 'swap enable sideshift',
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/providers.ts')).swapEnable
  },
  {
    name: 'swap disable',
    arguments: '<plugin>',
    summary: 'disable a provider',
    example: 'swap disable sideshift',
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/providers.ts')).swapDisable
  },
  {
    name: 'swap settings',
    arguments: '<plugin>',
    summary: 'show or change your settings of a provider',
    example: 'swap settings sideshift --set region=EU',
    flags: [
      { flags: '--set <name=value>', summary: 'change a public setting', isRepeatable: true },
      {
        flags: '--ask <name>',
        summary: 'change a secret setting: typed hidden, or a field of that name in --secrets-stdin',
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
    readsOnly: true,
    summary: 'get quotes and rank them; in a terminal, choose one and approve it',
    example: 'swap quote --from Savings --to Litecoin --amount "0.01 BTC"',
    flags: [...QUOTE, WATCH, ...APPROVAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/run-swaps.ts')).swapQuote
  },
  {
    name: 'swap approve',
    arguments: '<quoteId>',
    summary: 'approve a quote by its id, after a review, if its terms still hold',
    example: 'swap approve 1f0c9a3b-1',
    flags: [
      {
        flags: '--min-receive <amount>',
        summary: 'accept as little as this; default: the amount shown, or 1 % less for an estimate'
      },
      MAX_FEE,
      AGAIN_FLAG
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/run-swaps.ts')).swapApprove
  },
  {
    name: 'swap close',
    arguments: '<quoteId>',
    summary: 'remove a quote',
    example: 'swap close 1f0c9a3b-1',
    load: async () => (await import('./swaps/run-swaps.ts')).swapClose
  },
  {
    name: 'swap run',
    summary: 'get quotes and approve the best, after a review',
    example: 'swap run --from Savings --to Litecoin --amount "0.01 BTC"',
    flags: [...QUOTE, ...APPROVAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/run-swaps.ts')).swapRun
  },
  {
    name: 'swap history',
    readsOnly: true,
    summary: 'list past swaps with their orders',
    example: 'swap history --wallet Savings --since 2026-01-01',
    flags: [
      { flags: '--wallet <wallet>', summary: 'only swaps that this wallet paid for' },
      { flags: '--since <date>', summary: 'from this date on' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./swaps/swap-history.ts')).swapHistory
  }
]
