import { Observable, type Readable } from '../base/observable.ts'
import type { Services } from '../plugins/services.ts'
import type { QuoteSnapshot, SwapRequestSnapshot } from '../types/snapshots.ts'
import { orderByPolicy } from './order-by-policy.ts'
import { laneSnapshot, type ProviderLane } from './provider-lane.ts'
import { type Ranked, type RankWishes, rankQuotes } from './rank-quotes.ts'
import type { QuotePlace, SwapQuote } from './swap-quote.ts'

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
