import type { CurrencyWallet } from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import type { Session } from '../session.ts'
import { behindText } from './until-synced.ts'

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
        warnings.push(warningOf(wallet, error))
      })
    )
  )
  return warnings
}

const warningOf = (wallet: CurrencyWallet, error: unknown): string => {
  const { code, message } = failureOf(error)
  if (code === 'WALLET_BEHIND') return `${message}; what is shown is what this device knew before`
  if (code === 'DEADLINE') return `${behindText(wallet)}; what is shown is what this device knew before`
  return `${wallet.name ?? wallet.id}: ${message}`
}
