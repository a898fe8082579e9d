import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { ANY_LOGIN } from './flags.ts'

const MESSAGE: readonly CommandFlag[] = [
  { flags: '--message <text>', summary: 'the text, letter for letter' },
  { flags: '--file <file>', summary: 'a file with the text, to its last byte' },
  { flags: '--value-stdin', summary: 'read the text from standard input, without its last line break' }
]

/** Texts that the key of an address signs. */
export const messageCommands: readonly CommandSpec[] = [
  {
    name: 'message sign',
    arguments: '<wallet>',
    summary: 'sign a text with the key of an address',
    example: 'message sign Savings --message "I am Alice"',
    flags: [
      ...MESSAGE,
      { flags: '--address <address>', summary: 'an address of the wallet; default: the one to receive on' },
      {
        flags: '--format <format>',
        summary: 'the form of the signature; default: legacy, and bip322 for taproot',
        choices: ['legacy', 'bip322']
      }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./messages/messages.ts')).messageSign
  },
  {
    name: 'message verify',
    readsOnly: true,
    arguments: '<currency> <address> <signature>',
    summary: 'verify the signature of a text; needs no account',
    example: 'message verify bitcoin bc1q9vza smpAkcw= --message Hello',
    flags: MESSAGE,
    load: async () => (await import('./messages/messages.ts')).messageVerify
  }
]
