import { normalizeUsername } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'

/** Tells whether a username is free, and how it would be written. */
export const accountAvailable: CommandRun = async (session, user = '') => {
  const username = normalizeUsername(user)
  const context = await session.context()
  const isAvailable = await session.doing('Looking the name up', () => context.usernameAvailable(user))
  return {
    data: { username, available: isAvailable },
    view: {
      kind: 'text',
      lines: [isAvailable ? `"${username}" is free` : `"${username}" is taken`]
    }
  }
}
