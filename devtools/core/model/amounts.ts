import {
  type AmountUnits,
  amountText,
  isNativeAmount,
  isWalletError,
  type NativeAmount,
  type PluginId,
  parseAmount,
  type TokenId,
  type TokenSnapshot,
  type WalletId
} from '../../../kernel/index.ts'
import { memoize } from './derive.ts'
import type { View } from './slices.ts'

/** Whole native units, for an asset that no table lists. */
export const NATIVE_UNITS: AmountUnits = {
  currencyCode: 'native',
  displayName: 'native units',
  denominations: []
}

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

/** An amount as people write it, such as `0.5 BTC`; text that is no amount stays as it is (pure). */
export const amountIn = (native: string, units: AmountUnits): string =>
  isNativeAmount(native) ? amountText(native, units) : native

/** An amount that was typed: what it is, or what is wrong with it. */
export type TypedAmount =
  | { readonly native: NativeAmount; readonly error?: undefined }
  | { readonly native?: undefined; readonly error: string }

/** Reads an amount above zero as the command line does: `0.5`, `0.5 BTC` or `50000000 native`. Never throws (pure). */
export const readAmount = (text: string, units: AmountUnits): TypedAmount => {
  try {
    const native = parseAmount(text, units)
    return native === '0' ? { error: 'The amount must be above zero' } : { native }
  } catch (error) {
    return { error: isWalletError(error, 'AMOUNT_INVALID') ? error.message : 'This is not an amount' }
  }
}
