import type { CommandSpec } from '../../command.ts'
import { AGAIN } from './again.ts'
import { ANY_LOGIN } from './any-login.ts'

const WALLET = '<wallet>'
const WALLETS = '<wallet...>'

/** What becomes of wallets, on all devices or on this one. */
export const walletChangeCommands: readonly CommandSpec[] = [
  {
    name: 'wallets rename',
    arguments: '<wallet> <name>',
    summary: 'call a wallet something else',
    example: 'wallets rename Savings "Rainy days"',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-change.ts')).walletsRename
  },
  {
    name: 'wallets fiat',
    arguments: '<wallet> <code>',
    summary: 'choose the currency that a wallet is shown in',
    example: 'wallets fiat Savings iso:EUR',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-change.ts')).walletsFiat
  },
  {
    name: 'wallets sort',
    arguments: '<wallet> <place>',
    summary: 'put a wallet at a place in the order of the account',
    example: 'wallets sort Savings 0',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-change.ts')).walletsSort
  },
  {
    name: 'wallets archive',
    arguments: WALLETS,
    summary: 'put wallets away',
    example: 'wallets archive Savings Daily',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-change.ts')).walletsArchive
  },
  {
    name: 'wallets unarchive',
    arguments: WALLETS,
    summary: 'take wallets back',
    example: 'wallets unarchive Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-change.ts')).walletsUnarchive
  },
  {
    name: 'wallets hide',
    arguments: WALLETS,
    summary: 'hide wallets from lists',
    example: 'wallets hide Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-change.ts')).walletsHide
  },
  {
    name: 'wallets unhide',
    arguments: WALLETS,
    summary: 'show wallets again',
    example: 'wallets unhide Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-change.ts')).walletsUnhide
  },
  {
    name: 'wallets delete',
    arguments: WALLETS,
    summary: 'delete wallets; their keys stay in the account',
    example: 'wallets delete Savings',
    secrets: ANY_LOGIN,
    aliases: ['rm'],
    load: async () => (await import('../../commands/wallets-change.ts')).walletsDelete
  },
  {
    name: 'wallets undelete',
    arguments: WALLETS,
    summary: 'bring deleted wallets back',
    example: 'wallets undelete Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-change.ts')).walletsUndelete
  },
  {
    name: 'wallets pause',
    arguments: WALLETS,
    summary: 'leave the chains of wallets alone on this device',
    example: 'wallets pause Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-pause.ts')).walletsPause
  },
  {
    name: 'wallets resume',
    arguments: WALLETS,
    summary: 'look at the chains of wallets again',
    example: 'wallets resume Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-pause.ts')).walletsResume
  },
  {
    name: 'wallets resync',
    arguments: WALLETS,
    summary: 'forget what is known of the chain, and look at all of it again',
    example: 'wallets resync Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-resync.ts')).walletsResync
  },
  {
    name: 'wallets wait',
    arguments: '[wallet...]',
    summary: 'wait until wallets are as they should be, for --timeout',
    example: 'wallets wait Savings --for balance=0.5BTC --timeout 10m',
    flags: [
      {
        flags: '--for <goal>',
        summary: 'synced (unless said otherwise), loaded, height=<n> or balance=<amount>'
      }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-wait.ts')).walletsWait
  },
  {
    name: 'wallets activate',
    arguments: WALLET,
    summary: 'pay for a wallet, or tokens of it, to be usable, where the chain asks for that',
    example: 'wallets activate Savings --list',
    flags: [
      { flags: '--token <token>', summary: 'a token to activate', isRepeatable: true },
      { flags: '--pay-with <asset>', summary: 'what pays, such as Daily or Daily:USDX' },
      { flags: '--list', summary: 'only list what can pay' },
      {
        flags: '--max-fee <amount>',
        summary: 'refuse a higher network fee of a payment, and allow one up to this that is not usual'
      },
      AGAIN
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-activate.ts')).walletsActivate
  }
]
