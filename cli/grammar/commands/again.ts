import type { CommandFlag } from '../../command.ts'

/** Of every command that pays. */
export const AGAIN: CommandFlag = {
  flags: '--again',
  summary: 'a second payment of the same amount to the payee of an open one is meant'
}
