import { WalletError } from '../base/errors.ts'
import type { Services } from '../plugins/services.ts'
import type { RatePair } from '../types/rates.ts'
import { PairSet } from './pair-set.ts'
import { isPair, MAX_WANTED, REFRESH_MS } from './rate-limits.ts'

/** What a refresh runs. */
export interface RateRefreshParts {
  readonly services: Pick<Services, 'io' | 'inBackground'>
  /** Resolves when it is known who can be asked. */
  ready(): Promise<void>
  /** Adds what is known besides to what somebody wants. */
  gather(wanted: Iterable<RatePair>): readonly RatePair[]
  /** One round; resolves when it was published. */
  ask(wanted: readonly RatePair[]): Promise<void>
  /** A round begins or has ended. */
  changed(): void
}

/**
 * When rates are asked for: at once when somebody wants pairs that were not asked for just now, then 30 s after each
 * round for as long as somebody wants any (specification §9). While nobody does, nothing waits and nothing runs.
 */
export class RateRefresh {
  readonly #parts: RateRefreshParts
  readonly #wishes = new Set<readonly RatePair[]>()
  #round: Promise<void> | undefined
  /** What the last round asked for. */
  #asked = new PairSet(MAX_WANTED)
  /** Wishes for more than that. */
  readonly #isNew = new Set<readonly RatePair[]>()
  /** By the monotonic clock; long ago before the first. */
  #endedAt = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  /** What those who wait for a round are told at the end. */
  readonly #waiting = new Set<(error: unknown) => void>()
  #isPaused = false
  #isClosed = false

  constructor(parts: RateRefreshParts) {
    this.#parts = parts
  }

  get isRunning(): boolean {
    return this.#round !== undefined
  }

  /** Keeps pairs fresh until the returned function is called. @throws OPTION_INVALID, CONTEXT_CLOSED */
  want(pairs: Iterable<RatePair>): () => void {
    this.#checkOpen()
    const wish = wishOf(pairs)
    this.#wishes.add(wish)
    if (wish.some(pair => !this.#asked.has(pair))) this.#isNew.add(wish)
    this.#schedule()
    return () => {
      this.#wishes.delete(wish)
      this.#isNew.delete(wish)
      this.#schedule()
    }
  }

  /** Asks now, whoever wants what; joins a round that asks for the same. */
  async now(): Promise<void> {
    this.#checkOpen()
    const under = this.#round
    await this.#openUntil(under ?? this.#run())
    if (under !== undefined && this.#isNew.size > 0) await this.#openUntil(this.#round ?? this.#run())
  }

  /** While it is paused no round begins by itself. */
  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused
    this.#schedule()
  }

  /** Begins nothing more. */
  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
    for (const giveUp of this.#waiting) giveUp(new WalletError('CONTEXT_CLOSED', {}))
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
    this.#parts.changed()
    return this.#round
  }

  async #ask(): Promise<void> {
    const { services, ready, ask, changed, gather } = this.#parts
    try {
      await ready()
      if (this.#isClosed) return
      // Also if nothing can be gathered: the next try is in 30 s.
      this.#isNew.clear()
      const wanted = gather([...this.#wishes].flat())
      this.#asked = new PairSet(MAX_WANTED)
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
    if (this.#wishes.size === 0 || this.#isPaused || this.#isClosed || this.#round !== undefined) return
    const { clock } = this.#parts.services.io
    const dueMs = this.#isNew.size > 0 ? 0 : Math.max(0, this.#endedAt + REFRESH_MS - clock.monotonic())
    this.#cancelTimer = clock.after(dueMs, () => {
      if (this.#round === undefined) this.#parts.services.inBackground('rates', this.#run())
    })
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new WalletError('CONTEXT_CLOSED', {})
  }
}

/** What of the pairs can be asked for. */
const wishOf = (pairs: Iterable<RatePair>): readonly RatePair[] => {
  const wish = new PairSet(MAX_WANTED)
  for (const pair of pairs) {
    if (!isPair(pair)) {
      throw new WalletError('OPTION_INVALID', { option: 'pairs', rule: 'are pairs of currency codes' })
    }
    wish.add(pair)
  }
  return wish.list()
}
