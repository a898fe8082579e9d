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
  forgetCurrentAccount(state)
  const name = current.username ?? current.loginId
  return {
    data: { loginId: current.loginId, username: current.username ?? null },
    view: { kind: 'text', lines: [`${name} is logged out; its data stays on this device`] }
  }
}
