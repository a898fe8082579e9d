import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { AGAIN, ANY_LOGIN, CONFIRM, OUTPUT, REVEAL } from './flags.ts'

const WALLET = '<wallet>'

const NAME: CommandFlag = { flags: '--name <text>', summary: 'what to call it' }
const FIAT: CommandFlag = {
  flags: '--fiat <code>',
  summary: 'the currency it is shown in, such as iso:USD'
}
const KEY_OPTION: CommandFlag = {
  flags: '--key-option <key=value>',
  summary: 'such as format=bip86',
  isRepeatable: true
}
const WATCH: CommandFlag = { flags: '--watch', summary: 'show it again whenever it changes' }

const making: readonly CommandSpec[] = [
  {
    name: 'wallets types',
    summary: 'list the types of wallets that can be made',
    example: 'wallets types --splittable-from Savings',
    flags: [{ flags: '--splittable-from <wallet>', summary: 'those that a wallet can be split into' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/list-wallets.ts')).walletsTypes
  },
  {
    name: 'wallets create',
    arguments: '[type]',
    summary: 'make a wallet, or many',
    example: 'wallets create bitcoin --name Savings --fiat iso:EUR',
    flags: [
      NAME,
      FIAT,
      KEY_OPTION,
      {
        flags: '--batch <file>',
        summary: 'a wallet for each row: {"type": "bitcoin", "name": "…", "fiat": "iso:EUR"}'
      },
      {
        flags: '--keys-file <file>',
        summary: 'a copy of keys, from a private file that "wallets keys" wrote'
      }
    ],
    secrets: ANY_LOGIN,
    aliases: ['new'],
    load: async () => (await import('./wallets/create.ts')).walletsCreate
  },
  {
    name: 'wallets import',
    arguments: '<type>',
    summary: 'make a wallet from words or a key that you have',
    example: 'wallets import bitcoin --name Old --private-key-file words.txt',
    flags: [NAME, FIAT, KEY_OPTION],
    secrets: [...ANY_LOGIN, 'private-key'],
    load: async () => (await import('./wallets/create.ts')).walletsImport
  },
  {
    name: 'wallets split',
    arguments: WALLET,
    summary: 'use the keys of a wallet on another chain with the same past',
    example: 'wallets split Savings --to bitcoincash',
    flags: [
      { flags: '--list', summary: 'only list the types' },
      { flags: '--to <type>', summary: 'the type of the new wallet' },
      { flags: '--replay-protect', summary: 'agree to payments before the split, where they are needed' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/create.ts')).walletsSplit
  }
]

const looking: readonly CommandSpec[] = [
  {
    name: 'wallets list',
    summary: 'list the wallets with their balances',
    example: 'wallets list --archived --sort name',
    flags: [
      { flags: '--archived', summary: 'those that are archived' },
      { flags: '--hidden', summary: 'those that are hidden' },
      { flags: '--deleted', summary: 'those that are deleted' },
      { flags: '--all', summary: 'every wallet' },
      {
        flags: '--sort <order>',
        summary: 'in which order (index); balances are compared within a currency',
        choices: ['name', 'index', 'balance']
      },
      WATCH
    ],
    secrets: ANY_LOGIN,
    aliases: ['ls'],
    load: async () => (await import('./wallets/list-wallets.ts')).walletsList
  },
  {
    name: 'wallets show',
    arguments: WALLET,
    summary: 'show one wallet, and how its sync is',
    example: 'wallets show Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/show.ts')).walletsShow
  },
  {
    name: 'wallets staking',
    arguments: WALLET,
    summary: 'list what is staked, and until when',
    example: 'wallets staking Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/show.ts')).walletsStaking
  },
  {
    name: 'wallets keys',
    arguments: WALLET,
    summary: 'show the public key of a wallet, or its private ones',
    example: 'wallets keys Savings --private --reveal',
    flags: [
      { flags: '--public', summary: 'what a watcher may have; unless said otherwise' },
      { flags: '--private', summary: 'what can spend, as a person writes it down' },
      { flags: '--raw', summary: 'all keys as data; the private ones unless --public' },
      REVEAL,
      { flags: '--qr', summary: 'draw a QR code' },
      ...OUTPUT,
      CONFIRM
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/show.ts')).walletsKeys
  },
  {
    name: 'wallets dump',
    arguments: WALLET,
    summary: 'tell what support needs to know of a wallet',
    example: 'wallets dump Savings -o dump.json',
    flags: [{ flags: '--reveal', summary: 'with names, amounts and ids' }, ...OUTPUT],
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/show.ts')).walletsDump
  }
]

/** Making wallets, looking at them, and their keys. */
export const walletCommands: readonly CommandSpec[] = [...making, ...looking]

const WALLETS = '<wallet...>'

/** Changing wallets, on all devices or on this one. */
export const walletChangeCommands: readonly CommandSpec[] = [
  {
    name: 'wallets rename',
    arguments: '<wallet> <name>',
    summary: 'call a wallet something else',
    example: 'wallets rename Savings "Rainy days"',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsRename
  },
  {
    name: 'wallets fiat',
    arguments: '<wallet> <code>',
    summary: 'choose the currency that a wallet is shown in',
    example: 'wallets fiat Savings iso:EUR',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsFiat
  },
  {
    name: 'wallets sort',
    arguments: '<wallet> <place>',
    summary: 'put a wallet at a place in the order of the account',
    example: 'wallets sort Savings 0',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsSort
  },
  {
    name: 'wallets archive',
    arguments: WALLETS,
    summary: 'put wallets away',
    example: 'wallets archive Savings Daily',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsArchive
  },
  {
    name: 'wallets unarchive',
    arguments: WALLETS,
    summary: 'take wallets back',
    example: 'wallets unarchive Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsUnarchive
  },
  {
    name: 'wallets hide',
    arguments: WALLETS,
    summary: 'hide wallets from lists',
    example: 'wallets hide Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsHide
  },
  {
    name: 'wallets unhide',
    arguments: WALLETS,
    summary: 'show wallets again',
    example: 'wallets unhide Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsUnhide
  },
  {
    name: 'wallets delete',
    arguments: WALLETS,
    summary: 'delete wallets; their keys stay in the account',
    example: 'wallets delete Savings',
    secrets: ANY_LOGIN,
    aliases: ['rm'],
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsDelete
  },
  {
    name: 'wallets undelete',
    arguments: WALLETS,
    summary: 'bring deleted wallets back',
    example: 'wallets undelete Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsUndelete
  },
  {
    name: 'wallets pause',
    arguments: WALLETS,
    summary: 'leave the chains of wallets alone on this device',
    example: 'wallets pause Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/sync-wallets.ts')).walletsPause
  },
  {
    name: 'wallets resume',
    arguments: WALLETS,
    summary: 'look at the chains of wallets again',
    example: 'wallets resume Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/sync-wallets.ts')).walletsResume
  },
  {
    name: 'wallets resync',
    arguments: WALLETS,
    summary: 'forget what is known of the chain, and look at all of it again',
    example: 'wallets resync Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/sync-wallets.ts')).walletsResync
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
    load: async () => (await import('./wallets/sync-wallets.ts')).walletsWait
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
    load: async () => (await import('./wallets/activate.ts')).walletsActivate
  }
]
