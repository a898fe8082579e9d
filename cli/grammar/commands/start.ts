import type { CommandSpec } from '../../command.ts'

/** The commands to start with. */
export const startCommands: readonly CommandSpec[] = [
  {
    name: 'demo',
    summary: 'the one-minute tour: a real wallet on a fake chain, a second device, and a swap',
    flags: [
      { flags: '--keep', summary: 'keep the world of the tour as a profile' },
      { flags: '--speed <speed>', summary: 'how fast it goes', choices: ['fast', 'slow'] }
    ],
    load: async () => (await import('../../commands/demo.ts')).demo
  }
]
