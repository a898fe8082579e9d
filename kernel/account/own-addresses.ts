import { withDeadline } from '../io/deadline.ts'
import type { Services } from '../services.ts'
import type { CurrencyWallet } from '../wallet/currency-wallet.ts'
import { findOwnAddresses } from '../wallet/labels/own-addresses.ts'

/**
 * Which of some addresses are known to belong to one of these wallets: those that were saved, paid to or are shown now.
 *
 * A wallet that cannot tell, or not in time, is reported and holds up nothing.
 */
export const ownAddressesIn = async (
  { io, report }: Services,
  wallets: readonly CurrencyWallet[],
  addresses: ReadonlySet<string>
): Promise<ReadonlySet<string>> => {
  const own = new Set<string>()
  const deadline = { clock: io.clock, milliseconds: WALLET_MS, what: 'Looking for own addresses' }
  const look = async (wallet: CurrencyWallet): Promise<void> => {
    try {
      const found = await withDeadline(deadline, () => findOwnAddresses(wallet, addresses))
      for (const address of found.keys()) own.add(address)
    } catch (error) {
      report(`wallet ${wallet.currencyInfo.pluginId}`, error)
    }
  }
  await Promise.all(wallets.map(look))
  return own
}

const WALLET_MS = 10_000
