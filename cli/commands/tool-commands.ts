import type { CommandCatalogue, CommandSpec } from '../session/command.ts'
import { LOGIN_OR_RECOVERY, WITH } from './flags.ts'

/** The commands to start with. */
export const startCommands: readonly CommandSpec[] = [
  {
    name: 'demo',
    summary: 'the one-minute tour: a real wallet on a fake chain, a second device, and a swap',
    flags: [
      { flags: '--keep', summary: 'keep the world of the tour as a profile' },
      { flags: '--speed <speed>', summary: 'the speed', choices: ['fast', 'slow'] },
      {
        flags: '--network <network>',
        summary: 'the chain: fake, or regtest with a real Litecoin node on this computer',
        choices: ['fake', 'regtest']
      }
    ],
    runsAlone: true,
    load: async () => (await import('./tools/demo.ts')).demo
  }
]

/** Looking into the wallet. */
export const devtoolsCommands: readonly CommandSpec[] = [
  {
    name: 'devtools',
    arguments: '[recording]',
    summary: 'watch and control the wallet in a browser on this machine, or show a recording',
    example: 'devtools --open',
    flags: [
      { flags: '--open', summary: 'open the browser' },
      { flags: '--read-only', summary: 'show everything, but turn all actions off' },
      { flags: '--record <file>', summary: 'record all events into a new file' },
      { flags: '--html <file>', summary: 'write the recording and its panel into one page, for any browser' },
      { flags: '--port <port>', summary: 'the port on 127.0.0.1; default: any free port' },
      {
        flags: '--hide-addresses',
        summary: 'hide addresses and transaction ids, for example for screenshots'
      },
      WITH
    ],
    secrets: LOGIN_OR_RECOVERY,
    isServer: true,
    load: async () => (await import('./tools/devtools.ts')).devtools
  }
]

/** Help, and what a shell completes. @param catalogue - gives all commands, these included */
export const helpCommands = (catalogue: () => CommandCatalogue): readonly CommandSpec[] => [
  {
    name: 'completion',
    readsOnly: true,
    arguments: '<shell>',
    summary: 'print a script that completes commands and flags in bash, zsh or fish',
    example: 'completion bash',
    load: async () => (await import('./tools/completion.ts')).completionOf(catalogue())
  },
  {
    name: 'help',
    readsOnly: true,
    arguments: '[topic...]',
    summary: 'help for a command, or about exit-codes; with --json for programs',
    load: async () => (await import('./tools/help.ts')).helpOf(catalogue())
  }
]
