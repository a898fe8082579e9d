import type { CommandSpec } from '../../command.ts'
import { ANY_LOGIN } from './any-login.ts'

const WALLET = '<wallet>'

/** Wallets, their addresses and balances. */
export const walletCommands: readonly CommandSpec[] = [
  {
    name: 'wallets create',
    arguments: '<type>',
    summary: 'make a wallet, such as bitcoin',
    flags: [
      { flags: '--name <text>', summary: 'what to call it' },
      { flags: '--fiat <code>', summary: 'the currency it is shown in, such as iso:USD' },
      { flags: '--key-option <key=value>', summary: 'such as format=bip86', isRepeatable: true }
    ],
    secrets: ANY_LOGIN,
    aliases: ['new'],
    load: async () => (await import('../../commands/wallets-create.ts')).walletsCreate
  },
  {
    name: 'wallets list',
    summary: 'list the wallets with their balances',
    secrets: ANY_LOGIN,
    aliases: ['ls'],
    load: async () => (await import('../../commands/wallets-list.ts')).walletsList
  },
  {
    name: 'wallets show',
    arguments: WALLET,
    summary: 'show one wallet',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/wallets-show.ts')).walletsShow
  },
  {
    name: 'address',
    arguments: WALLET,
    summary: 'show an address to receive on',
    flags: [
      { flags: '--qr', summary: 'draw a QR code' },
      { flags: '--uri', summary: 'print a payment link' },
      { flags: '--amount <amount>', summary: 'ask for an amount in the link' },
      { flags: '--label <text>', summary: 'name the receiver in the link' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/address.ts')).address
  },
  {
    name: 'balance',
    arguments: '[wallet...]',
    summary: 'show balances',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/balance.ts')).balance
  }
]
