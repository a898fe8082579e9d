import type { CurrencyWallet } from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import type { Session } from '../session.ts'

/** Brings what was written to the account, or to one wallet, to the server; what is only here for now is a warning. */
export const upload = async (session: Session, wallet?: CurrencyWallet): Promise<readonly string[]> => {
  if (session.globals.offline) return []
  const place = wallet ?? (await session.account())
  try {
    await session.doing('Syncing', () => place.sync())
    return []
  } catch (error) {
    if (session.signal.aborted) throw error
    return [`it is safe here, but not on the server yet: ${failureOf(error).message}`]
  }
}
