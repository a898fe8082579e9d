import type { CommandFlag, CommandSpec } from '../../command.ts'
import { ANY_LOGIN, CONFIRM, REVEAL } from './any-login.ts'

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
const OUTPUT: readonly CommandFlag[] = [
  { flags: '-o, --output <file>', summary: 'a new file that only its owner can read' },
  { flags: '--force', summary: 'replace the file' }
]
const WATCH: CommandFlag = { flags: '--watch', summary: 'show it again whenever it changes' }

const making: readonly CommandSpec[] = [
  {
    name: 'wallets types',
    summary: 'list the types of wallets that can be made',
    example: 'wallets types --splittable-from Savings',
    flags: [{ flags: '--splittable-from <wallet>', summary: 'those that a wallet can be split into' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-types.ts')).walletsTypes
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
    load: async () => (await import('../../commands/wallets-create.ts')).walletsCreate
  },
  {
    name: 'wallets import',
    arguments: '<type>',
    summary: 'make a wallet from words or a key that you have',
    example: 'wallets import bitcoin --name Old --private-key-file words.txt',
    flags: [NAME, FIAT, KEY_OPTION],
    secrets: [...ANY_LOGIN, 'private-key'],
    load: async () => (await import('../../commands/wallets-create.ts')).walletsImport
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
    load: async () => (await import('../../commands/wallets-split.ts')).walletsSplit
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
    load: async () => (await import('../../commands/wallets-list.ts')).walletsList
  },
  {
    name: 'wallets show',
    arguments: WALLET,
    summary: 'show one wallet, and how its sync is',
    example: 'wallets show Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-show.ts')).walletsShow
  },
  {
    name: 'wallets staking',
    arguments: WALLET,
    summary: 'list what is staked, and until when',
    example: 'wallets staking Savings',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-staking.ts')).walletsStaking
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
    load: async () => (await import('../../commands/wallets-keys.ts')).walletsKeys
  },
  {
    name: 'wallets dump',
    arguments: WALLET,
    summary: 'tell what support needs to know of a wallet',
    example: 'wallets dump Savings -o dump.json',
    flags: [{ flags: '--reveal', summary: 'with names, amounts and ids' }, ...OUTPUT],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-dump.ts')).walletsDump
  }
]

/** Making wallets, looking at them, and their keys. */
export const walletCommands: readonly CommandSpec[] = [...making, ...looking]
