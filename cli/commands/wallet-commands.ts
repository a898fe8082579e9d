import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { AGAIN_FLAG, ANY_LOGIN, CONFIRM, OUTPUT, REVEAL } from './flags.ts'

const WALLET = '<wallet>'

const NAME: CommandFlag = { flags: '--name <text>', summary: 'the name of the wallet' }
const FIAT: CommandFlag = {
  flags: '--fiat <code>',
  summary: 'the currency of its values, such as iso:USD'
}
const KEY_OPTION: CommandFlag = {
  flags: '--key-option <key=value>',
  summary: 'such as format=bip86',
  isRepeatable: true
}
const WATCH: CommandFlag = { flags: '--watch', summary: 'show it again after each change' }

const making: readonly CommandSpec[] = [
  {
    name: 'wallets types',
    readsOnly: true,
    summary: 'list the wallet types',
    example: 'wallets types --splittable-from Savings',
    flags: [
      { flags: '--splittable-from <wallet>', summary: 'only types that this wallet can be split into' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/list-wallets.ts')).walletsTypes
  },
  {
    name: 'wallets create',
    arguments: '[type]',
    summary: 'create one or more wallets',
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
    summary: 'create a wallet from words, an Electrum seed or a key',
    example: 'wallets import bitcoin --name Old --private-key-file words.txt',
    flags: [NAME, FIAT, KEY_OPTION],
    secrets: [...ANY_LOGIN, 'private-key', 'key-passphrase'],
    load: async () => (await import('./wallets/create.ts')).walletsImport
  },
  {
    name: 'wallets watch',
    arguments: '<type>',
    summary: 'add a wallet that only watches, from an extended public key or a descriptor',
    example: 'wallets watch bitcoin --name Cold --file xpub.txt',
    flags: [
      NAME,
      FIAT,
      KEY_OPTION,
      { flags: '--file <file>', summary: 'read the key or descriptor from a file' },
      { flags: '--value-stdin', summary: 'read it from standard input' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/create.ts')).walletsWatch
  },
  {
    name: 'wallets split',
    arguments: WALLET,
    summary: 'use the keys of a wallet on another chain with the same history',
    example: 'wallets split Savings --to bitcoincash',
    flags: [
      { flags: '--list', summary: 'only list the types' },
      { flags: '--to <type>', summary: 'the type of the new wallet' },
      { flags: '--replay-protect', summary: 'allow protective payments before the split, if needed' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/split.ts')).walletsSplit
  }
]

const looking: readonly CommandSpec[] = [
  {
    name: 'wallets list',
    readsOnly: true,
    summary: 'list the wallets with their balances',
    example: 'wallets list --archived --sort name',
    flags: [
      { flags: '--archived', summary: 'only archived wallets' },
      { flags: '--hidden', summary: 'only hidden wallets' },
      { flags: '--deleted', summary: 'only deleted wallets' },
      { flags: '--all', summary: 'every wallet' },
      {
        flags: '--sort <order>',
        summary: 'the order (index); balances are compared within a currency',
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
    readsOnly: true,
    arguments: WALLET,
    summary: 'show one wallet and its sync status',
    example: 'wallets show Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/show.ts')).walletsShow
  },
  {
    name: 'wallets staking',
    readsOnly: true,
    arguments: WALLET,
    summary: 'list the staked amounts and their dates',
    example: 'wallets staking Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/show.ts')).walletsStaking
  },
  {
    name: 'wallets keys',
    readsOnly: true,
    arguments: WALLET,
    summary: 'show the public key of a wallet, or its private ones',
    example: 'wallets keys Savings --private --reveal',
    flags: [
      { flags: '--public', summary: 'the key for watching (default)' },
      { flags: '--private', summary: 'the key for spending, in the form to write down' },
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
    readsOnly: true,
    arguments: WALLET,
    summary: 'write a report on a wallet for support',
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
    summary: 'rename a wallet',
    example: 'wallets rename Savings "Rainy days"',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsRename
  },
  {
    name: 'wallets fiat',
    arguments: '<wallet> <code>',
    summary: "set the currency of a wallet's values",
    example: 'wallets fiat Savings iso:EUR',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsFiat
  },
  {
    name: 'wallets sort',
    arguments: '<wallet> <place>',
    summary: "move a wallet to a place in the account's order",
    example: 'wallets sort Savings 0',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsSort
  },
  {
    name: 'wallets archive',
    arguments: WALLETS,
    summary: 'archive wallets',
    example: 'wallets archive Savings Daily',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsArchive
  },
  {
    name: 'wallets unarchive',
    arguments: WALLETS,
    summary: 'restore archived wallets',
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
    summary: 'show hidden wallets again',
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
    summary: 'restore deleted wallets',
    example: 'wallets undelete Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/edit-wallets.ts')).walletsUndelete
  },
  {
    name: 'wallets pause',
    arguments: WALLETS,
    summary: 'stop syncing wallets with their chains on this device',
    example: 'wallets pause Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/sync-wallets.ts')).walletsPause
  },
  {
    name: 'wallets resume',
    arguments: WALLETS,
    summary: 'sync paused wallets with their chains again',
    example: 'wallets resume Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/sync-wallets.ts')).walletsResume
  },
  {
    name: 'wallets resync',
    arguments: WALLETS,
    summary: 'sync wallets with their chains from the beginning',
    example: 'wallets resync Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/sync-wallets.ts')).walletsResync
  },
  {
    name: 'wallets wait',
    arguments: '[wallet...]',
    summary: 'wait until wallets reach a state, at most for --timeout',
    example: 'wallets wait Savings --for balance=0.5BTC --timeout 10m',
    flags: [
      {
        flags: '--for <goal>',
        summary: 'synced (default), loaded, height=<n> or balance=<amount>'
      }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/sync-wallets.ts')).walletsWait
  },
  {
    name: 'wallets activate',
    arguments: WALLET,
    summary: 'pay to activate a wallet or its tokens, on chains that require it',
    example: 'wallets activate Savings --list',
    flags: [
      { flags: '--token <token>', summary: 'a token to activate', isRepeatable: true },
      { flags: '--pay-with <asset>', summary: 'the asset that pays, such as Daily or Daily:USDX' },
      { flags: '--list', summary: 'only list what can pay' },
      {
        flags: '--max-fee <amount>',
        summary: 'the highest network fee of a payment; also allows an unusual fee up to this'
      },
      AGAIN_FLAG
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/activate.ts')).walletsActivate
  },
  {
    name: 'wallets methods',
    arguments: '<wallet> [method]',
    summary: 'list what only the currency of a wallet can do, or do it',
    example: `wallets methods Savings getAllowance --args '{"spender":"0x…"}'`,
    flags: [
      { flags: '--args <json>', summary: 'the arguments, as a JSON object' },
      { flags: '--args-file <file>', summary: 'a file with the arguments' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./wallets/methods.ts')).walletsMethods
  }
]
