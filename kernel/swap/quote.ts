import type { NativeAmount } from '../base/amount.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import type { PluginId } from '../types/ids.ts'
import type { QuoteSnapshot, SwapRequestSnapshot } from '../types/snapshots.ts'
import {
  type ApprovalContext,
  type ApproveOptions,
  confirmPayment,
  hasPassed,
  pay,
  preparePayment,
  type SwapInfo,
  type SwapResult
} from './approval.ts'
import { compareQuotes, type RankPreferences } from './ranking.ts'

/** The rank of a quote in its round, from 1 on, and the reason that puts it before the next one. */
export interface QuoteRank {
  readonly rank: number
  readonly reason: string | undefined
}

/** A quote, as far as the gate knows it. */
type Payable = Pick<SwapQuote, 'pluginId'>

/**
 * The payments of a round: it pays for one swap. One quote at a time may be signed and sent, and none once a payment has
 * left, or may have.
 */
export class PaymentGate {
  /** Resolves when a payment has left, or may have. */
  readonly paid: Promise<void>
  #paying: Payable | undefined
  #isPaid = false
  #resolve: () => void = () => {}

  constructor() {
    this.paid = new Promise(resolve => {
      this.#resolve = resolve
    })
  }

  /** Lets a quote be paid. @throws QUOTE_ENDED while another one is, and once one was */
  begin(quote: Payable): void {
    if (this.#isPaid || this.#paying !== undefined)
      throw new WalletError('QUOTE_ENDED', { pluginId: quote.pluginId, reason: 'closed' })
    this.#paying = quote
  }

  /**
   * Lets the next quote be paid if nothing of this one has left; else the gate stays shut. Does nothing for a quote that it
   * has not let through.
   */
  end(quote: Payable, hasLeft: boolean): void {
    if (this.#paying !== quote) return
    this.#paying = undefined
    if (!hasLeft) return
    this.#isPaid = true
    this.#resolve()
  }
}

export interface SwapQuoteOptions extends ApprovalContext {
  readonly quoteId: string
  /** Shared by the quotes of a round. */
  readonly gate: PaymentGate
  /** Of the quotes of the round that are shown. */
  readonly ranks: ReadonlyMap<SwapQuote, QuoteRank>
  /** Its fate is another one. */
  onChange(quote: SwapQuote): void
}

/**
 * The offer of a provider, to be approved or closed (specification §3 "Swap quote"). Amounts are native.
 *
 * @example
 * ```ts
 * import type { SwapRequest } from 'holdfast'
 *
 * declare const request: SwapRequest
 * const quote = await account.fetchSwapQuote(request)
 * console.log(quote.swapInfo.displayName, quote.toNativeAmount, quote.networkFee.nativeAmount)
 * const { transaction } = await quote.approve({ confirm: async review => review.unusualFees.length === 0 })
 * ```
 */
export class SwapQuote {
  readonly quoteId: string
  readonly pluginId: PluginId
  readonly request: SwapRequestSnapshot
  readonly swapInfo: SwapInfo
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  /** The least that arrives of an estimate, if the provider promises it. */
  readonly minReceiveAmount?: NativeAmount
  /** In the paying chain's own coin; the review has the exact one. */
  readonly networkFee: { readonly currencyCode: string; readonly nativeAmount: NativeAmount }
  readonly isEstimate: boolean
  readonly canBePartial: boolean
  readonly expirationDate?: Date
  readonly maxFulfillmentSeconds?: number
  readonly #options: SwapQuoteOptions
  #fate: QuoteSnapshot['fate']
  #isApproving = false

  constructor(options: SwapQuoteOptions) {
    const { offer, swapInfo, swap } = options
    const { minReceiveAmount, expiresAt, maxFulfillmentSeconds } = offer
    this.#options = options
    this.quoteId = options.quoteId
    this.pluginId = swapInfo.pluginId
    this.request = swap.snapshot
    this.swapInfo = swapInfo
    this.fromNativeAmount = offer.fromNativeAmount
    this.toNativeAmount = offer.toNativeAmount
    if (minReceiveAmount !== undefined) this.minReceiveAmount = minReceiveAmount
    this.networkFee = Object.freeze({
      currencyCode: swap.fromWallet.currencyInfo.currencyCode,
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

  /** The outcome of the quote; undefined while it can be approved. */
  get fate(): QuoteSnapshot['fate'] {
    return this.#fate
  }

  /** The reason, in words, why it ranks before the next quote; the last quote has none. */
  get rankReason(): string | undefined {
    return this.#options.ranks.get(this)?.reason
  }

  /** Its place among the quotes of the round, from 1 on; undefined before it is shown. */
  get rank(): number | undefined {
    return this.#options.ranks.get(this)?.rank
  }

  /**
   * Pays, once: the order is made and checked, reviewed, signed and sent, and its record saved with the transaction.
   * An approval that fails ends the quote; a successful one ends the other quotes of the round, too.
   *
   * @throws QUOTE_ENDED; SWAP_CHANGED, MAX_FEE before anything is signed; the errors of a spend
   */
  async approve(options: ApproveOptions = {}): Promise<SwapResult> {
    this.#checkOpen()
    const { services, offer, gate } = this.#options
    const { clock } = services.io
    if (this.#isApproving) throw this.#endedError('approved')
    if (hasPassed(offer.expiresAt, clock)) {
      this.#end('expired')
      throw this.#endedError('expired')
    }
    this.#isApproving = true
    try {
      const payment = await preparePayment(this.#options, options)
      this.#checkOpen()
      const confirmed = await confirmPayment(payment, options)
      this.#checkOpen()
      if (hasPassed(payment.expiresAt, clock)) throw this.#endedError('expired')
      gate.begin(this)
      this.#end('approved')
      const result = await pay(this.#options, payment, { ...confirmed, requestedBy: options.requestedBy })
      gate.end(this, true)
      return result
    } catch (error) {
      this.#onFailure(error)
      throw error
    }
  }

  /** Ends the quote; a second call does nothing. */
  async close(): Promise<void> {
    if (this.#fate === undefined) this.#end('closed')
  }

  /**
   * Returns true if `other`, of the same provider, should replace this quote: it is at least as good, or this quote has
   * ended. Never while the quote is being approved, or after.
   */
  isReplacedBy(other: SwapQuote, preferences: RankPreferences): boolean {
    const { offer, services } = this.#options
    if (this.#fate === 'approved' || (this.#fate === undefined && this.#isApproving)) return false
    const hasEnded = this.#fate !== undefined || hasPassed(offer.expiresAt, services.io.clock)
    return hasEnded || compareQuotes(other, this, preferences) <= 0
  }

  #checkOpen(): void {
    if (this.#fate !== undefined) throw this.#endedError(this.#fate)
  }

  #onFailure(error: unknown): void {
    // Bytes that may have left have been approved, also those that a server refused; any other failure means that nothing was paid.
    const isSent = isWalletError(error, 'BROADCAST_UNKNOWN') || isWalletError(error, 'BROADCAST_REFUSED')
    const hasLeft = this.#fate === 'approved' && isSent
    this.#options.gate.end(this, hasLeft)
    if (hasLeft) return
    const isLate = isWalletError(error, 'QUOTE_ENDED') && error.details.reason === 'expired'
    this.#end(isLate ? 'expired' : 'closed')
  }

  #endedError(reason: 'expired' | 'approved' | 'closed'): WalletError {
    return new WalletError('QUOTE_ENDED', { pluginId: this.pluginId, reason })
  }

  #end(fate: NonNullable<QuoteSnapshot['fate']>): void {
    if (this.#fate === fate) return
    this.#fate = fate
    this.#options.onChange(this)
  }
}
