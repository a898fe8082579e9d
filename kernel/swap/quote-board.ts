import type { QuoteSnapshot, SwapRequestSnapshot } from '../hooks/snapshots.ts'
import type { Services } from '../services.ts'
import { Observable, type Readable } from '../state/observable.ts'
import { orderByPolicy } from './order-by-policy.ts'
import { laneSnapshot, type ProviderLane } from './provider-lane.ts'
import { type Ranked, type RankWishes, rankQuotes } from './rank-quotes.ts'
import type { SwapQuote } from './swap-quote.ts'

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
  #reasons: ReadonlyMap<SwapQuote, string> = new Map()
  #isOver = false

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

  /** What puts a quote before the one behind it. */
  reasonOf(quote: SwapQuote): string | undefined {
    return this.#reasons.get(quote)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Shows what a provider has become; a new quote finds its place first. */
  show(lane: ProviderLane, { isNewQuote }: { readonly isNewQuote: boolean }): void {
    if (isNewQuote) this.#rank()
    this.#state.set(this.#read())
    this.#announce(lane)
  }

  /** Shows that no more quotes come, and what that made of some providers. */
  end(changed: readonly ProviderLane[]): void {
    this.#isOver = true
    this.#state.set(this.#read())
    for (const lane of changed) this.#announce(lane)
  }

  #rank(): void {
    const { roundId, wishes, services, snapshot } = this.#parts
    const quotes = this.lanes.flatMap(({ quote }) => quote ?? [])
    const own = rankQuotes(quotes, wishes)
    this.#reasons = reasonsOf(own)
    const shown = own.flatMap(ranked => {
      const lane = this.#lanes.get(ranked.quote.pluginId)
      return lane === undefined ? [] : { ...ranked, snapshot: laneSnapshot(roundId, lane) }
    })
    const ranked = orderByPolicy(shown, asked => services.hooks.rankQuotes.call(asked, snapshot))
    this.#ranked = Object.freeze(ranked.map(({ quote }) => quote))
    this.#reasons = reasonsOf(ranked)
  }

  #read(): QuoteRoundSnapshot {
    const { roundId, snapshot } = this.#parts
    const ranked = this.#ranked.flatMap(({ pluginId }) => this.#lanes.get(pluginId) ?? [])
    const others = this.lanes.filter(({ quote }) => quote === undefined)
    const providers = [
      ...ranked,
      ...others.filter(({ state }) => state === 'pending'),
      ...others.filter(({ state }) => state !== 'pending')
    ].map(lane => laneSnapshot(roundId, lane))
    return { roundId, request: snapshot, isOver: this.#isOver, providers: Object.freeze(providers) }
  }

  #announce(lane: ProviderLane): void {
    this.#parts.services.hooks.quoteChanged.call(laneSnapshot(this.#parts.roundId, lane))
  }
}

const reasonsOf = (ranked: readonly Ranked<SwapQuote>[]): ReadonlyMap<SwapQuote, string> =>
  new Map(ranked.flatMap(({ quote, reason }) => (reason === undefined ? [] : [[quote, reason]])))
