import type { Account } from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import type { Session } from '../session.ts'

/** An account as the server has it now, or, with a warning, as this device knew it. */
export interface RefreshedAccount {
  readonly account: Account
  readonly warnings: readonly string[]
}

/** Logs in and asks the server for news: a password opens the account without it. */
export const refreshedAccount = async (session: Session): Promise<RefreshedAccount> => {
  const account = await session.account()
  if (session.globals.offline) return { account, warnings: [] }
  try {
    await session.doing('Looking for news', () => account.sync())
    return { account, warnings: [] }
  } catch (error) {
    if (session.signal.aborted) throw error
    return { account, warnings: [`this is what this device knew: ${failureOf(error).message}`] }
  }
}
