import { compact } from '../base/compact.ts'
import { type Abort, makeAbort } from '../base/deadline.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import type { Readable } from '../base/observable.ts'
import type { Services } from '../plugins/services.ts'
import type { QuoteSnapshot } from '../types/snapshots.ts'
import type { SwapOffer } from '../types/swap.ts'
import type { SwapAccount } from './approval.ts'
import { makeQuoteContext, RoundAddresses } from './context.ts'
import { bestErrorOf, isExpected, swapErrorOf } from './errors.ts'
import { type CheckedOffer, readOffer } from './offer.ts'
import { PaymentGate, SwapQuote } from './quote.ts'
import { type ProviderState, type QueriedProvider, QuoteList, type QuoteRoundSnapshot } from './quote-list.ts'
import type { RankPreferences } from './ranking.ts'
import type { CheckedRequest } from './request.ts'

export interface QuoteRoundOptions {
  readonly services: Services
  readonly account: SwapAccount
  readonly roundId: string
  readonly swap: CheckedRequest
  /** At least one. */
  readonly requested: readonly QueriedProvider[]
  readonly preferences: RankPreferences
  readonly waitMs: number
  /** All its quotes have ended. */
  onClosed(round: QuoteRound): void
}

/**
 * One request to all providers at once (specification §4 "Swap quotes", protocol §6.1).
 *
 * Each quote is shown when it comes. The round ends when all have answered, when the caller stops, or after the wait;
 * without a quote by then it goes on until there is one or all have failed. No earlier quote is ever lost.
 *
 * @example
 * ```ts
 * import type { SwapRequest } from 'holdfast'
 *
 * declare const request: SwapRequest
 * const round = account.openQuoteRound(request)
 * round.subscribe(() => console.log(round.quotes.map(({ pluginId, rank }) => `${rank}. ${pluginId}`)))
 * io.clock.after(3000, () => round.stop())
 * const [best] = await round.settled
 * ```
 */
export class QuoteRound implements Readable<QuoteRoundSnapshot> {
  readonly id: string
  /** The quotes, best first, once the round is over. Rejects with the one error worth showing if there are none. */
  readonly settled: Promise<readonly SwapQuote[]>
  readonly #options: QuoteRoundOptions
  /** Aborted when no more offers are taken. */
  readonly #over: Abort = makeAbort()
  /** Aborted when every quote has ended. */
  readonly #closed: Abort = makeAbort()
  readonly #gate = new PaymentGate()
  readonly #addresses: RoundAddresses
  readonly #startedAt: number
  readonly #list: QuoteList
  #quoteCount = 0
  #isWaitOver = false
  #cancelWait: () => void
  #settle: { resolve(quotes: readonly SwapQuote[]): void; reject(error: unknown): void }

  constructor(options: QuoteRoundOptions) {
    const { services, roundId, swap, requested, preferences, waitMs } = options
    const { clock } = services.io
    this.#options = options
    this.id = roundId
    this.#startedAt = clock.monotonic()
    this.#addresses = new RoundAddresses(swap)
    this.#list = new QuoteList(
      { services, roundId, snapshot: swap.snapshot, preferences },
      requested.map(provider => this.#makeProvider(provider))
    )
    this.#settle = { resolve() {}, reject() {} }
    this.settled = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    // A caller that only watches the snapshots gets no unhandled rejection.
    this.settled.catch(() => {})
    void this.#gate.paid.then(() => this.close())
    this.#cancelWait = clock.after(waitMs, () => this.#onTimeout())
    this.#query()
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#list.state.subscribe(listener)

  readonly getSnapshot = (): QuoteRoundSnapshot => this.#list.state.getSnapshot()

  /** The quotes that have come, best first. */
  get quotes(): readonly SwapQuote[] {
    return this.#list.quotes
  }

  /** Ends the wait: the quotes that have come are all; providers without an answer count as timed out. */
  stop(): void {
    this.#finish()
  }

  /** Stops, and closes every quote; a second call does nothing. */
  close(): void {
    this.#finish()
    if (this.#closed.signal.aborted) return
    this.#closed.abort()
    for (const quote of this.#list.quotes) void quote.close()
    this.#options.onClosed(this)
  }

  #makeProvider(requested: QueriedProvider): ProviderState {
    const { plugin, userSettings, promoCode } = requested
    const provider: ProviderState = {
      ...requested,
      state: 'pending',
      runningTaps: 0,
      quote: undefined,
      error: undefined,
      durationMs: undefined,
      context: makeQuoteContext({
        pluginId: plugin.id,
        swap: this.#options.swap,
        userSettings,
        promoCode,
        signal: this.#over.signal,
        closed: this.#closed.signal,
        addresses: this.#addresses,
        onOffer: offer => this.#onOffer(provider, offer)
      })
    }
    return provider
  }

  #query(): void {
    const { hooks, inBackground } = this.#options.services
    const pendingQuery = hooks.fetchQuotes.promise({
      correlationId: this.id,
      contextFor: pluginId => {
        const provider = this.#list.find(pluginId)
        if (provider !== undefined) provider.runningTaps += 1
        return provider?.context
      },
      ended: (pluginId, error) => {
        const provider = this.#list.find(pluginId)
        return provider !== undefined && this.#onTapEnded(provider, error)
      }
    })
    inBackground('swap quotes', pendingQuery)
    // A plugin without a tap will never answer.
    const silent = this.#list.providers.filter(({ runningTaps: running }) => running === 0)
    void Promise.resolve().then(() => {
      for (const provider of silent) this.#onProviderDone(provider)
    })
  }

  #onOffer(provider: ProviderState, offer: SwapOffer): void {
    if (this.#list.isOver || provider.runningTaps === 0) return
    const { services, swap } = this.#options
    const { request, fromWallet } = swap
    const check = {
      pluginId: provider.plugin.id,
      request,
      balance: fromWallet.balanceOf(request.from.tokenId),
      now: services.io.clock.now()
    }
    try {
      this.#take(provider, this.#makeQuote(provider, readOffer(check, offer)))
    } catch (error) {
      provider.error = swapErrorOf(this.#errorSourceOf(provider), error)
      throw error
    }
  }

  #makeQuote({ plugin }: ProviderState, offer: CheckedOffer): SwapQuote {
    const { services, account, swap } = this.#options
    const { id, displayName, isDex = false, supportEmail } = plugin
    this.#quoteCount += 1
    return new SwapQuote({
      quoteId: `${this.id}-${this.#quoteCount}`,
      ...{ services, account, swap, offer },
      addresses: this.#addresses,
      gate: this.#gate,
      ranks: this.#list.ranks,
      swapInfo: Object.freeze({
        pluginId: id,
        displayName,
        isDex,
        ...compact({ supportEmail })
      }),
      onChange: quote => this.#quoteChanged(quote)
    })
  }

  #take(provider: ProviderState, quote: SwapQuote): void {
    const known = provider.quote
    if (known !== undefined && !known.isReplacedBy(quote, this.#options.preferences)) return
    provider.quote = quote
    void known?.close()
    this.#answered(provider, 'resolved')
    if (this.#isWaitOver) this.#finish()
    // Later in this turn: a provider may put two offers down one after another.
    else void Promise.resolve().then(() => this.#finishIfAnswered())
  }

  #onTapEnded(provider: ProviderState, error: unknown): boolean {
    provider.runningTaps -= 1
    if (this.#list.isOver) return true
    const read = error === undefined ? undefined : swapErrorOf(this.#errorSourceOf(provider), error)
    if (read !== undefined && provider.quote === undefined) provider.error = read
    if (provider.runningTaps === 0) this.#onProviderDone(provider)
    return read !== undefined && isExpected(read) && provider.quote === undefined
  }

  #onProviderDone(provider: ProviderState): void {
    if (provider.state !== 'pending') return
    const { id: pluginId } = provider.plugin
    provider.error ??= new WalletError('PLUGIN_FAILED', {
      pluginId,
      hook: 'fetchQuotes',
      reason: 'it made no offer'
    })
    this.#answered(provider, isWalletError(provider.error, 'DEADLINE') ? 'timed out' : 'failed')
    this.#finishIfAnswered()
  }

  #answered(provider: ProviderState, state: QuoteSnapshot['state']): void {
    provider.state = state
    provider.durationMs = this.#options.services.io.clock.monotonic() - this.#startedAt
    this.#list.markChanged(provider)
  }

  #quoteChanged(quote: SwapQuote): void {
    const provider = this.#list.find(quote.pluginId)
    if (provider?.quote !== quote) return
    this.#list.markChanged(provider)
    if (this.#list.isOver && this.#list.quotes.every(({ fate }) => fate !== undefined)) this.close()
  }

  #onTimeout(): void {
    if (this.#list.providers.some(({ quote }) => quote !== undefined)) this.#finish()
    else this.#isWaitOver = true
  }

  #finishIfAnswered(): void {
    if (this.#list.providers.every(({ state }) => state !== 'pending')) this.#finish()
  }

  #finish(): void {
    if (this.#list.isOver) return
    this.#cancelWait()
    const milliseconds = this.#options.services.io.clock.monotonic() - this.#startedAt
    const late = this.#list.providers.filter(({ state }) => state === 'pending')
    for (const provider of late) {
      provider.state = 'timed out'
      provider.durationMs = milliseconds
      provider.error = new WalletError('DEADLINE', { what: provider.plugin.displayName, milliseconds })
    }
    this.#list.end(late)
    this.#over.abort()
    if (this.#list.quotes.length > 0) {
      this.#settle.resolve(this.#list.quotes)
      return
    }
    this.#settle.reject(bestErrorOf(this.#list.providers.flatMap(({ error }) => error ?? [])))
    this.close()
  }

  #errorSourceOf({ plugin: { id, displayName } }: ProviderState): Parameters<typeof swapErrorOf>[0] {
    return { pluginId: id, displayName, request: this.#options.swap.request, hook: 'fetchQuotes' }
  }
}
