import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { ANY_LOGIN, CONFIRM, LOGIN_OR_RECOVERY, REVEAL, WITH } from './flags.ts'

/** Logging in and out, and the current account. */
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
    load: async () => (await import('./account/log-in-and-out.ts')).login
  },
  {
    name: 'logout',
    arguments: '[user]',
    summary: 'forget which account is the current one',
    load: async () => (await import('./account/log-in-and-out.ts')).logout
  },
  {
    name: 'whoami',
    summary: 'show which account is the current one, and how it logged in',
    load: async () => (await import('./account/log-in-and-out.ts')).whoami
  },
  {
    name: 'messages',
    summary: 'show what waits for the users of this device: approvals, resets of two-factor',
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
    summary: 'make an account',
    flags: [{ flags: '--light', summary: 'without username and password' }],
    secrets: ['password', 'pin'],
    aliases: ['new'],
    load: async () => (await import('./account/manage-account.ts')).accountCreate
  },
  {
    name: 'account list',
    summary: 'list the accounts of this device',
    aliases: ['ls'],
    load: async () => (await import('./account/manage-account.ts')).accountList
  },
  {
    name: 'account show',
    summary: 'show the account and what is set up',
    flags: [REVEAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/manage-account.ts')).accountShow
  },
  {
    name: 'account available',
    arguments: '<user>',
    summary: 'tell whether a username is free',
    load: async () => (await import('./account/manage-account.ts')).accountAvailable
  },
  {
    name: 'account forget',
    arguments: '<user>',
    summary: 'remove an account from this device',
    aliases: ['rm'],
    load: async () => (await import('./account/manage-account.ts')).accountForget
  },
  {
    name: 'account delete',
    summary: 'delete the account from the server, for good',
    flags: [CONFIRM],
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/manage-account.ts')).accountDelete
  },
  {
    name: 'account key',
    summary: 'show the key that logs in on this device',
    flags: [REVEAL],
    secrets: LOGIN_OR_RECOVERY,
    load: async () => (await import('./account/manage-account.ts')).accountKey
  }
]

const QUESTION: CommandFlag = {
  flags: '--question <question>',
  summary: 'what to ask for; one for each answer',
  isRepeatable: true
}

const passwords: readonly CommandSpec[] = [
  {
    name: 'account password set',
    summary: 'change the password',
    flags: [WITH],
    secrets: [...LOGIN_OR_RECOVERY, 'new-password'],
    load: async () => (await import('./account/credentials.ts')).passwordSet
  },
  {
    name: 'account password verify',
    summary: 'tell whether a password is the right one',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).passwordVerify
  },
  {
    name: 'account password remove',
    summary: 'take the password away',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).passwordRemove
  },
  {
    name: 'account password check',
    summary: 'judge a password by the rules, and how long guessing it takes',
    secrets: ['new-password'],
    load: async () => (await import('./account/credentials.ts')).passwordCheck
  }
]

const pins: readonly CommandSpec[] = [
  {
    name: 'account pin set',
    summary: 'change the PIN',
    flags: [WITH],
    secrets: [...LOGIN_OR_RECOVERY, 'new-pin'],
    load: async () => (await import('./account/credentials.ts')).pinSet
  },
  {
    name: 'account pin verify',
    summary: 'tell whether a PIN is the right one',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).pinVerify
  },
  {
    name: 'account pin remove',
    summary: 'take the PIN away',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).pinRemove
  },
  {
    name: 'account pin enable',
    summary: 'let the PIN log in',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).pinEnable
  },
  {
    name: 'account pin disable',
    summary: 'keep the PIN, but let it log in no more',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).pinDisable
  },
  {
    name: 'account pin show',
    summary: 'show the PIN',
    flags: [REVEAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/credentials.ts')).pinShow
  }
]

const recovery: readonly CommandSpec[] = [
  {
    name: 'account recovery choices',
    summary: 'list questions to choose from',
    load: async () => (await import('./account/recovery.ts')).recoveryChoices
  },
  {
    name: 'account recovery questions',
    arguments: '<user>',
    summary: 'show the questions of an account, with its recovery key',
    secrets: ['recovery-key'],
    load: async () => (await import('./account/recovery.ts')).recoveryQuestions
  },
  {
    name: 'account recovery setup',
    summary: 'let answers to questions open the account',
    flags: [QUESTION, REVEAL],
    secrets: [...ANY_LOGIN, 'answers'],
    load: async () => (await import('./account/recovery.ts')).recoverySetup
  },
  {
    name: 'account recovery remove',
    summary: 'let answers open the account no more',
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/recovery.ts')).recoveryRemove
  },
  {
    name: 'account recovery key',
    summary: 'show the recovery key, which goes with the answers',
    flags: [REVEAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('./account/recovery.ts')).recoveryKey
  }
]

/** Credentials: username, password, PIN and recovery. */
export const credentialCommands: readonly CommandSpec[] = [
  {
    name: 'account username set',
    arguments: '<new>',
    summary: 'give the account another username, or a light account its first',
    secrets: [...ANY_LOGIN, 'new-password'],
    load: async () => (await import('./account/manage-account.ts')).usernameSet
  },
  ...passwords,
  ...pins,
  ...recovery
]
