import type { CommandSpec } from '../session/command.ts'
import { LOGIN_OR_RECOVERY, WITH } from './flags.ts'

/** The commands to start with. */
export const startCommands: readonly CommandSpec[] = [
  {
    name: 'demo',
    summary: 'the one-minute tour: a real wallet on a fake chain, a second device, and a swap',
    flags: [
      { flags: '--keep', summary: 'keep the world of the tour as a profile' },
      { flags: '--speed <speed>', summary: 'how fast it goes', choices: ['fast', 'slow'] }
    ],
    load: async () => (await import('./tools/demo.ts')).demo
  }
]

/** Looking into the wallet. */
export const devtoolsCommands: readonly CommandSpec[] = [
  {
    name: 'devtools',
    arguments: '[recording]',
    summary: 'watch and drive the wallet in a browser on this machine, or look at a recording',
    example: 'devtools --open',
    flags: [
      { flags: '--open', summary: 'open the browser' },
      { flags: '--read-only', summary: 'let the panel look and do nothing' },
      { flags: '--record <file>', summary: 'write what happens into a new file, to be looked at later' },
      { flags: '--html <file>', summary: 'write the recording and its panel into one page, for any browser' },
      { flags: '--port <port>', summary: 'where to listen on 127.0.0.1; any free port if left out' },
      { flags: '--hide-addresses', summary: 'show no addresses and transaction ids, as for screenshots' },
      WITH
    ],
    secrets: LOGIN_OR_RECOVERY,
    isServer: true,
    load: async () => (await import('./tools/devtools.ts')).devtools
  }
]

/** Help. */
export const helpCommands: readonly CommandSpec[] = [
  {
    name: 'help',
    arguments: '[topic...]',
    summary: 'help for a command, or about exit-codes',
    load: async () => (await import('./tools/help.ts')).helpExitCodes
  }
]
