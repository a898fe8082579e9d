import type { NativeAmount } from '../base/amount.ts'
import type { JsonObject } from '../base/json.ts'
import type { AbortSignalLike } from '../io/io.ts'
import type { PluginId, TokenId, Txid } from './ids.ts'
import type { SpendInfo } from './transaction.ts'

/** One side of a swap, as a provider sees it: an asset, and no wallet. */
export interface SwapAsset {
  /** Of the currency plugin. */
  readonly pluginId: PluginId
  /** null: the chain's own coin. */
  readonly tokenId: TokenId | null
  readonly currencyCode: string
  /** Native units in one, such as `100000000`. */
  readonly multiplier: string
  /** The location of the token on its chain, such as `{ contractAddress }`; absent for a coin. */
  readonly networkLocation?: JsonObject
}

/** A swap that the user asks for, as a provider sees it: assets and an amount. */
export interface QuoteRequest {
  readonly from: SwapAsset
  readonly to: SwapAsset
  /** Of `from`, or of `to` where `quoteFor` is `to`; means nothing for `max`. */
  readonly nativeAmount: NativeAmount
  readonly quoteFor: 'from' | 'max' | 'to'
}

/** The payments that a provider asks for; the amounts are those that it commits to now. */
export interface SwapOrder {
  /** Paid one after another; the last one is the swap, those before it are approvals of a token. */
  readonly spends: readonly SpendInfo[]
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  readonly expirationDate?: Date
  readonly orderId?: string
  /** The page on which the user can follow the order. */
  readonly orderUri?: string
}

/** A provider's offer; data only, the kernel reviews and signs (architecture decision 25). */
export interface SwapOffer {
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  /** Less than `toNativeAmount` may arrive. */
  readonly isEstimate: boolean
  /** The provider may swap a part and return the rest. */
  readonly canBePartial?: boolean
  /** The least that arrives of an estimate, if the provider promises it. */
  readonly minReceiveAmount?: NativeAmount
  /** After it the offer cannot be approved. */
  readonly expirationDate?: Date
  readonly maxFulfillmentSeconds?: number
  /** In native units of the paying chain's own coin, as {@link QuoteContext.feeFor} gave it. */
  readonly networkFee: NativeAmount
  /**
   * The payment on approval: known already, or ordered from the provider then, once and within 30 seconds. By then the
   * context's signal may have been aborted, as the round has ended; its addresses and fees can still be used.
   */
  readonly payment: { readonly spends: readonly SpendInfo[] } | { order(): Promise<SwapOrder> }
}

/**
 * The context of a swap plugin: the request, and the way to make offers.
 *
 * @example
 * ```ts
 * import { nativeAmount, type QuoteContext } from 'holdfast/plugin'
 *
 * const answer = async (context: QuoteContext) => {
 *   const { nativeAmount: fromNativeAmount } = context.request
 *   const spends = [{ tokenId: null, spendTargets: [{ nativeAmount: fromNativeAmount }] }]
 *   const networkFee = await context.feeFor(spends)
 *   const toNativeAmount = nativeAmount('740000')
 *   context.offer({ fromNativeAmount, toNativeAmount, isEstimate: true, networkFee, payment: { spends } })
 * }
 * ```
 */
export interface QuoteContext {
  readonly request: QuoteRequest
  /** The settings that the user has given this plugin. */
  readonly userSettings: JsonObject
  readonly promoCode?: string
  /** Aborted when no caller waits any more. */
  readonly signal: AbortSignalLike
  /** An address of the receiving wallet, the same each time. */
  depositTo(): Promise<string>
  /** An address of the paying wallet, the same each time. */
  refundTo(): Promise<string>
  /**
   * Returns the network fee of some spends, in native units of the chain's own coin. A target without an address
   * stands for an address of this chain that is not known yet.
   *
   * @throws INSUFFICIENT_FUNDS, PENDING_FUNDS, DUST_SPEND and the other errors of a spend
   */
  feeFor(spends: readonly SpendInfo[]): Promise<NativeAmount>
  /** Returns the most that the first target of a spend can get; a target without an address as in {@link feeFor}. */
  maxFrom(spend: SpendInfo): Promise<NativeAmount>
  /** Adds an offer; the round shows it at once. A better one of the same plugin takes its place. */
  offer(offer: SwapOffer): void
}

/**
 * How far an order of a swap is, as its exchange says.
 *
 * `waiting`: no payment was seen. `seen`: it waits for confirmations. `exchanging`, `sending`: the payout is due, or on its
 * way. `paidOut`, `refunded`: the end. `failed`: the exchange gave up, and a person has to ask it. `late`: the order ended
 * before it was paid. `unknown`: the exchange does not know the order.
 */
export type OrderState =
  | 'waiting'
  | 'seen'
  | 'exchanging'
  | 'sending'
  | 'paidOut'
  | 'refunded'
  | 'failed'
  | 'late'
  | 'unknown'

/**
 * An order that was paid for, as the plugin of its exchange sees it when it is asked how far that is.
 *
 * @example
 * ```ts
 * import type { OrderReport, WatchedOrder } from 'holdfast/plugin'
 *
 * declare const stateAtShop: (orderId: string) => Promise<OrderReport['state'] | undefined>
 * const watch = async ({ orderId }: WatchedOrder): Promise<OrderReport> => {
 *   const state = orderId === undefined ? undefined : await stateAtShop(orderId)
 *   return { state: state ?? 'unknown' }
 * }
 * ```
 */
export interface WatchedOrder {
  /** Absent where the exchange gave none, as a network that goes by the payment alone. */
  readonly orderId?: string
  /** The transaction that pays for the order. */
  readonly txid: Txid
  /** The currency plugin of the chain on which it was paid. */
  readonly fromPluginId: PluginId
  /** When it was paid, in Unix milliseconds. */
  readonly paidAt: number
  readonly payoutAddress: string
  readonly refundAddress?: string
  /** The settings that the user has given this plugin. */
  readonly userSettings: JsonObject
  /** Aborted when the answer is not wanted any more. */
  readonly signal: AbortSignalLike
}

/** The answer of a swap plugin about an order. The kernel checks it, and keeps no more than this. */
export interface OrderReport {
  readonly state: OrderState
  /** The transaction that pays out, if the exchange says which. Only of `sending` and `paidOut`. */
  readonly payoutTxid?: Txid | undefined
  /** The transaction that went back. Only of `refunded`. */
  readonly refundTxid?: Txid | undefined
}
