import { type NativeAmount, nativeAmount, ZERO } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import type { CurrencyInfo, TokenMap } from '../types/currency.ts'
import type { FreshAddress, ParsedUri } from '../types/engine.ts'
import type { PluginId, TokenId } from '../types/ids.ts'
import type { SwapRequestSnapshot } from '../types/snapshots.ts'
import type { QuoteRequest, SwapAsset } from '../types/swap.ts'
import type { SpendInfo, Transaction } from '../types/transaction.ts'
import type { SignOptions } from '../wallet/spend/sign.ts'

/**
 * A request for quotes: two wallets, their assets and an amount.
 *
 * @example
 * ```ts
 * import { type CurrencyWallet, nativeAmount, type SwapRequest } from 'holdfast'
 *
 * declare const litecoinWallet: CurrencyWallet
 * const amount = { nativeAmount: nativeAmount('1000000'), quoteFor: 'from' } as const
 * const request: SwapRequest = { fromWallet: wallet, toWallet: litecoinWallet, ...amount }
 * ```
 */
export interface SwapRequest {
  readonly fromWallet: SwapWallet
  readonly toWallet: SwapWallet
  /** null or absent: the chain's own coin. */
  readonly fromTokenId?: TokenId | null
  readonly toTokenId?: TokenId | null
  /** Native, of the side that `quoteFor` names; without meaning for `max`. */
  readonly nativeAmount: NativeAmount
  readonly quoteFor: 'from' | 'max' | 'to'
}

/** Options for requesting and ranking quotes. */
export interface SwapOptions {
  /** Ranks this provider before all others but transfers. */
  readonly preferPluginId?: PluginId
  readonly preferType?: 'DEX' | 'CEX'
  /** Plugins that this request leaves out. */
  readonly disabled?: readonly string[]
  /** By plugin id. */
  readonly promoCodes?: Readonly<Record<string, string>>
  /** The time to wait while there is a quote; 20 seconds if left out (specification §9). */
  readonly waitMs?: number
}

/** A request that was checked: its wallets, and as providers and as observers see it. */
export interface CheckedRequest {
  readonly fromWallet: SwapWallet
  readonly toWallet: SwapWallet
  readonly request: QuoteRequest
  readonly snapshot: SwapRequestSnapshot
}

/**
 * Checks a request and resolves its assets.
 *
 * @param tokensOf - the tokens of a currency, by its plugin
 * @throws SAME_CURRENCY for an asset against itself within one wallet; TOKEN_NOT_FOUND, also before the currency has
 *   said which tokens it brings; WATCH_ONLY; NO_AMOUNT_SPECIFIED, AMOUNT_INVALID, OPTION_INVALID
 */
export const readRequest = (
  request: SwapRequest,
  tokensOf: (pluginId: PluginId) => TokenMap
): CheckedRequest => {
  const { fromWallet, toWallet, fromTokenId = null, toTokenId = null, quoteFor } = request
  if (!['from', 'max', 'to'].includes(quoteFor))
    throw new WalletError('OPTION_INVALID', { option: 'quoteFor', rule: 'must be from, to or max' })
  if (fromWallet.id === toWallet.id && fromTokenId === toTokenId) throw new WalletError('SAME_CURRENCY', {})
  if (fromWallet.isWatchOnly === true) throw new WalletError('WATCH_ONLY', {})
  const amount = quoteFor === 'max' ? ZERO : amountOf(request.nativeAmount)
  const from = assetOf(fromWallet, fromTokenId, tokensOf)
  const to = assetOf(toWallet, toTokenId, tokensOf)
  return {
    fromWallet,
    toWallet,
    request: Object.freeze({ from, to, nativeAmount: amount, quoteFor }),
    snapshot: Object.freeze({
      fromWalletId: fromWallet.id,
      fromPluginId: from.pluginId,
      fromTokenId,
      fromCurrencyCode: from.currencyCode,
      toWalletId: toWallet.id,
      toPluginId: to.pluginId,
      toTokenId,
      toCurrencyCode: to.currencyCode,
      nativeAmount: amount,
      quoteFor
    })
  }
}

const amountOf = (text: string): NativeAmount => {
  const amount = nativeAmount(text)
  if (amount.startsWith('-')) throw new WalletError('AMOUNT_INVALID', { rule: 'must not be negative' })
  if (amount === ZERO) throw new WalletError('NO_AMOUNT_SPECIFIED', {})
  return amount
}

const assetOf = (
  { currencyInfo }: SwapWallet,
  tokenId: TokenId | null,
  tokensOf: (pluginId: PluginId) => TokenMap
): SwapAsset => {
  const { pluginId } = currencyInfo
  if (tokenId === null) {
    const { currencyCode, denominations } = currencyInfo
    return Object.freeze({
      pluginId,
      tokenId,
      currencyCode,
      multiplier: denominations[0]?.multiplier ?? '1'
    })
  }
  const tokens = tokensOf(pluginId)
  const token = Object.hasOwn(tokens, tokenId) ? tokens[tokenId] : undefined
  if (token === undefined) throw new WalletError('TOKEN_NOT_FOUND', { tokenId })
  const { currencyCode, denominations, networkLocation } = token
  return Object.freeze({
    pluginId,
    tokenId,
    currencyCode,
    multiplier: denominations[0]?.multiplier ?? '1',
    ...compact({ networkLocation })
  })
}

/**
 * The part of {@link CurrencyWallet} that a swap uses; a wallet fits.
 *
 * @example
 * ```ts
 * import type { CurrencyWallet, SwapRequest, SwapWallet } from 'holdfast'
 *
 * const fromWallet: SwapWallet = wallet
 * declare const toWallet: CurrencyWallet
 * declare const nativeAmount: SwapRequest['nativeAmount']
 * const request: SwapRequest = { fromWallet, toWallet, nativeAmount, quoteFor: 'from' }
 * ```
 */
export interface SwapWallet {
  readonly id: string
  readonly currencyInfo: CurrencyInfo
  /** True for a wallet without a private key, which nothing can be swapped from. */
  readonly isWatchOnly?: boolean
  balanceOf(tokenId: TokenId | null): NativeAmount
  getReceiveAddress(options?: { tokenId?: TokenId | null }): Promise<FreshAddress>
  /** Stands for a recipient who is not known yet. */
  sampleAddress(): Promise<string>
  /** @throws ADDRESS_INVALID */
  parseUri(uri: string): Promise<ParsedUri>
  makeSpend(request: SpendInfo): Promise<Transaction>
  getMaxSpendable(request: SpendInfo): Promise<NativeAmount>
  /** Signs, sends and saves, as one journalled action. */
  spend(
    draft: Transaction,
    options?: Pick<SignOptions, 'approval' | 'maxNetworkFee' | 'onSigned' | 'requestedBy'>
  ): Promise<Transaction>
}
