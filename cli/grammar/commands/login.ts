import type { CommandSpec } from '../../command.ts'
import { LOGIN_OR_RECOVERY, WITH } from './any-login.ts'

/** Who is logged in. */
export const loginCommands: readonly CommandSpec[] = [
  {
    name: 'login',
    arguments: '[user]',
    summary: 'verify a secret or be approved by another device, and make the account the current one',
    flags: [
      { ...WITH, choices: ['password', 'pin', 'recovery', 'key', 'edge'] },
      { flags: '--challenge-id <id>', summary: 'of the CAPTCHA that was solved' },
      { flags: '--lobby-timeout <duration>', summary: 'how long an approval is waited for (10m)' },
      { flags: '--no-qr', summary: 'draw no QR code for the device that approves' },
      { flags: '--link', summary: 'print the link for the device that approves, and wait without a screen' }
    ],
    secrets: [...LOGIN_OR_RECOVERY, 'new-pin'],
    load: async () => (await import('../../commands/login.ts')).login
  },
  {
    name: 'logout',
    arguments: '[user]',
    summary: 'forget which account is the current one',
    load: async () => (await import('../../commands/logout.ts')).logout
  },
  {
    name: 'whoami',
    summary: 'show which account is the current one, and how it logged in',
    load: async () => (await import('../../commands/whoami.ts')).whoami
  },
  {
    name: 'messages',
    summary: 'show what waits for the users of this device: approvals, resets of two-factor',
    flags: [{ flags: '--watch', summary: 'look again every 30 seconds, until stopped' }],
    isServer: true,
    load: async () => (await import('../../commands/messages.ts')).messages
  }
]
