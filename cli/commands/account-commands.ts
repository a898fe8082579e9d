import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { ANY_LOGIN, CONFIRM, LOGIN_OR_RECOVERY, REVEAL, WITH } from './flags.ts'

/** Logging in and out, and the current account. */
export const loginCommands: readonly CommandSpec[] = [
  {
    name: 'login',
    arguments: '[user]',
    summary: 'log in with a secret or by approval of another device, and make this the current account',
    flags: [
      { ...WITH, choices: ['password', 'pin', 'recovery', 'key', 'edge'] },
      { flags: '--challenge-id <id>', summary: 'the id of the solved CAPTCHA' },
      { flags: '--lobby-timeout <duration>', summary: 'how long to wait for the approval (10m)' },
      { flags: '--no-qr', summary: 'do not draw a QR code for the approving device' },
      { flags: '--link', summary: 'print the link for the approving device, and wait without a screen' }
    ],
    secrets: [...LOGIN_OR_RECOVERY, 'new-pin'],
    load: async () => (await import('./account/log-in-and-out.ts')).login
  },
  {
    name: 'logout',
    arguments: '[user]',
    summary: 'unset the current account',
    load: async () => (await import('./account/log-in-and-out.ts')).logout
  },
  {
    name: 'whoami',
    readsOnly: true,
    summary: 'show the current account and its login method',
    load: async () => (await import('./account/log-in-and-out.ts')).whoami
  },
  {
    name: 'messages',
    summary: 'show pending approvals and two-factor resets for the users of this device',
    flags: [{ flags: '--watch', summary: 'look again every 30 seconds, until stopped' }],
    isServer: true,
    load: async () => (await import('./devices/vouchers.ts')).messages
  }
]

/** Accounts. */
export const accountCommands: readonly CommandSpec[] = [
  {
    name: 'account create',
    arguments: '[user]',
    summary: 'create an account',
    flags: [
      { flags: '--light', summary: 'create a light account, without username and password' },
      { flags: '--local', summary: 'keep it on this device only, without a login server' }
    ],
    secrets: ['password', 'pin'],
    aliases: ['new'],
    load: async () => (await import('./account/manage-account.ts')).accountCreate
  },
  {
    name: 'account list',
    readsOnly: true,
    summary: 'list the accounts of this device',
    aliases: ['ls'],
    load: async () => (await import('./account/manage-account.ts')).accountList
  },
  {
    name: 'account show',
    readsOnly: true,
    summary: 'show the account and its login methods',
    flags: [REVEAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/manage-account.ts')).accountShow
  },
  {
    name: 'account available',
    readsOnly: true,
    arguments: '<user>',
    summary: 'check if a username is free',
    load: async () => (await import('./account/manage-account.ts')).accountAvailable
  },
  {
    name: 'account forget',
    arguments: '<user>',
    summary: 'remove an account from this device',
    flags: [CONFIRM],
    aliases: ['rm'],
    load: async () => (await import('./account/manage-account.ts')).accountForget
  },
  {
    name: 'account delete',
    needsNewLogin: true,
    summary: 'delete the account from the server, permanently',
    flags: [CONFIRM],
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/manage-account.ts')).accountDelete
  },
  {
    name: 'account backup',
    arguments: '<file>',
    summary: 'write the account with all its wallets and notes into one sealed file',
    example: 'account backup alice.backup',
    flags: [{ flags: '--force', summary: 'replace the file' }],
    readsOnly: true,
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/backups.ts')).accountBackup
  },
  {
    name: 'account restore',
    arguments: '<file>',
    summary: 'restore an account from a backup, with its password',
    example: 'account restore alice.backup',
    secrets: ['password'],
    startsNoAgent: true,
    load: async () => (await import('./account/backups.ts')).accountRestore
  },
  {
    name: 'account move-to-server',
    needsNewLogin: true,
    summary: 'make an account of this device on the login server, with everything in it',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/backups.ts')).accountMove
  },
  {
    name: 'account key',
    readsOnly: true,
    summary: 'show the login key of this device',
    flags: [REVEAL],
    secrets: LOGIN_OR_RECOVERY,
    load: async () => (await import('./account/manage-account.ts')).accountKey
  }
]

const QUESTION: CommandFlag = {
  flags: '--question <question>',
  summary: 'a recovery question; one for each answer',
  isRepeatable: true
}

const passwords: readonly CommandSpec[] = [
  {
    name: 'account password set',
    needsNewLogin: true,
    summary: 'change the password',
    flags: [WITH],
    secrets: [...LOGIN_OR_RECOVERY, 'new-password'],
    load: async () => (await import('./account/credentials.ts')).passwordSet
  },
  {
    name: 'account password verify',
    readsOnly: true,
    summary: 'check a password',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).passwordVerify
  },
  {
    name: 'account password remove',
    needsNewLogin: true,
    summary: 'remove the password',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).passwordRemove
  },
  {
    name: 'account password check',
    readsOnly: true,
    summary: 'check a new password against the rules, and estimate the time to guess it',
    secrets: ['new-password'],
    load: async () => (await import('./account/credentials.ts')).passwordCheck
  }
]

const pins: readonly CommandSpec[] = [
  {
    name: 'account pin set',
    needsNewLogin: true,
    summary: 'change the PIN',
    flags: [WITH],
    secrets: [...LOGIN_OR_RECOVERY, 'new-pin'],
    load: async () => (await import('./account/credentials.ts')).pinSet
  },
  {
    name: 'account pin verify',
    readsOnly: true,
    summary: 'check a PIN',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).pinVerify
  },
  {
    name: 'account pin remove',
    needsNewLogin: true,
    summary: 'remove the PIN',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).pinRemove
  },
  {
    name: 'account pin enable',
    needsNewLogin: true,
    summary: 'enable login with the PIN',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).pinEnable
  },
  {
    name: 'account pin disable',
    needsNewLogin: true,
    summary: 'disable login with the PIN, but keep it',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).pinDisable
  },
  {
    name: 'account pin show',
    readsOnly: true,
    summary: 'show the PIN',
    flags: [REVEAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).pinShow
  }
]

const recovery: readonly CommandSpec[] = [
  {
    name: 'account recovery choices',
    readsOnly: true,
    summary: 'list questions to choose from',
    load: async () => (await import('./account/recovery.ts')).recoveryChoices
  },
  {
    name: 'account recovery questions',
    readsOnly: true,
    arguments: '<user>',
    summary: 'show the questions of an account, with its recovery key',
    secrets: ['recovery-key'],
    load: async () => (await import('./account/recovery.ts')).recoveryQuestions
  },
  {
    name: 'account recovery setup',
    needsNewLogin: true,
    summary: 'set up login with recovery answers',
    flags: [QUESTION, REVEAL],
    secrets: [...ANY_LOGIN, 'answers'],
    load: async () => (await import('./account/recovery.ts')).recoverySetup
  },
  {
    name: 'account recovery remove',
    needsNewLogin: true,
    summary: 'disable login with recovery answers',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/recovery.ts')).recoveryRemove
  },
  {
    name: 'account recovery key',
    readsOnly: true,
    summary: 'show the recovery key, needed together with the answers',
    flags: [REVEAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/recovery.ts')).recoveryKey
  }
]

/** Credentials: username, password, PIN and recovery. */
export const credentialCommands: readonly CommandSpec[] = [
  {
    name: 'account username set',
    needsNewLogin: true,
    arguments: '<new>',
    summary: 'change the username, or give a light account one',
    secrets: [...ANY_LOGIN, 'new-password'],
    load: async () => (await import('./account/manage-account.ts')).usernameSet
  },
  ...passwords,
  ...pins,
  ...recovery
]
