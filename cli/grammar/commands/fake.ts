import type { CommandSpec } from '../../command.ts'
import { ANY_LOGIN } from './any-login.ts'

/** The fake world. */
export const fakeCommands: readonly CommandSpec[] = [
  {
    name: 'fake start',
    summary: "serve the profile's fake world to other programs",
    flags: [{ flags: '--port <port>', summary: 'where the login and sync servers listen' }],
    isServer: true,
    load: async () => (await import('../../commands/fake-start.ts')).fakeStart
  },
  {
    name: 'fake chain fund',
    arguments: '<target> <amount>',
    summary: 'pay play money to a wallet or an address',
    flags: [{ flags: '--confirm', summary: 'mine a block afterwards' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/fake-chain-fund.ts')).fakeChainFund
  },
  {
    name: 'fake chain mine',
    arguments: '[count]',
    summary: 'mine blocks',
    load: async () => (await import('../../commands/fake-chain-mine.ts')).fakeChainMine
  }
]
