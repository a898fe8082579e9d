import type { NativeAmount } from '../base/amount.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import type { QuoteSnapshot, SwapRequestSnapshot } from '../types/snapshots.ts'
import {
  type ApproveOptions,
  approveQuote,
  type Deal,
  hasPassed,
  type SwapInfo,
  type SwapResult
} from './approval.ts'
import { compareQuotes, type RankWishes } from './ranking.ts'

/** Where a quote stands in its round. `rank`: from 1 on; `reason`: what puts it before the quote behind it. */
export interface QuotePlace {
  readonly rank: number
  readonly reason: string | undefined
}

/** What a quote is made of. */
export interface QuoteParts extends Omit<Deal, 'checkOpen' | 'sending'> {
  readonly quoteId: string
  readonly snapshot: SwapRequestSnapshot
  /** Its fate is another one. */
  changed(quote: SwapQuote): void
  /** It is about to be signed. @throws QUOTE_ENDED while another one of the round is */
  paying(quote: SwapQuote): void
  /** It was paid for, or may have been; or nothing has left. */
  paid(quote: SwapQuote, hasLeft: boolean): void
  /** Where it stands among the quotes of the round; undefined before it is shown. */
  placeOf(quote: SwapQuote): QuotePlace | undefined
}

/** What a provider offers, to be approved or closed (specification §3 "Swap quote"). Amounts are native. */
export class SwapQuote {
  readonly quoteId: string
  readonly pluginId: string
  readonly request: SwapRequestSnapshot
  readonly swapInfo: SwapInfo
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  /** The least that arrives of an estimate, where the provider promises it. */
  readonly minReceiveAmount?: NativeAmount
  /** In the paying chain's own coin; the review has the exact one. */
  readonly networkFee: { readonly currencyCode: string; readonly nativeAmount: NativeAmount }
  readonly isEstimate: boolean
  readonly canBePartial: boolean
  readonly expirationDate?: Date
  readonly maxFulfillmentSeconds?: number
  readonly #parts: QuoteParts
  #fate: QuoteSnapshot['fate']
  #isApproving = false

  constructor(parts: QuoteParts) {
    const { offer, swapInfo, fromWallet } = parts
    const { minReceiveAmount, expiresAt, maxFulfillmentSeconds } = offer
    this.#parts = parts
    this.quoteId = parts.quoteId
    this.pluginId = swapInfo.pluginId
    this.request = parts.snapshot
    this.swapInfo = swapInfo
    this.fromNativeAmount = offer.fromNativeAmount
    this.toNativeAmount = offer.toNativeAmount
    if (minReceiveAmount !== undefined) this.minReceiveAmount = minReceiveAmount
    this.networkFee = Object.freeze({
      currencyCode: fromWallet.currencyInfo.currencyCode,
      nativeAmount: offer.networkFee
    })
    this.isEstimate = offer.isEstimate
    this.canBePartial = offer.canBePartial
    if (expiresAt !== undefined) this.expirationDate = new Date(expiresAt)
    if (maxFulfillmentSeconds !== undefined) this.maxFulfillmentSeconds = maxFulfillmentSeconds
  }

  get isDex(): boolean {
    return this.swapInfo.isDex
  }

  /** What has become of it; undefined while it can be approved. */
  get fate(): QuoteSnapshot['fate'] {
    return this.#fate
  }

  /** What puts it before the quote behind it, in words; the last one has nothing to say. */
  get rankReason(): string | undefined {
    return this.#parts.placeOf(this)?.reason
  }

  /** Its place among the quotes of the round, from 1 on; undefined before it is shown. */
  get rank(): number | undefined {
    return this.#parts.placeOf(this)?.rank
  }

  /**
   * Pays, once: the order is made and checked, reviewed, signed and sent, and its record saved with the transaction.
   * An approval that fails ends the quote; the others of the round end with one that succeeds.
   *
   * @throws QUOTE_ENDED; SWAP_CHANGED, MAX_FEE before anything is signed; what a spend can meet
   */
  async approve(options: ApproveOptions = {}): Promise<SwapResult> {
    this.#checkOpen()
    const { clock, offer } = this.#parts
    if (this.#isApproving) throw this.#ended('approved')
    if (hasPassed(offer.expiresAt, clock)) {
      this.#end('expired')
      throw this.#ended('expired')
    }
    this.#isApproving = true
    try {
      const result = await approveQuote(
        { ...this.#parts, checkOpen: () => this.#checkOpen(), sending: () => this.#sending() },
        options
      )
      this.#parts.paid(this, true)
      return result
    } catch (error) {
      this.#failed(error)
      throw error
    }
  }

  /** Gives it up; a second call does nothing. */
  async close(): Promise<void> {
    if (this.#fate === undefined) this.#end('closed')
  }

  /**
   * Whether another offer of the same provider takes its place: one that is no worse, or any once it has ended; none
   * while it is being approved, or when it was.
   */
  yieldsTo(other: SwapQuote, wishes: RankWishes): boolean {
    const { offer, clock } = this.#parts
    if (this.#fate === 'approved' || (this.#fate === undefined && this.#isApproving)) return false
    const hasEnded = this.#fate !== undefined || hasPassed(offer.expiresAt, clock)
    return hasEnded || compareQuotes(other, this, wishes) <= 0
  }

  #checkOpen(): void {
    if (this.#fate !== undefined) throw this.#ended(this.#fate)
  }

  #sending(): void {
    this.#parts.paying(this)
    this.#end('approved')
  }

  #failed(error: unknown): void {
    // Bytes that may have left have been approved, also those that a server refused; any other failure means that nothing was paid.
    const isSent = isWalletError(error, 'BROADCAST_UNKNOWN') || isWalletError(error, 'BROADCAST_REFUSED')
    const hasLeft = this.#fate === 'approved' && isSent
    this.#parts.paid(this, hasLeft)
    if (hasLeft) return
    const isLate = isWalletError(error, 'QUOTE_ENDED') && error.details.reason === 'expired'
    this.#end(isLate ? 'expired' : 'closed')
  }

  #ended(reason: 'expired' | 'approved' | 'closed'): WalletError {
    return new WalletError('QUOTE_ENDED', { pluginId: this.pluginId, reason })
  }

  #end(fate: NonNullable<QuoteSnapshot['fate']>): void {
    if (this.#fate === fate) return
    this.#fate = fate
    this.#parts.changed(this)
  }
}
