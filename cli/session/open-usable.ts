import type { CurrencyWallet, WalletListing } from '../../kernel/index.ts'
import type { Session } from '../session.ts'
import { syncWallets } from './sync-wallets.ts'

/** The wallets of an account, opened and synced as far as that went. */
export interface OpenedWallets {
  readonly wallets: readonly { readonly wallet: CurrencyWallet; readonly listing: WalletListing }[]
  /** Those that no plugin knows. */
  readonly unusable: readonly WalletListing[]
  /** One sentence for each wallet that could not be brought up to date; it is shown as it was. */
  readonly warnings: readonly string[]
}

/** Opens every wallet that is not deleted; one that fails to sync does not keep the others from being shown. */
export const openUsable = async (session: Session): Promise<OpenedWallets> => {
  const account = await session.account()
  const listings = account.listWallets().filter(({ deleted }) => !deleted)
  const known = listings.filter(({ currencyInfo }) => currencyInfo !== undefined)
  const wallets = await Promise.all(
    known.map(async listing => ({ wallet: await account.openWallet(listing.walletId), listing }))
  )
  const warnings = await syncWallets(
    session,
    wallets.map(({ wallet }) => wallet)
  )
  return { wallets, warnings, unusable: listings.filter(({ currencyInfo }) => currencyInfo === undefined) }
}
