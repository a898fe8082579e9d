import { describeError, isWalletError, type WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { Observable, type Readable } from '../base/observable.ts'
import type { SwapPlugin } from '../plugins/plugin.ts'
import type { Services } from '../plugins/services.ts'
import type { QuoteSnapshot, SwapRequestSnapshot } from '../types/snapshots.ts'
import type { QuoteContext } from '../types/swap.ts'
import type { QuotePlace, SwapQuote } from './quote.ts'
import { orderByPolicy, type Ranked, type RankWishes, rankQuotes } from './ranking.ts'

/** How a round stands. */
export interface QuoteRoundSnapshot {
  readonly roundId: string
  readonly request: SwapRequestSnapshot
  /** No more quotes come. */
  readonly isOver: boolean
  /** Those with a quote first, best first; then those that are awaited, then those that have failed. */
  readonly providers: readonly QuoteSnapshot[]
}

/** What a board is made of. */
export interface BoardParts {
  readonly services: Services
  readonly roundId: string
  readonly snapshot: SwapRequestSnapshot
  readonly wishes: RankWishes
}

/** The providers of a round in their order, shown to whoever subscribes and told to observers. */
export class QuoteBoard {
  readonly state: Readable<QuoteRoundSnapshot>
  readonly #parts: BoardParts
  readonly #lanes: ReadonlyMap<string, ProviderLane>
  readonly #state: Observable<QuoteRoundSnapshot>
  #ranked: readonly SwapQuote[] = []
  #places: ReadonlyMap<SwapQuote, QuotePlace> = new Map()
  #isOver = false
  /** As they were shown last. */
  readonly #shown = new Map<ProviderLane, QuoteSnapshot>()
  /** Since then. */
  readonly #changed = new Set<ProviderLane>()
  /** Those whose place is another one since then. */
  readonly #moved = new Set<ProviderLane>()

  constructor(parts: BoardParts, lanes: readonly ProviderLane[]) {
    this.#parts = parts
    this.#lanes = new Map(lanes.map(lane => [lane.plugin.id, lane]))
    this.#state = new Observable<QuoteRoundSnapshot>(this.#read(), undefined, error =>
      parts.services.report('swap quotes', error)
    )
    this.state = this.#state
    for (const lane of lanes) this.#announce(lane)
  }

  get lanes(): readonly ProviderLane[] {
    return [...this.#lanes.values()]
  }

  find(pluginId: string): ProviderLane | undefined {
    return this.#lanes.get(pluginId)
  }

  /** Best first. */
  get quotes(): readonly SwapQuote[] {
    return this.#ranked
  }

  /** Where a quote stands; undefined before it is shown. */
  placeOf(quote: SwapQuote): QuotePlace | undefined {
    return this.#places.get(quote)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Shows what a provider has become, with all that changes in the same moment. */
  show(lane: ProviderLane): void {
    this.#changed.add(lane)
    if (this.#changed.size === 1) void Promise.resolve().then(() => this.#publish())
  }

  /** Shows that no more quotes come, and what that made of some providers; at once. */
  end(late: readonly ProviderLane[]): void {
    this.#isOver = true
    for (const lane of late) this.#changed.add(lane)
    this.#publish()
  }

  #publish(): void {
    const changed = [...this.#changed]
    this.#changed.clear()
    if (changed.length === 0 && this.#state.getSnapshot().isOver === this.#isOver) return
    for (const lane of changed) this.#shown.delete(lane)
    if (changed.some(({ quote }) => quote !== undefined && !this.#ranked.includes(quote))) this.#rank()
    this.#state.set(this.#read())
    for (const lane of new Set([...changed, ...this.#moved])) this.#announce(lane)
    this.#moved.clear()
  }

  #rank(): void {
    const { wishes, services, snapshot } = this.#parts
    const quotes = this.lanes.flatMap(({ quote }) => quote ?? [])
    const { rankQuotes: policies } = services.hooks
    let ranked = rankQuotes(quotes, wishes)
    this.#explain(ranked)
    if (policies.isUsed()) {
      const shown = ranked.flatMap(one => {
        const lane = this.#lanes.get(one.quote.pluginId)
        return lane === undefined ? [] : { ...one, snapshot: this.#snapshotOf(lane) }
      })
      ranked = orderByPolicy(shown, asked => policies.call(asked, snapshot))
      this.#explain(ranked)
    }
    this.#ranked = Object.freeze(ranked.map(({ quote }) => quote))
  }

  /** A quote in another place is shown anew. */
  #explain(ranked: readonly Ranked<SwapQuote>[]): void {
    const places = placesOf(ranked)
    for (const [quote, { rank, reason }] of places) {
      const before = this.#places.get(quote)
      if (before?.rank === rank && before.reason === reason) continue
      const lane = this.#lanes.get(quote.pluginId)
      if (lane === undefined) continue
      this.#shown.delete(lane)
      this.#moved.add(lane)
    }
    this.#places = places
  }

  #read(): QuoteRoundSnapshot {
    const { roundId, snapshot } = this.#parts
    const ranked = this.#ranked.flatMap(({ pluginId }) => this.#lanes.get(pluginId) ?? [])
    const others = this.lanes.filter(({ quote }) => quote === undefined)
    const providers = [
      ...ranked,
      ...others.filter(({ state }) => state === 'pending'),
      ...others.filter(({ state }) => state !== 'pending')
    ].map(lane => this.#snapshotOf(lane))
    return { roundId, request: snapshot, isOver: this.#isOver, providers: Object.freeze(providers) }
  }

  #snapshotOf(lane: ProviderLane): QuoteSnapshot {
    const known = this.#shown.get(lane)
    if (known !== undefined) return known
    const { roundId, snapshot: request } = this.#parts
    const made = laneSnapshot({ roundId, request }, lane)
    this.#shown.set(lane, made)
    return made
  }

  #announce(lane: ProviderLane): void {
    this.#parts.services.hooks.quoteChanged.call(this.#snapshotOf(lane))
  }
}

const placesOf = (ranked: readonly Ranked<SwapQuote>[]): ReadonlyMap<SwapQuote, QuotePlace> =>
  new Map(ranked.map(({ quote, reason }, at) => [quote, { rank: at + 1, reason }]))

/** A provider that is asked in a round. */
export interface AskedProvider {
  readonly plugin: SwapPlugin
  readonly userSettings: JsonObject
  readonly promoCode: string | undefined
}

/** Where one provider of a round stands. */
export interface ProviderLane extends AskedProvider {
  readonly desk: QuoteContext
  state: QuoteSnapshot['state']
  /** How many of its taps run; it may have several. */
  running: number
  quote: SwapQuote | undefined
  /** What was wrong with an offer, or how it failed. */
  error: WalletError | undefined
  /** From the beginning of the round to its answer. */
  durationMs: number | undefined
}

/** What a round tells of a provider. */
const laneSnapshot = (
  { roundId, request }: Pick<QuoteSnapshot, 'roundId' | 'request'>,
  { plugin, promoCode, state, quote, error, durationMs }: ProviderLane
): QuoteSnapshot =>
  Object.freeze({
    roundId,
    request,
    pluginId: plugin.id,
    displayName: plugin.displayName,
    isDex: plugin.isDex === true,
    state,
    hasPromoCode: promoCode !== undefined,
    ...(quote === undefined ? {} : quoteFields(quote)),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(quote !== undefined || error === undefined ? {} : errorFields(error))
  })

type QuoteFields = Omit<QuoteSnapshot, 'roundId' | 'request' | 'pluginId' | 'displayName' | 'isDex' | 'state'>

const quoteFields = (quote: SwapQuote): QuoteFields => {
  const { minReceiveAmount, expirationDate, maxFulfillmentSeconds, fate, rank, rankReason } = quote
  return {
    quoteId: quote.quoteId,
    fromNativeAmount: quote.fromNativeAmount,
    toNativeAmount: quote.toNativeAmount,
    ...(minReceiveAmount === undefined ? {} : { minReceiveAmount }),
    networkFee: quote.networkFee.nativeAmount,
    isEstimate: quote.isEstimate,
    canBePartial: quote.canBePartial,
    ...(expirationDate === undefined ? {} : { expiresAt: expirationDate.getTime() }),
    ...(maxFulfillmentSeconds === undefined ? {} : { maxFulfillmentSeconds }),
    ...(fate === undefined ? {} : { fate }),
    ...(rank === undefined ? {} : { rank }),
    ...(rankReason === undefined ? {} : { rankReason })
  }
}

const errorFields = (error: WalletError): QuoteFields => {
  const message = isWalletError(error) ? error.message : describeError(error)
  const fields = { errorCode: error.code, message }
  if (isWalletError(error, 'SWAP_PERMISSION')) return { ...fields, message: `${message}: ${error.hint}` }
  if (isWalletError(error, 'SWAP_BELOW_LIMIT'))
    return { ...fields, ...limitOf(error.details.nativeMin, error.details) }
  if (isWalletError(error, 'SWAP_ABOVE_LIMIT'))
    return { ...fields, ...limitOf(error.details.nativeMax, error.details) }
  return fields
}

const limitOf = (limit: string, { direction }: { readonly direction: 'from' | 'to' }): QuoteFields => ({
  ...(limit === '' ? {} : { limit }),
  direction
})
