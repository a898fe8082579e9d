import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { AGAIN_FLAG, ANY_LOGIN, OUTPUT, TOKEN } from './flags.ts'

const NOTES: readonly CommandFlag[] = [
  { flags: '--name <text>', summary: 'the other party' },
  { flags: '--category <text>', summary: 'such as "expense:Rent"' },
  { flags: '--notes <text>', summary: 'free text' }
]

const PERIOD: readonly CommandFlag[] = [
  { flags: '--since <date>', summary: 'from this date on' },
  { flags: '--until <date>', summary: 'before this date' }
]

const ALL: CommandFlag = { flags: '--all', summary: 'every wallet, the archived ones too' }

const STATES: readonly CommandFlag[] = [
  {
    flags: '--state <state>',
    summary: 'only in this state',
    choices: ['confirmed', 'unconfirmed', 'dropped', 'syncing']
  },
  { flags: '--in', summary: 'only incoming transactions' },
  { flags: '--out', summary: 'only outgoing transactions' }
]

const PAGE: readonly CommandFlag[] = [
  {
    flags: '--limit <count>',
    summary: 'the number of rows (100); rows of the last transaction stay together'
  },
  { flags: '--before <txid>', summary: 'continue after this transaction' }
]

const LABEL: CommandFlag = { flags: '--label <text>', summary: 'a label of the coin' }

/** Payments, the history and its notes. */
export const transactionCommands: readonly CommandSpec[] = [
  {
    name: 'send',
    arguments: '<wallet>',
    summary: 'pay, after a review',
    flags: [
      { flags: '--to <address>', summary: 'an address or payment link', isRepeatable: true },
      { flags: '--amount <amount>', summary: '"0.01 BTC", "1000000 native" or max', isRepeatable: true },
      { flags: '--token <token>', summary: 'pay in a token, by its id or code' },
      { flags: '--fee <level>', summary: 'how fast', choices: ['high', 'standard', 'low', 'custom'] },
      { flags: '--custom-fee <key=value>', summary: 'such as satPerByte=12.5', isRepeatable: true },
      {
        flags: '--memo <memo>',
        summary: 'a public text on the chain, or text:…, hex:… or number:…',
        isRepeatable: true
      },
      {
        flags: '--max-fee <amount>',
        summary: 'the highest network fee; also allows an unusual fee up to this'
      },
      {
        flags: '--unconfirmed',
        summary: 'also spend incoming coins if needed; their sender can take them back'
      },
      { flags: '--no-unconfirmed', summary: 'spend only confirmed coins, and no unconfirmed change' },
      {
        flags: '--coin <coin>',
        summary: 'pay with these coins, all of them and no others',
        isRepeatable: true
      },
      AGAIN_FLAG,
      { flags: '--sign-only', summary: 'do not send: write the signed payment into a file' },
      { flags: '-o, --output <file>', summary: 'the file, which only its owner can read' },
      ...NOTES
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/send.ts')).send
  },
  {
    name: 'sweep',
    arguments: '<wallet>',
    summary: 'move what keys of single addresses hold into a wallet, after a review',
    example: 'sweep Savings --private-key-file paper.txt',
    flags: [
      { flags: '--fee <level>', summary: 'how fast', choices: ['high', 'standard', 'low', 'custom'] },
      { flags: '--custom-fee <key=value>', summary: 'such as satPerByte=12.5', isRepeatable: true },
      { flags: '--max-fee <amount>', summary: 'refuse a higher network fee' },
      {
        flags: '--unconfirmed',
        summary: 'also take incoming coins; their sender can take them back'
      },
      AGAIN_FLAG
    ],
    secrets: [...ANY_LOGIN, 'private-key'],
    load: async () => (await import('./transactions/coins.ts')).sweep
  },
  {
    name: 'tx broadcast',
    arguments: '<wallet> <file>',
    summary: 'send the file of send --sign-only, after a review',
    flags: [AGAIN_FLAG],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/send.ts')).txBroadcast
  },
  {
    name: 'tx save',
    arguments: '<wallet> <file>',
    summary: 'record a signed payment that was sent elsewhere',
    flags: [],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/send.ts')).txSave
  },
  {
    name: 'tx open',
    arguments: '[wallet]',
    summary: 'list the payments that may still be mined, whose coins are reserved',
    flags: [ALL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/open.ts')).txOpen
  },
  {
    name: 'tx resend',
    arguments: '<wallet> <txid>',
    summary: 'send the same bytes of an open payment again',
    flags: [AGAIN_FLAG],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/open.ts')).txResend
  },
  {
    name: 'tx replace',
    arguments: '<wallet> <txid>',
    summary: 'replace an open payment: the network can accept only one of the two',
    flags: [
      { flags: '--to <address>', summary: 'another payee (default: the same)', isRepeatable: true },
      { flags: '--amount <amount>', summary: 'the amount for the payee of --to', isRepeatable: true },
      { flags: '--fee <level>', summary: 'how fast', choices: ['high', 'standard', 'low', 'custom'] },
      { flags: '--custom-fee <key=value>', summary: 'such as satPerByte=12.5', isRepeatable: true },
      { flags: '--max-fee <amount>', summary: 'refuse a higher network fee' },
      AGAIN_FLAG
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/open.ts')).txReplace
  },
  {
    name: 'tx bump',
    arguments: '<wallet> <txid>',
    summary: 'hasten an unconfirmed payment that left a coin here, by a second one that pays for both',
    flags: [
      { flags: '--fee <level>', summary: 'how fast', choices: ['high', 'standard', 'low', 'custom'] },
      { flags: '--custom-fee <key=value>', summary: 'such as satPerByte=12.5', isRepeatable: true },
      {
        flags: '--max-fee <amount>',
        summary: 'the highest network fee; also allows an unusual fee up to this'
      }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/coins.ts')).txBump
  },
  {
    name: 'tx forget',
    arguments: '<wallet> <txid>',
    summary: 'free the coins of an open payment, which can still be mined',
    flags: [
      { flags: '--confirm <start>', summary: 'the first eight characters of the txid; needed with --yes' }
    ],
    secrets: ANY_LOGIN,
    aliases: ['discard'],
    load: async () => (await import('./transactions/open.ts')).txForget
  },
  {
    name: 'tx list',
    readsOnly: true,
    arguments: '[wallet]',
    summary: 'list transactions, newest first',
    flags: [
      { flags: '--search <text>', summary: 'only transactions with this text' },
      ...PERIOD,
      ...STATES,
      TOKEN,
      ...PAGE,
      ALL
    ],
    secrets: ANY_LOGIN,
    aliases: ['ls'],
    load: async () => (await import('./transactions/list-transactions.ts')).txList
  },
  {
    name: 'tx search',
    readsOnly: true,
    arguments: '<text> [wallet]',
    summary: 'find transactions by names, notes, amounts, addresses or txids',
    flags: [...PERIOD, ...STATES, TOKEN, ...PAGE, ALL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/list-transactions.ts')).txSearch
  },
  {
    name: 'tx show',
    readsOnly: true,
    arguments: '<wallet> <txid>',
    summary: 'show one transaction',
    flags: [TOKEN, { flags: '--raw', summary: 'with its signed bytes' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/list-transactions.ts')).txShow
  },
  {
    name: 'tx watch',
    readsOnly: true,
    arguments: '[wallet...]',
    summary: 'show new and changed transactions as they happen',
    flags: [ALL],
    secrets: ANY_LOGIN,
    isServer: true,
    load: async () => (await import('./transactions/list-transactions.ts')).txWatch
  },
  {
    name: 'tx stream',
    readsOnly: true,
    arguments: '<wallet>',
    summary: 'print the history of a wallet in batches, newest first',
    flags: [
      { flags: '--batch <count>', summary: 'the size of a batch (10)' },
      { flags: '--first-batch <count>', summary: 'the size of the first batch' },
      { flags: '--search <text>', summary: 'only transactions with this text' },
      ...PERIOD,
      ...STATES,
      TOKEN
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/list-transactions.ts')).txStream
  },
  {
    name: 'tx export',
    arguments: '[wallet...]',
    summary: 'write the history for other programs',
    flags: [
      {
        flags: '--format <format>',
        summary: 'the format: csv (default), or bip329 for only the labels',
        choices: ['csv', 'json', 'ndjson', 'bip329']
      },
      ...PERIOD,
      ...STATES,
      TOKEN,
      {
        flags: '--fiat <code>',
        summary: 'add values at the rates of their time, in this currency, such as iso:EUR'
      },
      { flags: '--columns <names>', summary: 'columns of the CSV, in this order: date,amount' },
      { flags: '--tz <zone>', summary: 'time zone of the dates, such as Europe/Berlin (UTC)' },
      { flags: '--bom', summary: 'start with a byte order mark, for Excel' },
      ...OUTPUT,
      ALL
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/export.ts')).txExport
  },
  {
    name: 'tx label',
    arguments: '<wallet> <txid>',
    summary: 'write a note on a transaction',
    flags: [
      ...NOTES,
      { flags: '--fiat <amount>', summary: 'its value: 12.50, or "12.50 EUR"' },
      { flags: '--biz-id <id>', summary: 'the number of a business' },
      {
        flags: '--clear <field>',
        summary: 'empty a field',
        isRepeatable: true,
        choices: ['name', 'category', 'notes', 'fiat', 'biz-id']
      },
      TOKEN
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/labels.ts')).txLabel
  },
  {
    name: 'tx import-labels',
    arguments: '<file> [wallet...]',
    summary: 'import the labels of another wallet (BIP-329)',
    flags: [{ flags: '--overwrite', summary: 'replace existing notes with those of the file' }, ALL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/labels.ts')).txImportLabels
  }
]

const COINS = '<wallet> <coin...>'

/** Single coins of a wallet. */
export const coinCommands: readonly CommandSpec[] = [
  {
    name: 'coins list',
    readsOnly: true,
    arguments: '<wallet>',
    summary: 'list the unspent coins of a wallet, newest first',
    flags: [],
    secrets: ANY_LOGIN,
    aliases: ['ls'],
    load: async () => (await import('./transactions/coins.ts')).coinsList
  },
  {
    name: 'coins freeze',
    arguments: COINS,
    summary: 'keep coins from every payment, on all devices',
    example: 'coins freeze Savings 4a5e1e…:0',
    flags: [LABEL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/coins.ts')).coinsFreeze
  },
  {
    name: 'coins unfreeze',
    arguments: COINS,
    summary: 'let payments take coins again',
    flags: [LABEL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/coins.ts')).coinsUnfreeze
  },
  {
    name: 'coins label',
    arguments: '<wallet> <coin>',
    summary: 'note a label of a coin, on all devices; without --label, remove it',
    flags: [LABEL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./transactions/coins.ts')).coinsLabel
  }
]
