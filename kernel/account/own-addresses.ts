import type { CurrencyWallet } from '../wallet/currency-wallet.ts'
import { findOwnAddresses } from '../wallet/labels/own-addresses.ts'

/** Which of some addresses of a currency are known to belong to one of these wallets. */
export const ownAddressesIn = async (
  wallets: readonly CurrencyWallet[],
  currencyPluginId: string,
  addresses: ReadonlySet<string>
): Promise<ReadonlySet<string>> => {
  const found = await Promise.all(
    wallets
      .filter(({ currencyInfo }) => currencyInfo.pluginId === currencyPluginId)
      .map(wallet => findOwnAddresses(wallet, addresses))
  )
  return new Set(found.flatMap(own => [...own.keys()]))
}
