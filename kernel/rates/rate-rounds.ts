import { type Abort, makeAbort, withDeadline } from '../base/deadline.ts'
import { failureLine } from '../base/errors.ts'
import { secondsOf } from '../base/time.ts'
import type { Scoped } from '../plugins/dispatch.ts'
import type { Services } from '../plugins/services.ts'
import type { RateContext, RatePair } from '../types/rates.ts'
import type { RateSnapshot } from '../types/snapshots.ts'
import { OpenRateDesk } from './rate-desk.ts'
import { tellFault } from './rate-fault.ts'
import { CUT_OFF_MS } from './rate-limits.ts'
import type { RateProviders } from './rate-providers.ts'

/** What rounds are made with. */
export interface RateRoundsParts {
  readonly services: Services
  readonly providers: RateProviders
  /** Takes what a round brought, or a late answer; also when it is nothing but the state of providers. */
  publish(pairs: readonly RateSnapshot[]): void
}

/** A provider that is asked and has not ended. */
interface Asked {
  readonly round: Round
  readonly open: OpenRateDesk
  readonly abort: Abort
  readonly startedAt: number
  /** A plugin may tap more than once. */
  tapCount: number
  error?: unknown
}

/** What was wrong with a provider when it ended last: it may be so for many rounds, and is told once. */
interface Told {
  readonly failure: string | undefined
  readonly refusal: string | undefined
}

interface Round {
  readonly wanted: readonly RatePair[]
  readonly asked: Asked[]
  /** What comes from now on is published by itself. */
  isOver: boolean
}

/**
 * Asks the providers, one question at a time to each (specification §9).
 *
 * What has come when all have ended, or after 5 s, is published together; later answers come singly. A provider that
 * still answers is left out of the next round. One that fails is only logged (specification §8), once until it fails in
 * other words or has answered in between; so is the fault of one whose offers are refused.
 */
export class RateRounds {
  readonly #parts: RateRoundsParts
  readonly #asked = new Map<string, Asked>()
  readonly #told = new Map<string, Told>()

  constructor(parts: RateRoundsParts) {
    this.#parts = parts
  }

  /** Resolves when what came was published; it may be nothing. */
  async ask(wanted: readonly RatePair[]): Promise<void> {
    const { services } = this.#parts
    const round: Round = { wanted, asked: [], isOver: false }
    const answered = services.hooks.fetchRates.promise(this.#desksOf(round))
    const cutOff = { clock: services.io.clock, milliseconds: CUT_OFF_MS, what: 'A round of rates' }
    await withDeadline(cutOff, () => answered).catch(() => {})
    this.#end(round)
  }

  /** Waits for nobody any more. */
  close(): void {
    for (const { open, abort } of this.#asked.values()) {
      open.close()
      abort.abort()
    }
    this.#asked.clear()
  }

  #desksOf(round: Round): Scoped<RateContext> {
    return {
      deskFor: pluginId => this.#deskFor(round, pluginId),
      ended: (pluginId, error) => this.#ended(round, pluginId, error)
    }
  }

  #deskFor(round: Round, pluginId: string): RateContext | undefined {
    const { providers, services } = this.#parts
    const known = this.#asked.get(pluginId)
    if (known !== undefined) {
      if (known.round !== round) return undefined
      known.tapCount += 1
      return known.open.desk
    }
    if (!providers.isActive(pluginId)) return undefined
    const { clock } = services.io
    const abort = makeAbort()
    const open = new OpenRateDesk({
      pluginId,
      wanted: round.wanted,
      signal: abort.signal,
      now: () => secondsOf(clock.now()),
      refused: message => this.#tellRefusal(pluginId, message)
    })
    const asked: Asked = { round, open, abort, startedAt: clock.monotonic(), tapCount: 1 }
    this.#asked.set(pluginId, asked)
    round.asked.push(asked)
    providers.asked(pluginId)
    return open.desk
  }

  #ended(round: Round, pluginId: string, error: unknown): boolean {
    const asked = this.#asked.get(pluginId)
    if (asked === undefined || asked.round !== round) return true
    const { services, providers, publish } = this.#parts
    asked.tapCount -= 1
    if (error !== undefined) asked.error = error
    if (asked.tapCount > 0) return true
    this.#tellFailure(pluginId, asked)
    this.#asked.delete(pluginId)
    asked.open.close()
    // A plugin that is past its deadline may still be at work for nobody.
    if (error !== undefined) asked.abort.abort()
    const { clock } = services.io
    providers.ended(pluginId, {
      pairCount: asked.open.count,
      durationMs: clock.monotonic() - asked.startedAt,
      at: secondsOf(clock.now()),
      error: asked.error
    })
    if (round.isOver) publish(asked.open.take())
    return true
  }

  /** What has lasted since the round before was told already. */
  #tellFailure(pluginId: string, { error, open }: Asked): void {
    const failure = error === undefined ? undefined : failureLine('It gave no rates', error)
    if (failure !== undefined && failure !== this.#told.get(pluginId)?.failure) {
      this.#parts.services.logOf(pluginId).warn(failure)
    }
    this.#told.set(pluginId, { failure, refusal: open.refusal })
  }

  #tellRefusal(pluginId: string, message: string): void {
    if (message === this.#told.get(pluginId)?.refusal) return
    tellFault(this.#parts.services, { pluginId, hook: 'fetchRates', message })
  }

  #end(round: Round): void {
    const { providers, publish } = this.#parts
    round.isOver = true
    for (const [pluginId, asked] of this.#asked) if (asked.round === round) providers.silent(pluginId)
    publish(round.asked.flatMap(({ open }) => open.take()))
  }
}
