import type { NativeAmount } from '../amount.ts'
import type { JsonObject } from './json.ts'
import type { SpendInfo } from './transaction.ts'

/** A swap that the user asks for, as a provider sees it: assets and an amount, no wallets. */
export interface SwapRequest {
  readonly fromPluginId: string
  readonly fromTokenId: string | null
  readonly toPluginId: string
  readonly toTokenId: string | null
  readonly nativeAmount: NativeAmount
  readonly quoteFor: 'from' | 'max' | 'to'
}

/** A provider's offer; data only, the kernel reviews and signs (architecture decision 25). */
export interface SwapOffer {
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  readonly isEstimate: boolean
  readonly expirationDate?: Date
  readonly spends: readonly SpendInfo[]
}

/** Where one swap plugin sees the request and puts its offers. */
export interface QuoteDesk {
  readonly request: SwapRequest
  readonly userSettings: JsonObject
  readonly promoCode?: string
  /** A fresh address of the receiving wallet. */
  depositTo(): Promise<string>
  /** A fresh address of the paying wallet. */
  refundTo(): Promise<string>
  offer(offer: SwapOffer): void
}
