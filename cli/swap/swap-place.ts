import type { CurrencyWallet } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Asset } from '../output/assets.ts'
import { findWallet } from '../session/find-wallet.ts'
import { coinOf, findAsset } from '../session/wallet-assets.ts'
import type { Session } from '../session.ts'

/** One side of a swap: an asset, and the wallet that holds it. */
export interface SwapPlace {
  readonly wallet: CurrencyWallet
  readonly asset: Asset
}

/** Both sides. */
export interface SwapPlaces {
  readonly from: SwapPlace
  readonly to: SwapPlace
}

/**
 * Finds what a person means by `wallet` or `wallet:token`. The name of a wallet may have a colon in it, so that the
 * whole text is tried first.
 *
 * @throws CliError NOT_FOUND, USAGE
 */
export const findPlace = async (session: Session, text: string): Promise<SwapPlace> => {
  const colon = text.lastIndexOf(':')
  try {
    const wallet = await findWallet(session, text)
    return { wallet, asset: coinOf(wallet) }
  } catch (error) {
    if (colon < 1 || !(error instanceof CliError) || error.code !== 'NOT_FOUND') throw error
  }
  const wallet = await findWallet(session, text.slice(0, colon))
  return { wallet, asset: await findAsset(session, wallet, text.slice(colon + 1)) }
}

/** The name of a place for people: `Savings`, or its wallet's id. */
export const placeName = ({ wallet }: SwapPlace): string => wallet.name ?? wallet.id
