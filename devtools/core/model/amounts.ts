import { NATIVE_UNITS } from '../../../app/format/amounts.ts'
import type { AmountUnits, PluginId, TokenId, TokenSnapshot, WalletId } from '../../../kernel/index.ts'
import { memoize } from './derive.ts'
import type { View } from './slices.ts'

/** The asset of an amount: the coin of a wallet's chain, or a token of it. */
export interface AssetRef {
  readonly walletId: WalletId
  /** null, or left out: the coin. */
  readonly tokenId?: TokenId | null | undefined
  /** The wallet's currency, for where the wallet may have left its table. */
  readonly pluginId?: PluginId
}

/** Returns the units of an asset from the tables; native units if they do not list it (pure). */
export const unitsOf = (view: View, { walletId, tokenId = null, pluginId }: AssetRef): AmountUnits => {
  const wallet = view.wallets.get(walletId)
  if (tokenId === null) return view.plugins.get(wallet?.pluginId ?? pluginId ?? '')?.currency ?? NATIVE_UNITS
  return (wallet && tokensById(wallet.tokens).get(tokenId)) ?? NATIVE_UNITS
}

/** A wallet may have thousands. */
const tokensById = memoize(
  (tokens: readonly TokenSnapshot[]): ReadonlyMap<string, AmountUnits> =>
    new Map(tokens.map(token => [token.tokenId, token]))
)
