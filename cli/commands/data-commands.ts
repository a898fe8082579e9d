import type { CommandSpec } from '../session/command.ts'
import { ANY_LOGIN, OUTPUT } from './flags.ts'

const STORE = '<store>'
const WALLETS = '[wallet...]'
const TARGETS = '[account|wallet...]'

/** The data that apps keep in the account, and syncing. */
export const dataCommands: readonly CommandSpec[] = [
  {
    name: 'data stores',
    summary: 'list the stores of apps',
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/stored-data.ts')).dataStores
  },
  {
    name: 'data list',
    arguments: STORE,
    summary: 'list the items of a store',
    secrets: ANY_LOGIN,
    aliases: ['ls'],
    load: async () => (await import('./data/stored-data.ts')).dataList
  },
  {
    name: 'data get',
    arguments: '<store> <item>',
    summary: 'print an item',
    flags: OUTPUT,
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/stored-data.ts')).dataGet
  },
  {
    name: 'data set',
    arguments: '<store> <item>',
    summary: 'write an item',
    flags: [
      { flags: '--value-stdin', summary: 'the text comes from standard input' },
      { flags: '--file <file>', summary: 'the text comes from a file' }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/stored-data.ts')).dataSet
  },
  {
    name: 'data remove',
    arguments: '<store> [item]',
    summary: 'delete an item, or a whole store',
    secrets: ANY_LOGIN,
    aliases: ['rm'],
    load: async () => (await import('./data/stored-data.ts')).dataRemove
  },
  {
    name: 'data export',
    arguments: '[store...]',
    summary: 'write stores into a file',
    flags: OUTPUT,
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/stored-data.ts')).dataExport
  },
  {
    name: 'data import',
    arguments: '<file>',
    summary: 'take an export in',
    flags: [{ flags: '--overwrite', summary: 'let the file win where another text is kept' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/stored-data.ts')).dataImport
  },
  {
    name: 'data recover',
    arguments: '[id...]',
    summary: 'list what was deleted or replaced, or bring it back',
    flags: [{ flags: '--all', summary: 'bring back everything that was deleted' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/recover.ts')).dataRecover
  },
  {
    name: 'sync',
    arguments: TARGETS,
    summary: 'exchange files with the sync server and look at the chain',
    flags: [{ flags: '--wait', summary: 'until nothing is left to upload' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/sync-repos.ts')).sync
  },
  {
    name: 'sync status',
    arguments: WALLETS,
    summary: 'say how far wallets have seen their chains',
    flags: [{ flags: '--wait', summary: 'until they have seen all of it' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/sync-repos.ts')).syncStatus
  },
  {
    name: 'sync repos',
    summary: 'list the repos and what waits to be uploaded',
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/sync-repos.ts')).syncRepos
  },
  {
    name: 'sync watch',
    arguments: TARGETS,
    summary: 'tell of syncs as they happen',
    secrets: ANY_LOGIN,
    isServer: true,
    load: async () => (await import('./data/sync-repos.ts')).syncWatch
  }
]
