import type { CurrencyWallet } from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import type { Session } from '../session.ts'

/** The payment is out and safe here; if its record cannot be uploaded now, that is a warning. */
export const saveEverywhere = async (
  session: Session,
  wallet: CurrencyWallet
): Promise<readonly string[]> => {
  session.talk.step('syncing…')
  try {
    await session.within('Syncing', () => wallet.sync())
    return []
  } catch (error) {
    return [`the payment is sent, but its record is not on the server yet: ${failureOf(error).message}`]
  }
}
