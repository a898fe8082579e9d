import type { CommandSpec } from '../../command.ts'

/** Accounts and their credentials. */
export const accountCommands: readonly CommandSpec[] = [
  {
    name: 'account create',
    arguments: '[user]',
    summary: 'make an account',
    flags: [{ flags: '--light', summary: 'without username and password' }],
    secrets: ['password', 'pin'],
    aliases: ['new'],
    load: async () => (await import('../../commands/account-create.ts')).accountCreate
  },
  {
    name: 'account list',
    summary: 'list the accounts of this device',
    aliases: ['ls'],
    load: async () => (await import('../../commands/account-list.ts')).accountList
  },
  {
    name: 'account forget',
    arguments: '<user>',
    summary: 'remove an account from this device',
    aliases: ['rm'],
    load: async () => (await import('../../commands/account-forget.ts')).accountForget
  }
]
