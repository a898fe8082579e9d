import { type Abort, makeAbort } from '../base/deadline.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import type { Readable } from '../base/observable.ts'
import type { Services } from '../plugins/services.ts'
import type { QuoteSnapshot } from '../types/snapshots.ts'
import type { SwapOffer } from '../types/swap.ts'
import type { Deal } from './approval.ts'
import { makeDesk, RoundAddresses } from './context.ts'
import { bestErrorOf, isExpected, swapErrorOf } from './errors.ts'
import { readOffer } from './offer.ts'
import { SwapQuote } from './quote.ts'
import { type AskedProvider, type ProviderLane, QuoteBoard, type QuoteRoundSnapshot } from './quote-list.ts'
import type { RankWishes } from './ranking.ts'
import type { ReadWish, SwapWallet } from './request.ts'

/** What a round is made of. */
export interface RoundParts extends ReadWish {
  readonly services: Services
  readonly roundId: string
  readonly fromWallet: SwapWallet
  readonly toWallet: SwapWallet
  /** At least one. */
  readonly asked: readonly AskedProvider[]
  readonly wishes: RankWishes
  readonly waitMs: number
  readonly findOwn: Deal['findOwn']
  readonly keepOrderId: Deal['keepOrderId']
  /** All its quotes have ended. */
  closed(round: QuoteRound): void
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
  readonly #parts: RoundParts
  readonly #abort: Abort = makeAbort()
  readonly #addresses: RoundAddresses
  readonly #startedAt: number
  readonly #board: QuoteBoard
  #quoteCount = 0
  /** One round pays for one swap: the quote that is signed and sent right now. */
  #paying: SwapQuote | undefined
  #isWaitOver = false
  #isClosed = false
  #cancelWait: () => void
  #settle: { resolve(quotes: readonly SwapQuote[]): void; reject(error: unknown): void }

  constructor(parts: RoundParts) {
    const { services, roundId, asked, request, waitMs } = parts
    const { clock } = services.io
    this.#parts = parts
    this.id = roundId
    this.#startedAt = clock.monotonic()
    this.#addresses = new RoundAddresses({
      fromWallet: parts.fromWallet,
      toWallet: parts.toWallet,
      fromTokenId: request.from.tokenId,
      toTokenId: request.to.tokenId
    })
    const { snapshot, wishes } = parts
    this.#board = new QuoteBoard(
      { services, roundId, snapshot, wishes },
      asked.map(provider => this.#makeLane(provider))
    )
    this.#settle = { resolve() {}, reject() {} }
    this.settled = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    // Whoever only watches the snapshots does not hear of it a second time.
    this.settled.catch(() => {})
    this.#cancelWait = clock.after(waitMs, () => this.#waited())
    this.#ask()
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#board.state.subscribe(listener)

  readonly getSnapshot = (): QuoteRoundSnapshot => this.#board.state.getSnapshot()

  /** The quotes that are there, best first. */
  get quotes(): readonly SwapQuote[] {
    return this.#board.quotes
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
    for (const quote of this.#board.quotes) void quote.close()
    this.#parts.closed(this)
  }

  #makeLane(provider: AskedProvider): ProviderLane {
    const { plugin, userSettings, promoCode } = provider
    const { request, fromWallet } = this.#parts
    const lane: ProviderLane = {
      ...provider,
      state: 'pending',
      running: 0,
      quote: undefined,
      error: undefined,
      durationMs: undefined,
      desk: makeDesk({
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
        offer: offer => this.#offered(lane, offer)
      })
    }
    return lane
  }

  #ask(): void {
    const { hooks, inBackground } = this.#parts.services
    const asking = hooks.fetchQuotes.promise({
      correlationId: this.id,
      deskFor: pluginId => {
        const lane = this.#board.find(pluginId)
        if (lane !== undefined) lane.running += 1
        return lane?.desk
      },
      ended: (pluginId, error) => {
        const lane = this.#board.find(pluginId)
        return lane !== undefined && this.#tapEnded(lane, error)
      }
    })
    inBackground('swap quotes', asking)
    // A plugin without a tap will never answer.
    const silent = this.#board.lanes.filter(({ running }) => running === 0)
    void Promise.resolve().then(() => {
      for (const lane of silent) this.#laneEnded(lane)
    })
  }

  #offered(lane: ProviderLane, offer: SwapOffer): void {
    if (this.#board.isOver || lane.running === 0) return
    const { services, request, fromWallet } = this.#parts
    const place = {
      pluginId: lane.plugin.id,
      request,
      balance: fromWallet.balanceOf(request.from.tokenId),
      now: services.io.clock.now()
    }
    try {
      this.#take(lane, this.#makeQuote(lane, readOffer(place, offer)))
    } catch (error) {
      lane.error = swapErrorOf(this.#placeOf(lane), error)
      throw error
    }
  }

  #makeQuote({ plugin }: ProviderLane, offer: Deal['offer']): SwapQuote {
    const { request, snapshot, fromWallet, toWallet, findOwn, keepOrderId, services } = this.#parts
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
        ...(supportEmail === undefined ? {} : { supportEmail })
      }),
      placeOf: quote => this.#board.placeOf(quote),
      changed: quote => this.#quoteChanged(quote),
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

  #take(lane: ProviderLane, quote: SwapQuote): void {
    const known = lane.quote
    if (known !== undefined && !known.yieldsTo(quote, this.#parts.wishes)) return
    lane.quote = quote
    void known?.close()
    this.#answered(lane, 'resolved')
    if (this.#isWaitOver) this.#finish()
    // Later in this turn: a provider may put two offers down one after another.
    else void Promise.resolve().then(() => this.#finishIfAnswered())
  }

  #tapEnded(lane: ProviderLane, error: unknown): boolean {
    lane.running -= 1
    if (this.#board.isOver) return true
    const read = error === undefined ? undefined : swapErrorOf(this.#placeOf(lane), error)
    if (read !== undefined && lane.quote === undefined) lane.error = read
    if (lane.running === 0) this.#laneEnded(lane)
    return read !== undefined && isExpected(read) && lane.quote === undefined
  }

  #laneEnded(lane: ProviderLane): void {
    if (lane.state !== 'pending') return
    const { id: pluginId } = lane.plugin
    lane.error ??= new WalletError('PLUGIN_FAILED', {
      pluginId,
      hook: 'fetchQuotes',
      reason: 'it made no offer'
    })
    this.#answered(lane, isWalletError(lane.error, 'DEADLINE') ? 'timed out' : 'failed')
    this.#finishIfAnswered()
  }

  #answered(lane: ProviderLane, state: QuoteSnapshot['state']): void {
    lane.state = state
    lane.durationMs = this.#parts.services.io.clock.monotonic() - this.#startedAt
    this.#board.show(lane)
  }

  #quoteChanged(quote: SwapQuote): void {
    const lane = this.#board.find(quote.pluginId)
    if (lane?.quote !== quote) return
    this.#board.show(lane)
    if (this.#board.isOver && this.#board.quotes.every(({ fate }) => fate !== undefined)) this.close()
  }

  #waited(): void {
    if (this.#board.lanes.some(({ quote }) => quote !== undefined)) this.#finish()
    else this.#isWaitOver = true
  }

  #finishIfAnswered(): void {
    if (this.#board.lanes.every(({ state }) => state !== 'pending')) this.#finish()
  }

  #finish(): void {
    if (this.#board.isOver) return
    this.#cancelWait()
    const milliseconds = this.#parts.services.io.clock.monotonic() - this.#startedAt
    const late = this.#board.lanes.filter(({ state }) => state === 'pending')
    for (const lane of late) {
      lane.state = 'timed out'
      lane.durationMs = milliseconds
      lane.error = new WalletError('DEADLINE', { what: lane.plugin.displayName, milliseconds })
    }
    this.#board.end(late)
    this.#abort.abort()
    if (this.#board.quotes.length > 0) {
      this.#settle.resolve(this.#board.quotes)
      return
    }
    this.#settle.reject(bestErrorOf(this.#board.lanes.flatMap(({ error }) => error ?? [])))
    this.close()
  }

  #placeOf({ plugin: { id, displayName } }: ProviderLane): Parameters<typeof swapErrorOf>[0] {
    return { pluginId: id, displayName, request: this.#parts.request, hook: 'fetchQuotes' }
  }
}
