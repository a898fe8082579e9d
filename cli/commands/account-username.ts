import { type Account, normalizeUsername } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { rememberAccount } from '../profile/current-account.ts'
import { newPassword } from '../secrets/new-secrets.ts'
import { makeChange } from '../session/make-change.ts'
import type { Session } from '../session.ts'

/** Gives the account another username; a light account gets its first, with a password. */
export const usernameSet: CommandRun = async (session, typed = '') => {
  const username = normalizeUsername(typed)
  const account = await session.account()
  const password = await passwordFor(session, account)
  const before = account.username ?? null
  const result = await makeChange(session, {
    doing: 'Changing the username',
    done: `${before ?? 'The light account'} is now called ${username}`,
    data: { before, username },
    call: () =>
      account.credentials.changeUsername({ username, ...(password === undefined ? {} : { password }) })
  })
  session.adoptAccount(account)
  if (!session.globals.dryRun) rememberAccount(session.paths.session, account)
  return result
}

/** The first password of a light account; else the one that there is, which the new name is a part of. */
const passwordFor = async (session: Session, account: Account): Promise<string | undefined> => {
  const { credentials, username } = account
  if (username === undefined) return newPassword(session, await session.context())
  if (!credentials.hasPassword) return undefined
  return (
    (await session.secrets.given('password')) ??
    session.secrets.ask('password', { message: `Password of ${username}:` })
  )
}
