import type { CommandSpec } from '../session/command.ts'
import { ANY_LOGIN, CONFIRM, REVEAL } from './flags.ts'

/** The fake world. */
export const fakeCommands: readonly CommandSpec[] = [
  {
    name: 'fake start',
    summary: "serve the profile's fake world to other programs",
    flags: [{ flags: '--port <port>', summary: 'the port of the login and sync servers' }],
    isServer: true,
    load: async () => (await import('./fake/start.ts')).fakeStart
  },
  {
    name: 'fake chain fund',
    arguments: '<target> <amount>',
    summary: 'pay play money to a wallet or an address',
    flags: [
      { flags: '--confirm', summary: 'also mine a block' },
      {
        flags: '--currency <currency>',
        summary: 'the chain: bitcoin or litecoin; default: the chain of the address'
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
        summary: 'the chain: bitcoin (default), litecoin, or all'
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
    summary: 'delay replies, such as 200ms or 50-200ms; 0 for none',
    load: async () => (await import('./fake/control-world.ts')).fakeNetLatency
  },
  {
    name: 'fake net fail',
    arguments: '<rate>',
    summary: 'drop a share of the requests, such as 20%; 0 for none',
    load: async () => (await import('./fake/control-world.ts')).fakeNetFail
  },
  {
    name: 'fake clock show',
    readsOnly: true,
    summary: 'show the time of the fake world',
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
    summary: 'skip to a date, such as 2030-01-05',
    load: async () => (await import('./fake/control-world.ts')).fakeClockSet
  },
  {
    name: 'fake user list',
    readsOnly: true,
    aliases: ['ls'],
    summary: 'list the users of the fake world',
    load: async () => (await import('./fake/users.ts')).fakeUserList
  },
  {
    name: 'fake user load',
    arguments: '<file>',
    summary: 'load a dumped user',
    load: async () => (await import('./fake/users.ts')).fakeUserLoad
  },
  {
    name: 'fake user dump',
    arguments: '<user>',
    summary: 'write a user with all secrets into a file',
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
    readsOnly: true,
    summary: 'show the requests to the servers',
    flags: [
      { flags: '--follow', summary: 'keep showing new requests' },
      { flags: '--path <text>', summary: 'only paths with this text' },
      { flags: '--status <status>', summary: 'only this HTTP status; 0 for lost requests' }
    ],
    isServer: true,
    load: async () => (await import('./fake/requests.ts')).fakeRequests
  }
]
