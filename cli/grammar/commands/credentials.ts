import type { CommandFlag, CommandSpec } from '../../command.ts'
import { ANY_LOGIN, LOGIN_OR_RECOVERY, REVEAL, WITH } from './any-login.ts'

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
    load: async () => (await import('../../commands/account-password.ts')).passwordSet
  },
  {
    name: 'account password verify',
    summary: 'tell whether a password is the right one',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/account-password.ts')).passwordVerify
  },
  {
    name: 'account password remove',
    summary: 'take the password away',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/account-password.ts')).passwordRemove
  },
  {
    name: 'account password check',
    summary: 'judge a password by the rules, and how long guessing it takes',
    secrets: ['new-password'],
    load: async () => (await import('../../commands/account-password.ts')).passwordCheck
  }
]

const pins: readonly CommandSpec[] = [
  {
    name: 'account pin set',
    summary: 'change the PIN',
    flags: [WITH],
    secrets: [...LOGIN_OR_RECOVERY, 'new-pin'],
    load: async () => (await import('../../commands/account-pin.ts')).pinSet
  },
  {
    name: 'account pin verify',
    summary: 'tell whether a PIN is the right one',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/account-pin.ts')).pinVerify
  },
  {
    name: 'account pin remove',
    summary: 'take the PIN away',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/account-pin.ts')).pinRemove
  },
  {
    name: 'account pin enable',
    summary: 'let the PIN log in',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/account-pin.ts')).pinEnable
  },
  {
    name: 'account pin disable',
    summary: 'keep the PIN, but let it log in no more',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/account-pin.ts')).pinDisable
  },
  {
    name: 'account pin show',
    summary: 'show the PIN',
    flags: [REVEAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/account-pin.ts')).pinShow
  }
]

const recovery: readonly CommandSpec[] = [
  {
    name: 'account recovery choices',
    summary: 'list questions to choose from',
    load: async () => (await import('../../commands/account-recovery.ts')).recoveryChoices
  },
  {
    name: 'account recovery questions',
    arguments: '<user>',
    summary: 'show the questions of an account, with its recovery key',
    secrets: ['recovery-key'],
    load: async () => (await import('../../commands/account-recovery.ts')).recoveryQuestions
  },
  {
    name: 'account recovery setup',
    summary: 'let answers to questions open the account',
    flags: [QUESTION, REVEAL],
    secrets: [...ANY_LOGIN, 'answers'],
    load: async () => (await import('../../commands/account-recovery.ts')).recoverySetup
  },
  {
    name: 'account recovery remove',
    summary: 'let answers open the account no more',
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/account-recovery.ts')).recoveryRemove
  },
  {
    name: 'account recovery key',
    summary: 'show the recovery key, which goes with the answers',
    flags: [REVEAL],
    secrets: ANY_LOGIN,
    load: async () => (await import('../../commands/account-recovery.ts')).recoveryKey
  }
]

/** What opens an account, and how it is changed. */
export const credentialCommands: readonly CommandSpec[] = [
  {
    name: 'account username set',
    arguments: '<new>',
    summary: 'give the account another username, or a light account its first',
    secrets: [...ANY_LOGIN, 'new-password'],
    load: async () => (await import('../../commands/account-username.ts')).usernameSet
  },
  ...passwords,
  ...pins,
  ...recovery
]
