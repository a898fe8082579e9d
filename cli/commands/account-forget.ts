import { WalletError } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { forgetCurrentAccount, readCurrentAccount } from '../profile/current-account.ts'
import { confirm } from '../session/confirm.ts'
import { targetOf } from '../session/login-target.ts'

/** Removes an account from this device; the account itself is untouched. */
export const accountForget: CommandRun = async (session, user = '') => {
  const context = await session.context()
  const { local, name } = targetOf(context, { username: user }, user)
  if (local === undefined) throw new WalletError('USER_NOT_ON_DEVICE', {})
  const { loginId, username = null } = local
  if (loginId === readCurrentAccount(session.paths.session)?.loginId)
    throw new WalletError('USER_LOGGED_IN', {})
  if (session.globals.dryRun)
    return resultOf(`${name} would be removed from this device`, { loginId, username })
  await confirm(session, {
    question: `Remove ${name} from this device? Without its password it cannot be opened here again.`,
    summary: { loginId, username }
  })
  await context.forgetAccount({ loginId })
  if (readCurrentAccount(session.paths.session)?.loginId === loginId)
    forgetCurrentAccount(session.paths.session)
  return resultOf(`${name} is removed from this device`, { loginId, username })
}

const resultOf = (line: string, data: { readonly loginId: string; readonly username: string | null }) => ({
  data,
  view: { kind: 'text', lines: [line] } as const
})
