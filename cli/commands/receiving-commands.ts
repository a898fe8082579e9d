import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { ANY_LOGIN, TOKEN } from './flags.ts'

const WALLET = '<wallet>'
const QR: CommandFlag = { flags: '--qr', summary: 'draw a QR code' }

const LINK: readonly CommandFlag[] = [
  { flags: '--amount <amount>', summary: 'the amount to request in the link' },
  { flags: '--label <text>', summary: 'the name of the receiver in the link' },
  { flags: '--message <text>', summary: 'the purpose in the link' }
]

const SHOWING: readonly CommandFlag[] = [
  QR,
  { flags: '--uri', summary: 'print a payment link' },
  ...LINK,
  TOKEN,
  { flags: '--index <number>', summary: 'the address with this index' }
]

const NOTES: readonly CommandFlag[] = [
  { flags: '--name <text>', summary: 'the person it is for' },
  { flags: '--notes <text>', summary: 'free text' }
]

const addresses: readonly CommandSpec[] = [
  {
    name: 'address',
    arguments: WALLET,
    summary: 'show an address to receive on',
    example: 'address Savings --amount "0.5 BTC" --label Alice --qr',
    flags: SHOWING,
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).address
  },
  {
    name: 'address show',
    readsOnly: true,
    arguments: WALLET,
    summary: 'show an address to receive on',
    example: 'address show Savings --uri',
    flags: SHOWING,
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).address
  },
  {
    name: 'address new',
    arguments: WALLET,
    summary: 'show a fresh address, and lock the one before it',
    example: 'address new Savings --name Bob',
    flags: [QR, { flags: '--uri', summary: 'print a payment link' }, ...LINK, TOKEN, ...NOTES],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).addressNew
  },
  {
    name: 'address lock',
    arguments: '<wallet> [address]',
    summary: 'mark an address as used: the wallet then gives out the next one',
    example: 'address lock Savings --notes "on the invoice of May"',
    flags: [...NOTES, TOKEN, { flags: '--index <number>', summary: 'the address with this index' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).addressLock
  },
  {
    name: 'address save',
    arguments: '<wallet> [address]',
    summary: 'write a note on an address, without marking it as used',
    example: 'address save Savings --name Bob',
    flags: [...NOTES, TOKEN, { flags: '--index <number>', summary: 'the address with this index' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).addressSave
  }
]

/** Addresses, links, amounts and balances. */
export const receivingCommands: readonly CommandSpec[] = [
  ...addresses,
  {
    name: 'amount',
    readsOnly: true,
    arguments: '<wallet> <amount>',
    summary: 'convert an amount between the units of a currency',
    example: 'amount Savings "0.01 BTC" --to sats',
    flags: [
      {
        flags: '--to <unit>',
        summary: 'native, a unit of the currency, or a fiat currency such as iso:EUR; default: all units'
      },
      TOKEN
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/balance.ts')).amount
  },
  {
    name: 'uri parse',
    readsOnly: true,
    arguments: '<wallet> <uri>',
    summary: 'read an address or link, and show its kind',
    example: 'uri parse Savings edge://edge/2DKSbTpgCk',
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).uriParse
  },
  {
    name: 'uri encode',
    readsOnly: true,
    arguments: '<wallet> <address>',
    summary: 'write a payment link',
    example: 'uri encode Savings bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
    flags: [...LINK, TOKEN, QR],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).uriEncode
  },
  {
    name: 'balance',
    readsOnly: true,
    arguments: '[wallet...]',
    summary: 'show balances',
    example: 'balance --fiat iso:EUR',
    flags: [
      TOKEN,
      { flags: '--zero', summary: 'also show tokens without a balance' },
      { flags: '--total', summary: 'add up the balances of each asset' },
      { flags: '--fiat <code>', summary: 'also show values and their sum in this currency, such as iso:EUR' },
      { flags: '--watch', summary: 'show it again after each change' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/balance.ts')).balance
  }
]
