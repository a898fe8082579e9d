import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { ANY_LOGIN, CONFIRM, REVEAL } from './flags.ts'

const ALL: CommandFlag = { flags: '--all', summary: 'every waiting device' }

const twoFactor: readonly CommandSpec[] = [
  {
    name: '2fa status',
    readsOnly: true,
    summary: 'show if two-factor is on, and its pending requests',
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).twoFactorStatus
  },
  {
    name: '2fa enable',
    needsNewLogin: true,
    summary: 'require a code or an approval for new devices',
    flags: [{ flags: '--reset-after <duration>', summary: 'the waiting time of a reset, such as 7d (7d)' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).twoFactorEnable
  },
  {
    name: '2fa disable',
    needsNewLogin: true,
    summary: 'switch two-factor off',
    flags: [CONFIRM],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).twoFactorDisable
  },
  {
    name: '2fa code',
    readsOnly: true,
    summary: 'show the current six-digit code, for another device',
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).twoFactorCode
  },
  {
    name: '2fa repair',
    summary: 'give this device the two-factor key of another device',
    secrets: ['password', 'otp-key'],
    load: async () => (await import('./devices/two-factor.ts')).twoFactorRepair
  },
  {
    name: '2fa key',
    readsOnly: true,
    summary: 'show the two-factor key, which makes the codes',
    flags: [REVEAL, { flags: '--qr', summary: 'draw it as a QR code for an authenticator; with --reveal' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).twoFactorKey
  },
  {
    name: '2fa reset request',
    arguments: '[user]',
    summary: 'request that two-factor is switched off after the waiting time, without a code',
    secrets: ['password', 'pin', 'otp-reset'],
    load: async () => (await import('./devices/two-factor.ts')).otpResetRequest
  },
  {
    name: '2fa reset cancel',
    summary: 'cancel a reset request; two-factor stays on',
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/two-factor.ts')).otpResetCancel
  }
]

const vouchers: readonly CommandSpec[] = [
  {
    name: 'voucher list',
    readsOnly: true,
    summary: 'list the devices that wait for approval',
    secrets: ANY_LOGIN,
    aliases: ['ls'],
    load: async () => (await import('./devices/vouchers.ts')).voucherList
  },
  {
    name: 'voucher approve',
    needsNewLogin: true,
    arguments: '[id...]',
    summary: 'approve waiting devices',
    flags: [ALL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/vouchers.ts')).voucherApprove
  },
  {
    name: 'voucher reject',
    arguments: '[id...]',
    summary: 'reject waiting devices',
    flags: [ALL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/vouchers.ts')).voucherReject
  }
]

const lobbies: readonly CommandSpec[] = [
  {
    name: 'lobby show',
    readsOnly: true,
    arguments: '<id-or-link>',
    summary: 'show a login request',
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/lobby.ts')).lobbyShow
  },
  {
    name: 'lobby approve',
    needsNewLogin: true,
    arguments: '<id-or-link>',
    summary: 'approve a login request of a device or app',
    flags: [{ flags: '--no-wait', summary: 'do not wait for the two syncs that follow' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/lobby.ts')).lobbyApprove
  },
  {
    name: 'lobby close',
    arguments: '<id-or-link>',
    summary: 'decline a login request',
    secrets: ANY_LOGIN,
    load: async () => (await import('./devices/lobby.ts')).lobbyClose
  }
]

/** Two-factor, vouchers and lobbies: approving other devices. */
export const deviceCommands: readonly CommandSpec[] = [...twoFactor, ...vouchers, ...lobbies]
