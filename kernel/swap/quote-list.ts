import { compact } from '../base/compact.ts'
import { describeError, isWalletError, type WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { Observable, type Readable } from '../base/observable.ts'
import type { SwapPlugin } from '../plugins/plugin.ts'
import type { Services } from '../plugins/services.ts'
import type { PluginId } from '../types/ids.ts'
import type { QuoteSnapshot, SwapRequestSnapshot } from '../types/snapshots.ts'
import type { QuoteContext } from '../types/swap.ts'
import type { QuoteRank, SwapQuote } from './quote.ts'
import { applyPolicies, type Ranked, type RankPreferences, rankQuotes } from './ranking.ts'

/** The state of a round of quotes. */
export interface QuoteRoundSnapshot {
  readonly roundId: string
  readonly request: SwapRequestSnapshot
  /** True once no more quotes come. */
  readonly isOver: boolean
  /** Those with a quote first, best first; then the pending ones, then the failed ones. */
  readonly providers: readonly QuoteSnapshot[]
}

export interface QuoteListOptions {
  readonly services: Services
  readonly roundId: string
  readonly snapshot: SwapRequestSnapshot
  readonly preferences: RankPreferences
}

/** The providers of a round and their quotes, ranked, as one snapshot for subscribers and observers. */
export class QuoteList {
  readonly state: Readable<QuoteRoundSnapshot>
  readonly #options: QuoteListOptions
  readonly #providers: ReadonlyMap<string, ProviderState>
  readonly #state: Observable<QuoteRoundSnapshot>
  readonly #ranks = new Map<SwapQuote, QuoteRank>()
  #ranked: readonly SwapQuote[] = []
  #isOver = false
  /** As they were shown last. */
  readonly #snapshots = new Map<ProviderState, QuoteSnapshot>()
  /** Since then. */
  readonly #changed = new Set<ProviderState>()
  /** Those whose place is another one since then. */
  readonly #moved = new Set<ProviderState>()

  constructor(options: QuoteListOptions, providers: readonly ProviderState[]) {
    this.#options = options
    this.#providers = new Map(providers.map(provider => [provider.plugin.id, provider]))
    this.#state = new Observable<QuoteRoundSnapshot>(this.#snapshotNow(), undefined, error =>
      options.services.report('swap quotes', error)
    )
    this.state = this.#state
    for (const provider of providers) this.#notify(provider)
  }

  get providers(): readonly ProviderState[] {
    return [...this.#providers.values()]
  }

  find(pluginId: PluginId): ProviderState | undefined {
    return this.#providers.get(pluginId)
  }

  /** Best first. */
  get quotes(): readonly SwapQuote[] {
    return this.#ranked
  }

  /** The ranks of the quotes that are shown. */
  get ranks(): ReadonlyMap<SwapQuote, QuoteRank> {
    return this.#ranks
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Shows what a provider has become, with all that changes in the same moment. */
  markChanged(provider: ProviderState): void {
    this.#changed.add(provider)
    if (this.#changed.size === 1) void Promise.resolve().then(() => this.#publish())
  }

  /** Shows that no more quotes come, and what that made of some providers; at once. */
  end(late: readonly ProviderState[]): void {
    this.#isOver = true
    for (const provider of late) this.#changed.add(provider)
    this.#publish()
  }

  #publish(): void {
    const changed = [...this.#changed]
    this.#changed.clear()
    if (changed.length === 0 && this.#state.getSnapshot().isOver === this.#isOver) return
    for (const provider of changed) this.#snapshots.delete(provider)
    if (changed.some(({ quote }) => quote !== undefined && !this.#ranked.includes(quote))) this.#rank()
    this.#state.set(this.#snapshotNow())
    for (const provider of new Set([...changed, ...this.#moved])) this.#notify(provider)
    this.#moved.clear()
  }

  #rank(): void {
    const { preferences, services, snapshot } = this.#options
    const quotes = this.providers.flatMap(({ quote }) => quote ?? [])
    const { rankQuotes: policies } = services.hooks
    let ranked = rankQuotes(quotes, preferences)
    this.#setRanks(ranked)
    if (policies.isUsed()) {
      const shown = ranked.flatMap(one => {
        const provider = this.#providers.get(one.quote.pluginId)
        return provider === undefined ? [] : { ...one, snapshot: this.#snapshotOf(provider) }
      })
      ranked = applyPolicies(shown, requested => policies.call(requested, snapshot))
      this.#setRanks(ranked)
    }
    this.#ranked = Object.freeze(ranked.map(({ quote }) => quote))
  }

  /** Replaces the ranks; a quote whose rank or reason changed gets a new snapshot. */
  #setRanks(ranked: readonly Ranked<SwapQuote>[]): void {
    const before = new Map(this.#ranks)
    this.#ranks.clear()
    for (const [at, { quote, reason }] of ranked.entries()) {
      const rank = at + 1
      this.#ranks.set(quote, { rank, reason })
      const known = before.get(quote)
      if (known?.rank === rank && known.reason === reason) continue
      const provider = this.#providers.get(quote.pluginId)
      if (provider === undefined) continue
      this.#snapshots.delete(provider)
      this.#moved.add(provider)
    }
  }

  #snapshotNow(): QuoteRoundSnapshot {
    const { roundId, snapshot } = this.#options
    const ranked = this.#ranked.flatMap(({ pluginId }) => this.#providers.get(pluginId) ?? [])
    const others = this.providers.filter(({ quote }) => quote === undefined)
    const providers = [
      ...ranked,
      ...others.filter(({ state }) => state === 'pending'),
      ...others.filter(({ state }) => state !== 'pending')
    ].map(provider => this.#snapshotOf(provider))
    return { roundId, request: snapshot, isOver: this.#isOver, providers: Object.freeze(providers) }
  }

  #snapshotOf(provider: ProviderState): QuoteSnapshot {
    const known = this.#snapshots.get(provider)
    if (known !== undefined) return known
    const { roundId, snapshot: request } = this.#options
    const made = quoteSnapshotOf({ roundId, request }, provider)
    this.#snapshots.set(provider, made)
    return made
  }

  #notify(provider: ProviderState): void {
    this.#options.services.hooks.quoteChanged.call(this.#snapshotOf(provider))
  }
}

/** A provider that is asked in a round. */
export interface QueriedProvider {
  readonly plugin: SwapPlugin
  readonly userSettings: JsonObject
  readonly promoCode: string | undefined
}

/** The state of one provider of a round. */
export interface ProviderState extends QueriedProvider {
  readonly context: QuoteContext
  state: QuoteSnapshot['state']
  /** The number of its taps that run; a plugin may have several. */
  runningTaps: number
  quote: SwapQuote | undefined
  /** The error of its last offer, or of its tap. */
  error: WalletError | undefined
  /** From the beginning of the round to its answer. */
  durationMs: number | undefined
}

/** Returns the snapshot of one provider of a round. */
const quoteSnapshotOf = (
  { roundId, request }: Pick<QuoteSnapshot, 'roundId' | 'request'>,
  { plugin, promoCode, state, quote, error, durationMs }: ProviderState
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
    ...compact({ durationMs }),
    ...(quote !== undefined || error === undefined ? {} : errorFields(error))
  })

type QuoteFields = Omit<QuoteSnapshot, 'roundId' | 'request' | 'pluginId' | 'displayName' | 'isDex' | 'state'>

const quoteFields = (quote: SwapQuote): QuoteFields => {
  const { minReceiveAmount, expirationDate, maxFulfillmentSeconds, fate, rank, rankReason } = quote
  return {
    quoteId: quote.quoteId,
    fromNativeAmount: quote.fromNativeAmount,
    toNativeAmount: quote.toNativeAmount,
    ...compact({ minReceiveAmount }),
    networkFee: quote.networkFee.nativeAmount,
    isEstimate: quote.isEstimate,
    canBePartial: quote.canBePartial,
    ...compact({ expiresAt: expirationDate?.getTime(), maxFulfillmentSeconds, fate, rank, rankReason })
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
  ...compact({ limit: limit || undefined }),
  direction
})
