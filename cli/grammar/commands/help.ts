import type { CommandSpec } from '../../command.ts'

/** Help. */
export const helpCommands: readonly CommandSpec[] = [
  {
    name: 'help',
    arguments: '[topic...]',
    summary: 'help for a command, or about exit-codes',
    load: async () => (await import('../../commands/help-exit-codes.ts')).helpExitCodes
  }
]
