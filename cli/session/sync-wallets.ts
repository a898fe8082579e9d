import type { CurrencyWallet } from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import type { Session } from '../session.ts'

/** Lets wallets see their chains; gives one sentence for each that could not, and is shown as it was. */
export const syncWallets = async (
  session: Session,
  wallets: readonly CurrencyWallet[]
): Promise<readonly string[]> => {
  const warnings: string[] = []
  await Promise.all(
    wallets.map(wallet =>
      session.synced(wallet).catch((error: unknown) => {
        if (session.signal.aborted) throw error
        warnings.push(`${wallet.name ?? wallet.id}: ${failureOf(error).message}`)
      })
    )
  )
  return warnings
}
