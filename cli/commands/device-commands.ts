import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { ANY_LOGIN, CONFIRM, REVEAL } from './flags.ts'

const ALL: CommandFlag = { flags: '--all', summary: 'every device that waits' }

const twoFactor: readonly CommandSpec[] = [
  {
    name: '2fa status',
    summary: 'show whether two-factor is on, and what waits',
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).twoFactorStatus
  },
  {
    name: '2fa enable',
    summary: 'ask new devices for a code or an approval',
    flags: [{ flags: '--reset-after <duration>', summary: 'how long a reset has to wait, such as 7d (7d)' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).twoFactorEnable
  },
  {
    name: '2fa disable',
    summary: 'switch two-factor off',
    flags: [CONFIRM],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).twoFactorDisable
  },
  {
    name: '2fa code',
    summary: 'show the six digits of now, for another device',
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).twoFactorCode
  },
  {
    name: '2fa repair',
    summary: 'give this device the key of another one',
    secrets: ['password', 'otp-key'],
    load: async () => (await import('./devices/two-factor.ts')).twoFactorRepair
  },
  {
    name: '2fa key',
    summary: 'show the key that makes the codes',
    flags: [REVEAL, { flags: '--qr', summary: 'draw it for an authenticator; with --reveal' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).twoFactorKey
  },
  {
    name: '2fa reset request',
    arguments: '[user]',
    summary: 'have two-factor switched off after its waiting time, without a code',
    secrets: ['password', 'pin', 'otp-reset'],
    load: async () => (await import('./devices/two-factor.ts')).otpResetRequest
  },
  {
    name: '2fa reset cancel',
    summary: 'keep two-factor on, whoever asked for a reset',
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).otpResetCancel
  }
]

const vouchers: readonly CommandSpec[] = [
  {
    name: 'voucher list',
    summary: 'list the devices that wait to be approved',
    secrets: ANY_LOGIN,
    aliases: ['ls'],
    load: async () => (await import('./devices/vouchers.ts')).voucherList
  },
  {
    name: 'voucher approve',
    arguments: '[id...]',
    summary: 'let devices in that wait',
    flags: [ALL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/vouchers.ts')).voucherApprove
  },
  {
    name: 'voucher reject',
    arguments: '[id...]',
    summary: 'keep devices out that wait',
    flags: [ALL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/vouchers.ts')).voucherReject
  }
]

const lobbies: readonly CommandSpec[] = [
  {
    name: 'lobby show',
    arguments: '<id-or-link>',
    summary: 'show who asks to log in',
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/lobby.ts')).lobbyShow
  },
  {
    name: 'lobby approve',
    arguments: '<id-or-link>',
    summary: 'let the device or app that asks log in',
    flags: [{ flags: '--no-wait', summary: 'do not stay for the two syncs that follow' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/lobby.ts')).lobbyApprove
  },
  {
    name: 'lobby close',
    arguments: '<id-or-link>',
    summary: 'let it be',
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/lobby.ts')).lobbyClose
  }
]

/** Two-factor, vouchers and lobbies: approving other devices. */
export const deviceCommands: readonly CommandSpec[] = [...twoFactor, ...vouchers, ...lobbies]
