import type { SecretName } from '../secrets/secret-sources.ts'
import type { CommandFlag } from '../session/command.ts'

/** The secrets of a command that logs in: a password, a PIN or a login key, and the code of a second factor. */
export const ANY_LOGIN: readonly SecretName[] = ['password', 'pin', 'login-key', 'otp']

/** The secrets of a command for an owner who has lost a credential. */
export const LOGIN_OR_RECOVERY: readonly SecretName[] = [...ANY_LOGIN, 'otp-key', 'recovery-key', 'answers']

/** Chooses the login method. */
export const WITH: CommandFlag = {
  flags: '--with <method>',
  summary: 'the login method; default: by the given secret, the PIN or the password',
  choices: ['password', 'pin', 'recovery', 'key']
}

/** Prints secrets. */
export const REVEAL: CommandFlag = { flags: '--reveal', summary: 'print the secret' }

/** Answers a confirmation that has to be typed. */
export const CONFIRM: CommandFlag = {
  flags: '--confirm <name>',
  summary: 'the name that the confirmation asks for; needed with --yes'
}

/** The flag of each command that pays. */
export const AGAIN_FLAG: CommandFlag = {
  flags: '--again',
  summary: 'pay although an open payment pays the same amount to the same payee'
}

/** Selects a token of a wallet. */
export const TOKEN: CommandFlag = { flags: '--token <token>', summary: 'a token, by its id or code' }

/** Writes a private file. */
export const OUTPUT: readonly CommandFlag[] = [
  { flags: '-o, --output <file>', summary: 'a new file that only its owner can read' },
  { flags: '--force', summary: 'replace the file' }
]
