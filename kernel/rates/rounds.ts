import { type Abort, makeAbort, withDeadline } from '../base/deadline.ts'
import { failureLine, WalletError } from '../base/errors.ts'
import { secondsOf } from '../base/time.ts'
import type { AbortSignalLike } from '../io/io.ts'
import type { Scoped } from '../plugins/dispatch.ts'
import type { Services } from '../plugins/services.ts'
import type { RateContext, RatePair } from '../types/rates.ts'
import type { RateSnapshot } from '../types/snapshots.ts'
import {
  CUT_OFF_MS,
  fieldsOfPair,
  isCurrencyCode,
  isPair,
  isRate,
  MAX_PAIRS,
  MAX_WANTED,
  RatePairSet,
  REFRESH_MS
} from './graph.ts'
import type { RateProviders } from './providers.ts'

/** The steps of a refresh. */
export interface RateRefreshOptions {
  readonly services: Pick<Services, 'io' | 'inBackground'>
  /** Resolves when it is known who can be asked. */
  ready(): Promise<void>
  /** Adds hints to the pairs that consumers want. */
  gather(wanted: Iterable<RatePair>): readonly RatePair[]
  /** One round; resolves when it was published. */
  ask(wanted: readonly RatePair[]): Promise<void>
  /** A round begins or has ended. */
  changed(): void
}

/**
 * Decides when to fetch rates: at once when a consumer wants pairs that the last round did not fetch, then 30 s after each
 * round for as long as any consumer wants rates (specification §9). Without a consumer no timer runs.
 */
export class RateRefresh {
  readonly #options: RateRefreshOptions
  readonly #wanted = new Set<readonly RatePair[]>()
  #round: Promise<void> | undefined
  /** The pairs that the last round asked for. */
  #asked = new RatePairSet(MAX_WANTED)
  /** Wanted pairs beyond those. */
  readonly #unasked = new Set<readonly RatePair[]>()
  /** By the monotonic clock; long ago before the first. */
  #endedAt = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  /** Rejects the callers that wait for a round when the service closes. */
  readonly #waiting = new Set<(error: unknown) => void>()
  #isPaused = false
  #isClosed = false

  constructor(options: RateRefreshOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#round !== undefined
  }

  /** Keeps pairs fresh until the returned function is called. @throws OPTION_INVALID, CONTEXT_CLOSED */
  want(pairs: Iterable<RatePair>): () => void {
    this.#checkOpen()
    const wanted = wantedPairs(pairs)
    this.#wanted.add(wanted)
    if (wanted.some(pair => !this.#asked.has(pair))) this.#unasked.add(wanted)
    this.#schedule()
    return () => {
      this.#wanted.delete(wanted)
      this.#unasked.delete(wanted)
      this.#schedule()
    }
  }

  /** Runs a round now; joins a running one that fetches the same pairs. */
  async now(): Promise<void> {
    this.#checkOpen()
    const running = this.#round
    await this.#openUntil(running ?? this.#run())
    if (running !== undefined && this.#unasked.size > 0) await this.#openUntil(this.#round ?? this.#run())
  }

  /** While it is paused, no round is scheduled. */
  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused
    this.#schedule()
  }

  /** Begins nothing more. */
  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
    for (const reject of this.#waiting) reject(new WalletError('CONTEXT_CLOSED', {}))
  }

  /** Waits for a round, but not beyond the end: what is asked may never answer. */
  #openUntil(round: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      round.finally(() => this.#waiting.delete(reject)).then(resolve, reject)
    })
  }

  #run(): Promise<void> {
    this.#cancelTimer?.()
    this.#round = this.#ask()
    this.#options.changed()
    return this.#round
  }

  async #ask(): Promise<void> {
    const { services, ready, ask, changed, gather } = this.#options
    try {
      await ready()
      if (this.#isClosed) return
      // Also if nothing can be gathered: the next try is in 30 s.
      this.#unasked.clear()
      const wanted = gather([...this.#wanted].flat())
      this.#asked = new RatePairSet(MAX_WANTED)
      for (const pair of wanted) this.#asked.add(pair)
      await ask(wanted)
    } finally {
      this.#round = undefined
      this.#endedAt = services.io.clock.monotonic()
      if (!this.#isClosed) changed()
      this.#schedule()
    }
  }

  #schedule(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (this.#wanted.size === 0 || this.#isPaused || this.#isClosed || this.#round !== undefined) return
    const { clock } = this.#options.services.io
    const dueMs = this.#unasked.size > 0 ? 0 : Math.max(0, this.#endedAt + REFRESH_MS - clock.monotonic())
    this.#cancelTimer = clock.after(dueMs, () => {
      if (this.#round === undefined) this.#options.services.inBackground('rates', this.#run())
    })
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

export interface RateRoundsOptions {
  readonly services: Services
  readonly providers: RateProviders
  /** Takes what a round brought, or a late answer; also when it is nothing but the state of providers. */
  publish(pairs: readonly RateSnapshot[]): void
}

/** A provider that is asked and has not ended. */
interface ProviderRequest {
  readonly round: Round
  readonly open: OpenContext
  readonly abort: Abort
  readonly startedAt: number
  /** A plugin may tap more than once. */
  tapCount: number
  error?: unknown
}

/** The last problem of a provider that was reported: it may last for many rounds, and is reported once. */
interface ReportedProblems {
  readonly failure: string | undefined
  readonly refusal: string | undefined
}

interface Round {
  readonly wanted: readonly RatePair[]
  readonly asked: ProviderRequest[]
  /** True once the round is published; later answers are published one by one. */
  isOver: boolean
}

/**
 * Asks the providers, one question at a time to each (specification §9).
 *
 * The answers that have come when all have ended, or after 5 s, are published together; later ones singly. A provider that
 * still answers is left out of the next round. One that fails is only logged (specification §8), once until it fails in
 * other words or has answered in between; so is the fault of one whose offers are refused.
 */
export class RateRounds {
  readonly #options: RateRoundsOptions
  readonly #asked = new Map<string, ProviderRequest>()
  readonly #reported = new Map<string, ReportedProblems>()

  constructor(options: RateRoundsOptions) {
    this.#options = options
  }

  /** Resolves when what came was published; it may be nothing. */
  async ask(wanted: readonly RatePair[]): Promise<void> {
    const { services } = this.#options
    const round: Round = { wanted, asked: [], isOver: false }
    const answered = services.hooks.fetchRates.promise(this.#contextsOf(round))
    const cutOff = { clock: services.io.clock, milliseconds: CUT_OFF_MS, what: 'A round of rates' }
    await withDeadline(cutOff, () => answered).catch(() => {})
    this.#end(round)
  }

  /** Closes every open context. */
  close(): void {
    for (const { open, abort } of this.#asked.values()) {
      open.close()
      abort.abort()
    }
    this.#asked.clear()
  }

  #contextsOf(round: Round): Scoped<RateContext> {
    return {
      contextFor: pluginId => this.#contextFor(round, pluginId),
      ended: (pluginId, error) => this.#onEnded(round, pluginId, error)
    }
  }

  #contextFor(round: Round, pluginId: string): RateContext | undefined {
    const { providers, services } = this.#options
    const known = this.#asked.get(pluginId)
    if (known !== undefined) {
      if (known.round !== round) return undefined
      known.tapCount += 1
      return known.open.context
    }
    if (!providers.isActive(pluginId)) return undefined
    const { clock } = services.io
    const abort = makeAbort()
    const open = new OpenContext({
      pluginId,
      wanted: round.wanted,
      signal: abort.signal,
      now: () => secondsOf(clock.now()),
      refused: message => this.#reportRefusal(pluginId, message)
    })
    const asked: ProviderRequest = { round, open, abort, startedAt: clock.monotonic(), tapCount: 1 }
    this.#asked.set(pluginId, asked)
    round.asked.push(asked)
    providers.markAsked(pluginId)
    return open.context
  }

  #onEnded(round: Round, pluginId: string, error: unknown): boolean {
    const asked = this.#asked.get(pluginId)
    if (asked === undefined || asked.round !== round) return true
    const { services, providers, publish } = this.#options
    asked.tapCount -= 1
    if (error !== undefined) asked.error = error
    if (asked.tapCount > 0) return true
    this.#reportFailure(pluginId, asked)
    this.#asked.delete(pluginId)
    asked.open.close()
    // A plugin that is past its deadline may still be working.
    if (error !== undefined) asked.abort.abort()
    const { clock } = services.io
    providers.markEnded(pluginId, {
      pairCount: asked.open.count,
      durationMs: clock.monotonic() - asked.startedAt,
      at: secondsOf(clock.now()),
      error: asked.error
    })
    if (round.isOver) publish(asked.open.take())
    return true
  }

  /** A failure that lasts since the round before was reported already. */
  #reportFailure(pluginId: string, { error, open }: ProviderRequest): void {
    const failure = error === undefined ? undefined : failureLine('It gave no rates', error)
    if (failure !== undefined && failure !== this.#reported.get(pluginId)?.failure) {
      this.#options.services.logOf(pluginId).warn(failure)
    }
    this.#reported.set(pluginId, { failure, refusal: open.refusal })
  }

  #reportRefusal(pluginId: string, message: string): void {
    if (message === this.#reported.get(pluginId)?.refusal) return
    reportFault(this.#options.services, { pluginId, hook: 'fetchRates', message })
  }

  #end(round: Round): void {
    const { providers, publish } = this.#options
    round.isOver = true
    for (const [pluginId, asked] of this.#asked) if (asked.round === round) providers.markSilent(pluginId)
    publish(round.asked.flatMap(({ open }) => open.take()))
  }
}

export interface OpenContextOptions {
  readonly pluginId: string
  readonly wanted: readonly RatePair[]
  readonly signal: AbortSignalLike
  /** Unix seconds. */
  now(): number
  /** Called with the reason of the first offer that cannot be accepted. */
  refused(message: string): void
}

/** Collects the pairs of one provider in one round, until it is closed. */
export class OpenContext {
  readonly context: RateContext
  readonly #options: OpenContextOptions
  #waiting: RateSnapshot[] = []
  #count = 0
  #refusal: string | undefined
  #isClosed = false

  constructor(options: OpenContextOptions) {
    this.#options = options
    const { wanted, signal } = options
    this.context = Object.freeze({
      wanted,
      signal,
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
    const { fromCurrency, toCurrency } = fieldsOfPair(pair)
    if (!isCurrencyCode(fromCurrency) || !isCurrencyCode(toCurrency) || !isRate(rate)) {
      this.#refuse('Invalid data format')
      return
    }
    if (this.#count >= MAX_PAIRS) {
      this.#refuse(`More than ${MAX_PAIRS} pairs`)
      return
    }
    const { pluginId, now } = this.#options
    this.#count += 1
    this.#waiting.push(Object.freeze({ fromCurrency, toCurrency, rate, source: pluginId, at: now() }))
  }

  // Thousands may be bad for one reason.
  #refuse(message: string): void {
    if (this.#refusal !== undefined) return
    this.#refusal = message
    this.#options.refused(message)
  }
}

/** A fault of a rate plugin in one of its hooks. */
export interface RateFault {
  readonly pluginId: string
  readonly hook: 'fetchRates' | 'fetchHistoricRates'
  readonly message: string
}

/** Reports a refused offer in the plugin's log and as its fault. */
export const reportFault = ({ logOf, hooks }: Services, { pluginId, hook, message }: RateFault): void => {
  logOf(pluginId).error(message)
  hooks.pluginFault.call(Object.freeze({ pluginId, hook, errorName: 'Error', message }))
}
