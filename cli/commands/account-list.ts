import type { CommandRun } from '../command.ts'
import { localTime } from '../output/times.ts'
import type { CellLike } from '../output/view.ts'
import { readCurrentAccount } from '../profile/current-account.ts'

/** Lists the accounts that this device knows, last logged-in first. */
export const accountList: CommandRun = async session => {
  const context = await session.context()
  const current = readCurrentAccount(session.paths.session)
  const users = context.localUsers
  return {
    data: {
      accounts: users.map(
        ({ loginId, username, lastLogin, isPinLoginEnabled, isKeyLoginEnabled, voucherId }) => ({
          loginId,
          username: username ?? null,
          lastLogin: lastLogin?.toISOString() ?? null,
          pinEnabled: isPinLoginEnabled,
          keyEnabled: isKeyLoginEnabled,
          voucherId: voucherId ?? null,
          current: loginId === current?.loginId
        })
      )
    },
    view: {
      kind: 'table',
      columns: [
        { title: 'USERNAME' },
        { title: 'LOGIN ID', canShrink: true },
        { title: 'PIN' },
        { title: 'LAST LOGIN' },
        { title: 'STATE' }
      ],
      rows: users.map(({ loginId, username, lastLogin, isPinLoginEnabled, voucherId }) => [
        username ?? '(light)',
        loginId,
        isPinLoginEnabled ? 'on' : 'off',
        lastLogin === undefined ? '' : localTime(lastLogin),
        stateOf(loginId === current?.loginId, voucherId)
      ]),
      empty: 'This device knows no account yet. Make one with: holdfast account create <user>'
    }
  }
}

const stateOf = (isCurrent: boolean, voucherId: string | undefined): CellLike => {
  if (isCurrent) return { text: 'current', tone: 'good' }
  return voucherId === undefined ? '' : { text: 'asked to be let in', tone: 'warn' }
}
