import type { CommandFlag, CommandSpec } from '../../command.ts'
import { ANY_LOGIN } from './any-login.ts'

const notes: readonly CommandFlag[] = [
  { flags: '--name <text>', summary: 'who it is with' },
  { flags: '--category <text>', summary: 'such as "expense:Rent"' },
  { flags: '--notes <text>', summary: 'anything worth remembering' }
]

/** Payments, their notes, and the exchange of files. */
export const transactionCommands: readonly CommandSpec[] = [
  {
    name: 'send',
    arguments: '<wallet>',
    summary: 'pay, after a review',
    flags: [
      { flags: '--to <address>', summary: 'an address or payment link', isRepeatable: true },
      { flags: '--amount <amount>', summary: '"0.01 BTC", "1000000 native" or max', isRepeatable: true },
      { flags: '--fee <level>', summary: 'how fast', choices: ['high', 'standard', 'low', 'custom'] },
      { flags: '--custom-fee <key=value>', summary: 'such as satPerByte=12.5', isRepeatable: true },
      { flags: '--max-fee <amount>', summary: 'refuse a higher network fee' },
      { flags: '--no-unconfirmed', summary: 'spend confirmed coins only' },
      ...notes
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/send.ts')).send
  },
  {
    name: 'tx list',
    arguments: '[wallet]',
    summary: 'list transactions, newest first',
    flags: [
      { flags: '--since <date>', summary: 'from this date on' },
      { flags: '--until <date>', summary: 'before this date' },
      { flags: '--limit <count>', summary: 'at most so many' }
    ],
    secrets: ANY_LOGIN,
    aliases: ['ls'],
    load: async () => (await import('../../commands/tx-list.ts')).txList
  },
  {
    name: 'tx show',
    arguments: '<wallet> <txid>',
    summary: 'show one transaction',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/tx-show.ts')).txShow
  },
  {
    name: 'tx label',
    arguments: '<wallet> <txid>',
    summary: 'write name, category and notes of a transaction',
    flags: [
      ...notes,
      {
        flags: '--clear <field>',
        summary: 'empty a field',
        isRepeatable: true,
        choices: ['name', 'category', 'notes']
      }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/tx-label.ts')).txLabel
  },
  {
    name: 'sync',
    arguments: '[wallet...]',
    summary: 'exchange files with the sync server and look at the chain',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/sync.ts')).sync
  }
]
