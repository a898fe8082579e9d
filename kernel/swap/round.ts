import { type Abort, makeAbort } from '../base/deadline.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { compact } from '../base/json.ts'
import type { Readable } from '../base/observable.ts'
import type { Services } from '../plugins/services.ts'
import type { QuoteSnapshot } from '../types/snapshots.ts'
import type { SwapOffer } from '../types/swap.ts'
import type { ApprovalContext } from './approval.ts'
import { makeQuoteContext, RoundAddresses } from './context.ts'
import { bestErrorOf, isExpected, swapErrorOf } from './errors.ts'
import { readOffer } from './offer.ts'
import { SwapQuote } from './quote.ts'
import { type AskedProvider, type ProviderState, QuoteList, type QuoteRoundSnapshot } from './quote-list.ts'
import type { RankPreferences } from './ranking.ts'
import type { CheckedRequest, SwapWallet } from './request.ts'

export interface QuoteRoundOptions extends CheckedRequest {
  readonly services: Services
  readonly roundId: string
  readonly fromWallet: SwapWallet
  readonly toWallet: SwapWallet
  /** At least one. */
  readonly asked: readonly AskedProvider[]
  readonly preferences: RankPreferences
  readonly waitMs: number
  readonly findOwn: ApprovalContext['findOwn']
  readonly keepOrderId: ApprovalContext['keepOrderId']
  /** All its quotes have ended. */
  onClosed(round: QuoteRound): void
}

/**
 * One question to all providers at once (specification §4 "Swap quotes", protocol §6.1).
 *
 * Each quote is shown when it comes. The round is over when all have answered, when the caller stops, or after the wait;
 * without a quote by then it goes on until there is one or all have failed. No quote that came before is ever lost.
 */
export class QuoteRound implements Readable<QuoteRoundSnapshot> {
  readonly id: string
  /** The quotes, best first, once the round is over. Rejects with the one error worth showing if there are none. */
  readonly settled: Promise<readonly SwapQuote[]>
  readonly #options: QuoteRoundOptions
  readonly #abort: Abort = makeAbort()
  readonly #addresses: RoundAddresses
  readonly #startedAt: number
  readonly #list: QuoteList
  #quoteCount = 0
  /** One round pays for one swap: the quote that is signed and sent right now. */
  #paying: SwapQuote | undefined
  #isWaitOver = false
  #isClosed = false
  #cancelWait: () => void
  #settle: { resolve(quotes: readonly SwapQuote[]): void; reject(error: unknown): void }

  constructor(options: QuoteRoundOptions) {
    const { services, roundId, asked, request, waitMs } = options
    const { clock } = services.io
    this.#options = options
    this.id = roundId
    this.#startedAt = clock.monotonic()
    this.#addresses = new RoundAddresses({
      fromWallet: options.fromWallet,
      toWallet: options.toWallet,
      fromTokenId: request.from.tokenId,
      toTokenId: request.to.tokenId
    })
    const { snapshot, preferences } = options
    this.#list = new QuoteList(
      { services, roundId, snapshot, preferences: preferences },
      asked.map(provider => this.#makeProvider(provider))
    )
    this.#settle = { resolve() {}, reject() {} }
    this.settled = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    // A caller that only watches the snapshots gets no unhandled rejection.
    this.settled.catch(() => {})
    this.#cancelWait = clock.after(waitMs, () => this.#onTimeout())
    this.#ask()
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#list.state.subscribe(listener)

  readonly getSnapshot = (): QuoteRoundSnapshot => this.#list.state.getSnapshot()

  /** The quotes that are there, best first. */
  get quotes(): readonly SwapQuote[] {
    return this.#list.quotes
  }

  /** Waits no longer: the quotes that are there are all; who has not answered counts as timed out. */
  stop(): void {
    this.#finish()
  }

  /** Stops, and closes every quote; a second call does nothing. */
  close(): void {
    this.#finish()
    if (this.#isClosed) return
    this.#isClosed = true
    for (const quote of this.#list.quotes) void quote.close()
    this.#options.onClosed(this)
  }

  #makeProvider(asked: AskedProvider): ProviderState {
    const { plugin, userSettings, promoCode } = asked
    const { request, fromWallet } = this.#options
    const provider: ProviderState = {
      ...asked,
      state: 'pending',
      runningTaps: 0,
      quote: undefined,
      error: undefined,
      durationMs: undefined,
      context: makeQuoteContext({
        pluginId: plugin.id,
        request,
        userSettings,
        promoCode,
        signal: this.#abort.signal,
        fromWallet,
        addresses: this.#addresses,
        checkOpen: pluginId => {
          if (this.#isClosed) throw new WalletError('QUOTE_ENDED', { pluginId, reason: 'closed' })
        },
        offer: offer => this.#onOffer(provider, offer)
      })
    }
    return provider
  }

  #ask(): void {
    const { hooks, inBackground } = this.#options.services
    const asking = hooks.fetchQuotes.promise({
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
    inBackground('swap quotes', asking)
    // A plugin without a tap will never answer.
    const silent = this.#list.providers.filter(({ runningTaps: running }) => running === 0)
    void Promise.resolve().then(() => {
      for (const provider of silent) this.#onProviderDone(provider)
    })
  }

  #onOffer(provider: ProviderState, offer: SwapOffer): void {
    if (this.#list.isOver || provider.runningTaps === 0) return
    const { services, request, fromWallet } = this.#options
    const place = {
      pluginId: provider.plugin.id,
      request,
      balance: fromWallet.balanceOf(request.from.tokenId),
      now: services.io.clock.now()
    }
    try {
      this.#take(provider, this.#makeQuote(provider, readOffer(place, offer)))
    } catch (error) {
      provider.error = swapErrorOf(this.#errorSourceOf(provider), error)
      throw error
    }
  }

  #makeQuote({ plugin }: ProviderState, offer: ApprovalContext['offer']): SwapQuote {
    const { request, snapshot, fromWallet, toWallet, findOwn, keepOrderId, services } = this.#options
    const { id, displayName, isDex = false, supportEmail } = plugin
    this.#quoteCount += 1
    return new SwapQuote({
      quoteId: `${this.id}-${this.#quoteCount}`,
      clock: services.io.clock,
      calls: services.calls,
      ...{ request, snapshot, offer, fromWallet, toWallet, findOwn, keepOrderId },
      addresses: this.#addresses,
      swapInfo: Object.freeze({
        pluginId: id,
        displayName,
        isDex,
        ...compact({ supportEmail })
      }),
      rankOf: quote => this.#list.rankOf(quote),
      onChange: quote => this.#quoteChanged(quote),
      paying: quote => {
        if (this.#paying !== undefined)
          throw new WalletError('QUOTE_ENDED', { pluginId: quote.pluginId, reason: 'closed' })
        this.#paying = quote
      },
      paid: (quote, hasLeft) => {
        if (this.#paying === quote) this.#paying = undefined
        if (hasLeft) this.close()
      }
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
    this.#abort.abort()
    if (this.#list.quotes.length > 0) {
      this.#settle.resolve(this.#list.quotes)
      return
    }
    this.#settle.reject(bestErrorOf(this.#list.providers.flatMap(({ error }) => error ?? [])))
    this.close()
  }

  #errorSourceOf({ plugin: { id, displayName } }: ProviderState): Parameters<typeof swapErrorOf>[0] {
    return { pluginId: id, displayName, request: this.#options.request, hook: 'fetchQuotes' }
  }
}
