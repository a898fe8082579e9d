import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { ANY_LOGIN } from './flags.ts'

const DESCRIPTION: readonly CommandFlag[] = [
  { flags: '--code <code>', summary: 'such as USDX' },
  { flags: '--name <text>', summary: 'the name of the token' },
  { flags: '--decimals <count>', summary: 'the number of decimals of its amounts' },
  { flags: '--contract <address>', summary: 'its contract address' },
  {
    flags: '--denom <name=multiplier>',
    summary: 'a unit; amounts are shown in the first',
    isRepeatable: true
  }
]

/** Tokens, as far as a currency has them. */
export const tokenCommands: readonly CommandSpec[] = [
  {
    name: 'tokens list',
    readsOnly: true,
    arguments: '<wallet-or-currency>',
    summary: 'list the tokens of a wallet, or of a currency',
    example: 'tokens list bitcoin --custom',
    flags: [
      { flags: '--enabled', summary: 'only enabled tokens' },
      { flags: '--detected', summary: 'only tokens that the wallet detected' },
      { flags: '--custom', summary: 'only custom tokens' },
      { flags: '--builtin', summary: 'only tokens of the plugin' }
    ],
    secrets: ANY_LOGIN,
    aliases: ['ls'],
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensList
  },
  {
    name: 'tokens enable',
    arguments: '<wallet> <token...>',
    summary: 'enable tokens of a wallet',
    example: 'tokens enable Savings USDX',
    secrets: ANY_LOGIN,
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensEnable
  },
  {
    name: 'tokens disable',
    arguments: '<wallet> <token...>',
    summary: 'disable tokens of a wallet',
    example: 'tokens disable Savings USDX',
    secrets: ANY_LOGIN,
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensDisable
  },
  {
    name: 'tokens always',
    arguments: '<currency> [action] [token...]',
    summary: 'list the always-enabled tokens of a currency, or add and remove some',
    example: 'tokens always bitcoin add USDX',
    secrets: ANY_LOGIN,
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensAlways
  },
  {
    name: 'tokens add',
    arguments: '<currency>',
    summary: 'add a custom token',
    example: 'tokens add bitcoin --code USDX --decimals 6 --contract 0x1f98…',
    flags: DESCRIPTION,
    secrets: ANY_LOGIN,
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensAdd
  },
  {
    name: 'tokens edit',
    arguments: '<currency> <token>',
    summary: 'change a custom token',
    example: 'tokens edit bitcoin USDX --name "Dollar X"',
    flags: DESCRIPTION,
    secrets: ANY_LOGIN,
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensEdit
  },
  {
    name: 'tokens remove',
    arguments: '<currency> <token>',
    summary: 'remove a custom token',
    example: 'tokens remove bitcoin USDX',
    secrets: ANY_LOGIN,
    aliases: ['rm'],
    load: async () => (await import('./tokens/manage-tokens.ts')).tokensRemove
  }
]
