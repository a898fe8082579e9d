import type { CommandSpec } from '../session/command.ts'
import { ANY_LOGIN, CONFIRM, REVEAL } from './flags.ts'

/** The fake world. */
export const fakeCommands: readonly CommandSpec[] = [
  {
    name: 'fake start',
    summary: "serve the profile's fake world to other programs",
    flags: [{ flags: '--port <port>', summary: 'where the login and sync servers listen' }],
    isServer: true,
    load: async () => (await import('./fake/start.ts')).fakeStart
  },
  {
    name: 'fake chain fund',
    arguments: '<target> <amount>',
    summary: 'pay play money to a wallet or an address',
    flags: [
      { flags: '--confirm', summary: 'mine a block afterwards' },
      {
        flags: '--currency <currency>',
        summary: 'on this chain: bitcoin or litecoin; found by the address if left out'
      }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./fake/control-world.ts')).fakeChainFund
  },
  {
    name: 'fake chain mine',
    arguments: '[count]',
    summary: 'mine blocks',
    flags: [
      {
        flags: '--currency <currency>',
        summary: 'on this chain: bitcoin (if left out), litecoin, or all'
      }
    ],
    load: async () => (await import('./fake/control-world.ts')).fakeChainMine
  },
  {
    name: 'fake net offline',
    summary: 'cut the network',
    load: async () => (await import('./fake/control-world.ts')).fakeNetOffline
  },
  {
    name: 'fake net online',
    summary: 'restore the network',
    load: async () => (await import('./fake/control-world.ts')).fakeNetOnline
  },
  {
    name: 'fake net latency',
    arguments: '<range>',
    summary: 'make answers late, such as 200ms or 50-200ms; 0 for none',
    load: async () => (await import('./fake/control-world.ts')).fakeNetLatency
  },
  {
    name: 'fake net fail',
    arguments: '<rate>',
    summary: 'lose a share of the requests, such as 20%; 0 for none',
    load: async () => (await import('./fake/control-world.ts')).fakeNetFail
  },
  {
    name: 'fake clock show',
    summary: 'show the time there',
    load: async () => (await import('./fake/control-world.ts')).fakeClockShow
  },
  {
    name: 'fake clock advance',
    arguments: '<duration>',
    summary: 'skip time, such as 7d',
    load: async () => (await import('./fake/control-world.ts')).fakeClockAdvance
  },
  {
    name: 'fake clock set',
    arguments: '<date>',
    summary: 'move on to a date, such as 2030-01-05',
    load: async () => (await import('./fake/control-world.ts')).fakeClockSet
  },
  {
    name: 'fake user list',
    aliases: ['ls'],
    summary: 'list who lives there',
    load: async () => (await import('./fake/users.ts')).fakeUserList
  },
  {
    name: 'fake user load',
    arguments: '<file>',
    summary: 'take in a user that was dumped',
    load: async () => (await import('./fake/users.ts')).fakeUserLoad
  },
  {
    name: 'fake user dump',
    arguments: '<user>',
    summary: 'write a user into a file, with every secret',
    flags: [
      { flags: '-o, --output <file>', summary: 'a new file; only its owner can read it' },
      REVEAL,
      CONFIRM
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./fake/users.ts')).fakeUserDump
  },
  {
    name: 'fake requests',
    summary: 'show what the servers were asked',
    flags: [
      { flags: '--follow', summary: 'go on as it happens' },
      { flags: '--path <text>', summary: 'only where the path has this text' },
      { flags: '--status <status>', summary: 'only with this HTTP status; 0 for requests that were lost' }
    ],
    isServer: true,
    load: async () => (await import('./fake/requests.ts')).fakeRequests
  }
]
