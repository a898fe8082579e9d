import type { CommandSpec } from '../../command.ts'
import { ANY_LOGIN, CONFIRM, LOGIN_OR_RECOVERY, REVEAL } from './any-login.ts'

/** Accounts. */
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
    name: 'account show',
    summary: 'show the account and what is set up',
    flags: [REVEAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/account-show.ts')).accountShow
  },
  {
    name: 'account available',
    arguments: '<user>',
    summary: 'tell whether a username is free',
    load: async () => (await import('../../commands/account-available.ts')).accountAvailable
  },
  {
    name: 'account forget',
    arguments: '<user>',
    summary: 'remove an account from this device',
    aliases: ['rm'],
    load: async () => (await import('../../commands/account-forget.ts')).accountForget
  },
  {
    name: 'account delete',
    summary: 'delete the account from the server, for good',
    flags: [CONFIRM],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/account-delete.ts')).accountDelete
  },
  {
    name: 'account key',
    summary: 'show the key that logs in on this device',
    flags: [REVEAL],
    secrets: LOGIN_OR_RECOVERY,
    load: async () => (await import('../../commands/account-key.ts')).accountKey
  }
]
