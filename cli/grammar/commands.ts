import type { CommandFlag, CommandSpec } from '../command.ts'

const notes: readonly CommandFlag[] = [
  { flags: '--name <text>', summary: 'who it is with' },
  { flags: '--category <text>', summary: 'such as "expense:Rent"' },
  { flags: '--notes <text>', summary: 'anything worth remembering' }
]
const anyLogin = ['password', 'pin', 'otp'] as const
const WALLET = '<wallet>'

/** Every command, in the order of the help; each is loaded when it is run. */
export const commandSpecs: readonly CommandSpec[] = [
  {
    name: 'demo',
    summary: 'the one-minute tour: a real wallet on a fake chain, and a second device',
    flags: [
      { flags: '--keep', summary: 'keep the world of the tour as a profile' },
      { flags: '--speed <speed>', summary: 'how fast it goes', choices: ['fast', 'slow'] }
    ],
    load: async () => (await import('../commands/demo.ts')).demo
  },
  {
    name: 'login',
    arguments: '[user]',
    summary: 'verify a password or PIN, and make the account the current one',
    secrets: anyLogin,
    load: async () => (await import('../commands/login.ts')).login
  },
  {
    name: 'logout',
    arguments: '[user]',
    summary: 'forget which account is the current one',
    load: async () => (await import('../commands/logout.ts')).logout
  },
  {
    name: 'account create',
    arguments: '[user]',
    summary: 'make an account',
    flags: [{ flags: '--light', summary: 'without username and password' }],
    secrets: ['password', 'pin'],
    aliases: ['new'],
    load: async () => (await import('../commands/account-create.ts')).accountCreate
  },
  {
    name: 'account list',
    summary: 'list the accounts of this device',
    aliases: ['ls'],
    load: async () => (await import('../commands/account-list.ts')).accountList
  },
  {
    name: 'account forget',
    arguments: '<user>',
    summary: 'remove an account from this device',
    aliases: ['rm'],
    load: async () => (await import('../commands/account-forget.ts')).accountForget
  },
  {
    name: 'wallets create',
    arguments: '<type>',
    summary: 'make a wallet, such as bitcoin',
    flags: [
      { flags: '--name <text>', summary: 'what to call it' },
      { flags: '--fiat <code>', summary: 'the currency it is shown in, such as iso:USD' },
      { flags: '--key-option <key=value>', summary: 'such as format=bip86', isRepeatable: true }
    ],
    secrets: anyLogin,
    aliases: ['new'],
    load: async () => (await import('../commands/wallets-create.ts')).walletsCreate
  },
  {
    name: 'wallets list',
    summary: 'list the wallets with their balances',
    secrets: anyLogin,
    aliases: ['ls'],
    load: async () => (await import('../commands/wallets-list.ts')).walletsList
  },
  {
    name: 'wallets show',
    arguments: WALLET,
    summary: 'show one wallet',
    secrets: anyLogin,
    load: async () => (await import('../commands/wallets-show.ts')).walletsShow
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
    secrets: anyLogin,
    load: async () => (await import('../commands/address.ts')).address
  },
  {
    name: 'balance',
    arguments: '[wallet...]',
    summary: 'show balances',
    secrets: anyLogin,
    load: async () => (await import('../commands/balance.ts')).balance
  },
  {
    name: 'send',
    arguments: WALLET,
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
    secrets: anyLogin,
    load: async () => (await import('../commands/send.ts')).send
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
    secrets: anyLogin,
    aliases: ['ls'],
    load: async () => (await import('../commands/tx-list.ts')).txList
  },
  {
    name: 'tx show',
    arguments: '<wallet> <txid>',
    summary: 'show one transaction',
    secrets: anyLogin,
    load: async () => (await import('../commands/tx-show.ts')).txShow
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
    secrets: anyLogin,
    load: async () => (await import('../commands/tx-label.ts')).txLabel
  },
  {
    name: 'sync',
    arguments: '[wallet...]',
    summary: 'exchange files with the sync server and look at the chain',
    secrets: anyLogin,
    load: async () => (await import('../commands/sync.ts')).sync
  },
  {
    name: 'fake start',
    summary: "serve the profile's fake world to other programs",
    flags: [{ flags: '--port <port>', summary: 'where the login and sync servers listen' }],
    isServer: true,
    load: async () => (await import('../commands/fake-start.ts')).fakeStart
  },
  {
    name: 'fake chain fund',
    arguments: '<target> <amount>',
    summary: 'pay play money to a wallet or an address',
    flags: [{ flags: '--confirm', summary: 'mine a block afterwards' }],
    secrets: anyLogin,
    load: async () => (await import('../commands/fake-chain-fund.ts')).fakeChainFund
  },
  {
    name: 'fake chain mine',
    arguments: '[count]',
    summary: 'mine blocks',
    load: async () => (await import('../commands/fake-chain-mine.ts')).fakeChainMine
  },
  {
    name: 'help',
    arguments: '[topic...]',
    summary: 'help for a command, or about exit-codes',
    load: async () => (await import('../commands/help-exit-codes.ts')).helpExitCodes
  }
]

/** The sentence for a group of commands. */
export const groupSummaries: Readonly<Record<string, string>> = {
  account: 'accounts of this device',
  wallets: 'the wallets of the account',
  tx: 'transactions and their notes',
  fake: 'the fake world: servers and chain',
  'fake chain': 'the fake Bitcoin chain'
}
