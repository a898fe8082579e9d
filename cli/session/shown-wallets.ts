import type { CurrencyWallet, WalletListing } from '../../kernel/index.ts'
import type { Asset } from '../output/assets.ts'
import type { Session } from '../session.ts'
import { openEach, openResting, openWallet } from './open-wallet.ts'
import { syncWallets } from './sync-wallets.ts'
import { lookedUpAssets } from './wallet-assets.ts'

/** A wallet as a list shows it. */
export interface ShownWallet {
  readonly listing: WalletListing
  /** Undefined where no plugin knows its type, or it cannot be opened. */
  readonly wallet: CurrencyWallet | undefined
  /** What has a balance to show; none of a wallet whose chain is left alone. */
  readonly assets: readonly Asset[]
}

/** Wallets as a list shows them, and one sentence for each that could not be brought up to date. */
export interface ShownWallets {
  readonly shown: readonly ShownWallet[]
  readonly warnings: readonly string[]
}

/** Opens wallets to list them: those in use are brought up to date, those that were put away only tell their names. */
export const showWallets = async (
  session: Session,
  listings: readonly WalletListing[],
  { wantsSync }: { readonly wantsSync: boolean }
): Promise<ShownWallets> => {
  const known = listings.filter(({ currencyInfo }) => currencyInfo !== undefined)
  const opened = await openListed(session, known)
  const isAwake = ({ archived, deleted }: WalletListing): boolean => !archived && !deleted
  const awake = known.flatMap(listing => {
    const wallet = opened.get(listing.walletId)
    return wallet !== undefined && isAwake(listing) ? [wallet] : []
  })
  const warnings = wantsSync ? await syncWallets(session, awake) : []
  const shown = listings.map(async (listing): Promise<ShownWallet> => {
    const wallet = opened.get(listing.walletId)
    return { listing, wallet, assets: wallet === undefined ? [] : await lookedUpAssets(session, wallet) }
  })
  return { shown: await Promise.all(shown), warnings }
}

const openListed = async (
  session: Session,
  listings: readonly WalletListing[]
): Promise<ReadonlyMap<string, CurrencyWallet>> => {
  const putAway = new Set(
    listings.filter(({ archived, deleted }) => archived || deleted).map(({ walletId }) => walletId)
  )
  const wallets = await openEach(
    listings.map(({ walletId }) => walletId),
    walletId => (putAway.has(walletId) ? openResting(session, walletId) : openWallet(session, walletId))
  )
  session.signal.throwIfAborted()
  return new Map(
    listings.flatMap(({ walletId }, at) => {
      const wallet = wallets[at]
      return wallet === undefined ? [] : [[walletId, wallet] as const]
    })
  )
}
