import { shellWord } from '../../devtools/core/shell-word.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { forgetCurrentAccount, readCurrentAccount } from '../profile/current-account.ts'

/** Forgets which account is the current one; its data stays on this device. */
export const logout: CommandRun = async (session, user) => {
  const { session: state } = session.paths
  const current = readCurrentAccount(state)
  const isCurrent =
    user === undefined || user === current?.loginId || user.trim().toLowerCase() === current?.username
  if (current === undefined || !isCurrent) {
    throw new CliError(
      'NOT_LOGGED_IN',
      `${user ?? 'No account'} is ${user === undefined ? '' : 'not '}logged in`
    )
  }
  const name = current.username ?? current.loginId
  const { localUsers } = await session.context()
  const local = localUsers.find(({ loginId }) => loginId === current.loginId)
  const hasPin = local?.isPinLoginEnabled === true
  // A light account is on no other device, and nobody can type its name.
  const isLost = current.username === undefined && current.isEdgeLogin !== true && !hasPin
  forgetCurrentAccount(state)
  return {
    data: { loginId: current.loginId, username: current.username ?? null, pinEnabled: hasPin },
    warnings: isLost ? ['This light account has no PIN: only its login key opens it again'] : [],
    view: {
      kind: 'text',
      lines: [
        `${name} is logged out; its data stays on this device`,
        `Log in again with: holdfast login ${shellWord(name)}${hasPin ? ' --with pin' : isLost ? ' --with key' : ''}`
      ]
    }
  }
}
