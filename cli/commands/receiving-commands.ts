import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { ANY_LOGIN, TOKEN } from './flags.ts'

const WALLET = '<wallet>'
const QR: CommandFlag = { flags: '--qr', summary: 'draw a QR code' }

const LINK: readonly CommandFlag[] = [
  { flags: '--amount <amount>', summary: 'ask for an amount in the link' },
  { flags: '--label <text>', summary: 'name the receiver in the link' },
  { flags: '--message <text>', summary: 'say what it is for in the link' }
]

const SHOWING: readonly CommandFlag[] = [
  QR,
  { flags: '--uri', summary: 'print a payment link' },
  ...LINK,
  TOKEN,
  { flags: '--index <number>', summary: 'the address at this place of the wallet' }
]

const NOTES: readonly CommandFlag[] = [
  { flags: '--name <text>', summary: 'who it is for' },
  { flags: '--notes <text>', summary: 'anything worth remembering' }
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
    summary: 'show an address that nobody was given, and lock the one before it',
    example: 'address new Savings --name Bob',
    flags: [QR, { flags: '--uri', summary: 'print a payment link' }, ...LINK, TOKEN, ...NOTES],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).addressNew
  },
  {
    name: 'address lock',
    arguments: '<wallet> [address]',
    summary: 'count an address as used: the next to receive on is another',
    example: 'address lock Savings --notes "on the invoice of May"',
    flags: [
      ...NOTES,
      TOKEN,
      { flags: '--index <number>', summary: 'the address at this place of the wallet' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).addressLock
  },
  {
    name: 'address save',
    arguments: '<wallet> [address]',
    summary: 'note something on an address, which stays to be received on',
    example: 'address save Savings --name Bob',
    flags: [
      ...NOTES,
      TOKEN,
      { flags: '--index <number>', summary: 'the address at this place of the wallet' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).addressSave
  }
]

/** Addresses, links, amounts and balances. */
export const receivingCommands: readonly CommandSpec[] = [
  ...addresses,
  {
    name: 'amount',
    arguments: '<wallet> <amount>',
    summary: 'convert an amount between the units of a currency',
    example: 'amount Savings "0.01 BTC" --to sats',
    flags: [
      {
        flags: '--to <unit>',
        summary: 'native, a unit of the currency, or money such as iso:EUR; all units if left out'
      },
      TOKEN
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/balance.ts')).amount
  },
  {
    name: 'uri parse',
    arguments: '<wallet> <uri>',
    summary: 'read an address or link, and say of which kind it is',
    example: 'uri parse Savings edge://edge/2DKSbTpgCk',
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).uriParse
  },
  {
    name: 'uri encode',
    arguments: '<wallet> <address>',
    summary: 'write a payment link',
    example: 'uri encode Savings bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
    flags: [...LINK, TOKEN, QR],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/address.ts')).uriEncode
  },
  {
    name: 'balance',
    arguments: '[wallet...]',
    summary: 'show balances',
    example: 'balance --fiat iso:EUR',
    flags: [
      TOKEN,
      { flags: '--zero', summary: 'tokens of which there is nothing, too' },
      { flags: '--total', summary: 'add up what is of one kind' },
      { flags: '--fiat <code>', summary: 'with values and their sum in this currency, such as iso:EUR' },
      { flags: '--watch', summary: 'show it again whenever it changes' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./receiving/balance.ts')).balance
  }
]
