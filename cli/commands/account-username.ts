import { normalizeUsername, WalletError } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { rememberAccount } from '../profile/current-account.ts'
import { newPassword } from '../secrets/new-secrets.ts'
import { makeChange } from '../session/make-change.ts'

/** Gives the account another username; a light account gets its first, with a password. */
export const usernameSet: CommandRun = async (session, typed = '') => {
  const username = normalizeUsername(typed)
  const account = await session.account()
  const isLight = account.username === undefined
  const context = await session.context()
  if (!(await session.doing('Looking the name up', () => context.usernameAvailable(username)))) {
    throw new WalletError('ACCOUNT_EXISTS', {})
  }
  const password = isLight
    ? await newPassword(session, context)
    : ((await session.secrets.given('password')) ??
      (await session.secrets.ask('password', { message: `Password of ${account.username}:` })))
  const before = account.username ?? null
  const result = await makeChange(session, {
    doing: 'Changing the username',
    done: `${before ?? 'The light account'} is now called ${username}`,
    data: { before, username },
    call: () => account.credentials.changeUsername({ username, password })
  })
  session.adoptAccount(account)
  if (!session.globals.dryRun) rememberAccount(session.paths.session, account)
  return result
}
