import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { ANY_LOGIN } from './flags.ts'

const DESCRIPTION: readonly CommandFlag[] = [
  { flags: '--code <code>', summary: 'such as USDX' },
  { flags: '--name <text>', summary: 'what it is called' },
  { flags: '--decimals <count>', summary: 'how many decimals its amounts have' },
  { flags: '--contract <address>', summary: 'where it lives on the chain' },
  {
    flags: '--denom <name=multiplier>',
    summary: 'a unit; the first is the one amounts are shown in',
    isRepeatable: true
  }
]

/** Tokens, as far as a currency has them. */
export const tokenCommands: readonly CommandSpec[] = [
  {
    name: 'tokens list',
    arguments: '<wallet-or-currency>',
    summary: 'list the tokens of a wallet, or of a currency',
    example: 'tokens list bitcoin --custom',
    flags: [
      { flags: '--enabled', summary: 'those that are on' },
      { flags: '--detected', summary: 'those that the wallet found by itself' },
      { flags: '--custom', summary: 'those that you added' },
      { flags: '--builtin', summary: 'those that the plugin brings' }
    ],
    secrets: ANY_LOGIN,
    aliases: ['ls'],
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensList
  },
  {
    name: 'tokens enable',
    arguments: '<wallet> <token...>',
    summary: 'switch tokens of a wallet on',
    example: 'tokens enable Savings USDX',
    secrets: ANY_LOGIN,
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensEnable
  },
  {
    name: 'tokens disable',
    arguments: '<wallet> <token...>',
    summary: 'switch tokens of a wallet off',
    example: 'tokens disable Savings USDX',
    secrets: ANY_LOGIN,
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensDisable
  },
  {
    name: 'tokens always',
    arguments: '<currency> [action] [token...]',
    summary: 'list the tokens that are on in every wallet, or add and remove some',
    example: 'tokens always bitcoin add USDX',
    secrets: ANY_LOGIN,
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensAlways
  },
  {
    name: 'tokens add',
    arguments: '<currency>',
    summary: 'add a token that the plugin does not bring',
    example: 'tokens add bitcoin --code USDX --decimals 6 --contract 0x1f98…',
    flags: DESCRIPTION,
    secrets: ANY_LOGIN,
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensAdd
  },
  {
    name: 'tokens edit',
    arguments: '<currency> <token>',
    summary: 'change a token that you added',
    example: 'tokens edit bitcoin USDX --name "Dollar X"',
    flags: DESCRIPTION,
    secrets: ANY_LOGIN,
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensEdit
  },
  {
    name: 'tokens remove',
    arguments: '<currency> <token>',
    summary: 'remove a token that you added',
    example: 'tokens remove bitcoin USDX',
    secrets: ANY_LOGIN,
    aliases: ['rm'],
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensRemove
  }
]
