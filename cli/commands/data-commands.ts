import type { CommandSpec } from '../session/command.ts'
import { ANY_LOGIN, OUTPUT } from './flags.ts'

const STORE = '<store>'
const WALLETS = '[wallet...]'
const TARGETS = '[account|wallet...]'

/** The data that apps keep in the account, and syncing. */
export const dataCommands: readonly CommandSpec[] = [
  {
    name: 'data stores',
    readsOnly: true,
    summary: 'list the stores of apps',
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/stored-data.ts')).dataStores
  },
  {
    name: 'data list',
    readsOnly: true,
    arguments: STORE,
    summary: 'list the items of a store',
    secrets: ANY_LOGIN,
    aliases: ['ls'],
    load: async () => (await import('./data/stored-data.ts')).dataList
  },
  {
    name: 'data get',
    readsOnly: true,
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
      { flags: '--value-stdin', summary: 'read the text from standard input' },
      { flags: '--file <file>', summary: 'read the text from a file' }
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
    summary: 'import stores from a file',
    flags: [{ flags: '--overwrite', summary: 'replace existing items with those of the file' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/stored-data.ts')).dataImport
  },
  {
    name: 'data recover',
    arguments: '[id...]',
    summary: 'list deleted and replaced files, or restore them',
    flags: [{ flags: '--all', summary: 'restore all deleted files' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/recover.ts')).dataRecover
  },
  {
    name: 'sync',
    arguments: TARGETS,
    summary: 'sync files with the server and wallets with their chains',
    flags: [{ flags: '--wait', summary: 'wait until there is nothing left to upload' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/sync-repos.ts')).sync
  },
  {
    name: 'sync status',
    readsOnly: true,
    arguments: WALLETS,
    summary: 'show how far wallets are synced with their chains',
    flags: [{ flags: '--wait', summary: 'wait until they are synced' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/sync-repos.ts')).syncStatus
  },
  {
    name: 'sync repos',
    readsOnly: true,
    summary: 'list the repos and their pending changes',
    secrets: ANY_LOGIN,
    load: async () => (await import('./data/sync-repos.ts')).syncRepos
  },
  {
    name: 'sync watch',
    readsOnly: true,
    arguments: TARGETS,
    summary: 'show syncs as they happen',
    secrets: ANY_LOGIN,
    isServer: true,
    load: async () => (await import('./data/sync-repos.ts')).syncWatch
  }
]
