import type { CommandSpec } from '../../command.ts'
import { ANY_LOGIN } from './any-login.ts'

/** The exchange of files. */
export const dataCommands: readonly CommandSpec[] = [
  {
    name: 'sync',
    arguments: '[wallet...]',
    summary: 'exchange files with the sync server and look at the chain',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/sync.ts')).sync
  }
]
