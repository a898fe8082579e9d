import type { CommandSpec } from '../../command.ts'
import { ANY_LOGIN } from './any-login.ts'

/** Who is logged in. */
export const loginCommands: readonly CommandSpec[] = [
  {
    name: 'login',
    arguments: '[user]',
    summary: 'verify a password or PIN, and make the account the current one',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/login.ts')).login
  },
  {
    name: 'logout',
    arguments: '[user]',
    summary: 'forget which account is the current one',
    load: async () => (await import('../../commands/logout.ts')).logout
  }
]
