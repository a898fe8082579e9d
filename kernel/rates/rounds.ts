import { type Abort, makeAbort, withDeadline } from '../base/deadline.ts'
import { failureLine, WalletError } from '../base/errors.ts'
import { secondsOf } from '../base/time.ts'
import type { Clock } from '../io/io.ts'
import type { Services } from '../plugins/services.ts'
import type { PluginId } from '../types/ids.ts'
import type { RateContext, RatePair } from '../types/rates.ts'
import type { FaultSnapshot, RateSnapshot } from '../types/snapshots.ts'
import {
  CUT_OFF_MS,
  fieldsOfPair,
  isCurrencyCode,
  isPair,
  isRate,
  MAX_PAIRS,
  MAX_WANTED,
  RatePairSet,
  REFRESH_MS,
  refusedOffer
} from './graph.ts'
import type { RateHints } from './hints.ts'
import { RateProviders } from './providers.ts'

/** Receives what rounds bring; late answers come after the round that asked for them. */
export interface RateRoundsListener {
  /** Pairs have come, or only the state of a provider is another one. */
  onPairs(pairs: readonly RateSnapshot[]): void
  /** A round begins or has ended. */
  onRunning(): void
}

/** The last problem of a provider that was reported: it may last for many rounds, and is reported once. */
interface ReportedProblems {
  readonly failure: string | undefined
  readonly refusal: string | undefined
}

interface Round {
  readonly wanted: readonly RatePair[]
  readonly requests: ProviderRequest[]
  /** True once the round is published; later answers are published one by one. */
  isOver: boolean
}

/**
 * Decides when to ask the providers, and asks them (specification §9).
 *
 * A round begins at once when a consumer wants pairs that the last round did not ask for, then 30 s after each round for as
 * long as any consumer wants rates. Without a consumer no timer runs.
 *
 * A round asks each provider one question at a time. The answers that have come when all have ended, or after 5 s, are
 * published together; later ones singly. A provider that still answers is left out of the next round. One that fails is
 * only logged (specification §8), once until it fails in other words or has answered in between; so is the fault of one
 * whose offers are refused.
 */
export class RateRounds {
  /** Changed by the rounds. */
  readonly providers: RateProviders
  readonly #services: Services
  readonly #hints: Pick<RateHints, 'gather'>
  readonly #listener: RateRoundsListener
  readonly #wanted = new Set<readonly RatePair[]>()
  #running: Promise<void> | undefined
  /** The pairs that the last round asked for. */
  #requested = new RatePairSet(MAX_WANTED)
  /** Wanted pairs beyond those. */
  readonly #unrequested = new Set<readonly RatePair[]>()
  /** By the monotonic clock; long ago before the first. */
  #endedAt = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  /** Rejects the callers that wait for a round when the service closes. */
  readonly #waiting = new Set<(error: unknown) => void>()
  /** By plugin id: the providers that are asked and have not ended. */
  readonly #requests = new Map<string, ProviderRequest>()
  readonly #reported = new Map<string, ReportedProblems>()
  #isPaused = false
  #isClosed = false

  constructor(services: Services, hints: Pick<RateHints, 'gather'>, listener: RateRoundsListener) {
    this.providers = new RateProviders(services.plugins)
    this.#services = services
    this.#hints = hints
    this.#listener = listener
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Keeps pairs fresh until the returned function is called. @throws OPTION_INVALID, CONTEXT_CLOSED */
  want(pairs: Iterable<RatePair>): () => void {
    this.#checkOpen()
    const wanted = wantedPairs(pairs)
    this.#wanted.add(wanted)
    if (wanted.some(pair => !this.#requested.has(pair))) this.#unrequested.add(wanted)
    this.#schedule()
    return () => {
      this.#wanted.delete(wanted)
      this.#unrequested.delete(wanted)
      this.#schedule()
    }
  }

  /** Runs a round now; joins a running one that asks for the same pairs. @throws CONTEXT_CLOSED */
  async runNow(): Promise<void> {
    this.#checkOpen()
    const running = this.#running
    await this.#openUntil(running ?? this.#run())
    if (running !== undefined && this.#unrequested.size > 0)
      await this.#openUntil(this.#running ?? this.#run())
  }

  /** While it is paused, no round is scheduled. */
  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused
    this.#schedule()
  }

  /** Begins nothing more, and takes no more offers. */
  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
    for (const reject of this.#waiting) reject(new WalletError('CONTEXT_CLOSED', {}))
    for (const request of this.#requests.values()) {
      request.close()
      request.abort.abort()
    }
    this.#requests.clear()
  }

  /** Waits for a round, but not beyond the end: what is asked may never answer. */
  #openUntil(round: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      round.finally(() => this.#waiting.delete(reject)).then(resolve, reject)
    })
  }

  #schedule(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (this.#wanted.size === 0 || this.#isPaused || this.#isClosed || this.#running !== undefined) return
    const { io, inBackground } = this.#services
    const dueMs =
      this.#unrequested.size > 0 ? 0 : Math.max(0, this.#endedAt + REFRESH_MS - io.clock.monotonic())
    this.#cancelTimer = io.clock.after(dueMs, () => {
      if (this.#running === undefined) inBackground('rates', this.#run())
    })
  }

  #run(): Promise<void> {
    this.#cancelTimer?.()
    this.#running = this.#runRound()
    this.#listener.onRunning()
    return this.#running
  }

  async #runRound(): Promise<void> {
    const { plugins, io } = this.#services
    try {
      // Rates do not depend on a plugin that is missing.
      await plugins.ready().catch(() => {})
      if (this.#isClosed) return
      // Also if nothing can be gathered: the next try is in 30 s.
      this.#unrequested.clear()
      const wanted = this.#hints.gather([...this.#wanted].flat())
      this.#requested = new RatePairSet(MAX_WANTED)
      for (const pair of wanted) this.#requested.add(pair)
      await this.#fetchRates(wanted)
    } finally {
      this.#running = undefined
      this.#endedAt = io.clock.monotonic()
      if (!this.#isClosed) this.#listener.onRunning()
      this.#schedule()
    }
  }

  /** Resolves when what came was published; it may be nothing. */
  async #fetchRates(wanted: readonly RatePair[]): Promise<void> {
    const { hooks, io } = this.#services
    const round: Round = { wanted, requests: [], isOver: false }
    const answered = hooks.fetchRates.promise({
      contextFor: pluginId => this.#contextFor(round, pluginId),
      ended: (pluginId, error) => {
        this.#onEnded(round, pluginId, error)
        return true
      }
    })
    const cutOff = { clock: io.clock, milliseconds: CUT_OFF_MS, what: 'A round of rates' }
    await withDeadline(cutOff, () => answered).catch(() => {})
    round.isOver = true
    for (const [pluginId, request] of this.#requests) {
      if (round.requests.includes(request)) this.providers.markSilent(pluginId)
    }
    this.#listener.onPairs(round.requests.flatMap(request => request.take()))
  }

  #contextFor(round: Round, pluginId: PluginId): RateContext | undefined {
    const known = this.#requests.get(pluginId)
    if (known !== undefined) {
      if (!round.requests.includes(known)) return undefined
      known.tapCount += 1
      return known.context
    }
    if (!this.providers.isActive(pluginId)) return undefined
    const request = new ProviderRequest({
      pluginId,
      wanted: round.wanted,
      clock: this.#services.io.clock,
      onRefused: (message, reason) => this.#reportRefusal(pluginId, message, reason)
    })
    this.#requests.set(pluginId, request)
    round.requests.push(request)
    this.providers.markQueried(pluginId)
    return request.context
  }

  #onEnded(round: Round, pluginId: PluginId, error: unknown): void {
    const request = this.#requests.get(pluginId)
    if (request === undefined || !round.requests.includes(request)) return
    request.tapCount -= 1
    if (error !== undefined) request.error = error
    if (request.tapCount > 0) return
    this.#reportFailure(pluginId, request)
    this.#requests.delete(pluginId)
    request.close()
    // A plugin that is past its deadline may still be working.
    if (error !== undefined) request.abort.abort()
    const { clock } = this.#services.io
    this.providers.markEnded(pluginId, {
      pairCount: request.count,
      durationMs: clock.monotonic() - request.startedAt,
      at: secondsOf(clock.now()),
      error: request.error
    })
    if (round.isOver) this.#listener.onPairs(request.take())
  }

  /** A failure that lasts since the round before was reported already. */
  #reportFailure(pluginId: PluginId, { error, refusal }: ProviderRequest): void {
    const failure = error === undefined ? undefined : failureLine('Could not fetch rates', error)
    if (failure !== undefined && failure !== this.#reported.get(pluginId)?.failure) {
      this.#services.logOf(pluginId).warn(failure)
    }
    this.#reported.set(pluginId, { failure, refusal })
  }

  #reportRefusal(pluginId: PluginId, message: string, reason: string | undefined): void {
    if (message === this.#reported.get(pluginId)?.refusal) return
    reportFault(this.#services, { pluginId, hook: 'fetchRates', message }, reason)
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new WalletError('CONTEXT_CLOSED', {})
  }
}

/** Returns the valid pairs. */
const wantedPairs = (pairs: Iterable<RatePair>): readonly RatePair[] => {
  const wanted = new RatePairSet(MAX_WANTED)
  for (const pair of pairs) {
    if (!isPair(pair)) {
      throw new WalletError('OPTION_INVALID', { option: 'pairs', rule: 'are pairs of currency codes' })
    }
    wanted.add(pair)
  }
  return wanted.list()
}

export interface ProviderRequestOptions {
  readonly pluginId: PluginId
  readonly wanted: readonly RatePair[]
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Called with the message of the first offer that cannot be accepted, and with what is wrong with it. */
  onRefused(message: string, reason?: string): void
}

/** What one provider is asked in one round; takes what it offers until it is closed. */
export class ProviderRequest {
  readonly context: RateContext
  readonly abort: Abort = makeAbort()
  /** By the monotonic clock. */
  readonly startedAt: number
  /** The number of its taps that run; a plugin may have several. */
  tapCount = 1
  /** Thrown by its last tap that failed. */
  error: unknown
  readonly #options: ProviderRequestOptions
  #waiting: RateSnapshot[] = []
  #count = 0
  #refusal: string | undefined
  #isClosed = false

  constructor(options: ProviderRequestOptions) {
    this.#options = options
    this.startedAt = options.clock.monotonic()
    this.context = Object.freeze({
      wanted: options.wanted,
      signal: this.abort.signal,
      offer: (pair: RatePair, rate: number) => this.#offer(pair, rate)
    })
  }

  /** The number of pairs that it took. */
  get count(): number {
    return this.#count
  }

  /** Why the first offer that was not taken was refused. */
  get refusal(): string | undefined {
    return this.#refusal
  }

  /** Takes away what has come since the last time. */
  take(): readonly RateSnapshot[] {
    const taken = this.#waiting
    this.#waiting = []
    return taken
  }

  /** Ignores further offers: the provider has ended, or the round is closed. */
  close(): void {
    this.#isClosed = true
  }

  #offer(pair: unknown, rate: unknown): void {
    if (this.#isClosed) return
    const fields = fieldsOfPair(pair)
    const { fromCurrency, toCurrency } = fields
    if (!isCurrencyCode(fromCurrency) || !isCurrencyCode(toCurrency) || !isRate(rate)) {
      this.#refuse('Invalid data format', refusedOffer(fields, rate))
      return
    }
    if (this.#count >= MAX_PAIRS) {
      this.#refuse(`More than ${MAX_PAIRS} pairs`)
      return
    }
    const { pluginId, clock } = this.#options
    this.#count += 1
    const at = secondsOf(clock.now())
    this.#waiting.push(Object.freeze({ fromCurrency, toCurrency, rate, source: pluginId, at }))
  }

  // Thousands may be bad for one reason.
  #refuse(message: string, reason?: string): void {
    if (this.#refusal !== undefined) return
    this.#refusal = message
    this.#options.onRefused(message, reason)
  }
}

/** Reports a refused offer in the plugin's log, with its reason, and as its fault. */
export const reportFault = (
  { logOf, hooks }: Pick<Services, 'logOf' | 'hooks'>,
  { pluginId, hook, message }: Pick<FaultSnapshot, 'pluginId' | 'hook' | 'message'>,
  reason?: string
): void => {
  logOf(pluginId).error(reason === undefined ? message : `${message}: ${reason}`)
  hooks.pluginFault.call(Object.freeze({ pluginId, hook, errorName: 'Error', message }))
}
