import { WalletError } from '../base/errors.ts'
import { isoOf } from '../base/time.ts'
import type { Clock } from '../io/io.ts'
import type { EngineStore } from '../types/engine.ts'

const KEY = 'high'
/** The longest window of a limit: an error of the clock up to that ends with it. */
const MAX_AHEAD_MS = 7 * 24 * 60 * 60_000

/**
 * The time of an account, by which budgets are counted. It never goes back, also across restarts. It goes forward only with two
 * witnesses: the calendar of the device, and either the monotonic clock or the newest block of a chain.
 *
 * A clock that was set back stops it. One that was set forward, or a device that was off, moves it no further than the other
 * witness, until a block confirms the later time.
 */
export class AccountClock {
  readonly #clock: Pick<Clock, 'monotonic' | 'now'>
  readonly #store: EngineStore
  readonly #startedAt: number
  /** The calendar when it began; the highest time that was kept, if one was. */
  readonly #base: number
  #blockTime = 0

  /** @throws CORRUPT_FILE for a kept time that is none */
  constructor(clock: Pick<Clock, 'monotonic' | 'now'>, store: EngineStore) {
    this.#clock = clock
    this.#store = store
    this.#startedAt = clock.monotonic()
    this.#base = this.#kept() ?? clock.now()
  }

  /** Milliseconds since 1970. */
  now(): number {
    const high = this.#kept() ?? 0
    const elapsed = this.#base + (this.#clock.monotonic() - this.#startedAt)
    return Math.max(high, Math.min(this.#clock.now(), Math.max(elapsed, this.#blockTime)))
  }

  /** The time, or that of the newest block if the calendar is behind it: what waits from now on waits on every device. */
  get latest(): number {
    return Math.max(this.now(), this.#blockTime)
  }

  /** By how much the calendar is ahead of the time of the account, in milliseconds; 0 if it is not. */
  get lag(): number {
    return Math.max(0, this.#clock.now() - this.now())
  }

  /** Takes the time of a block, in milliseconds since 1970. */
  sawBlockTime(at: number): void {
    this.#blockTime = Math.max(this.#blockTime, at)
  }

  /**
   * Says why the calendar cannot be where the time of an account begins, as a clause; undefined if it can, or if the time has begun. It
   * never goes back, so that a calendar that is years ahead would let every window stand still for years.
   */
  get startProblem(): string | undefined {
    const ahead = this.#clock.now() - this.#blockTime
    if (this.#kept() !== undefined || this.#blockTime === 0 || ahead <= MAX_AHEAD_MS) return undefined
    return `the clock of this device says ${isoOf(this.#clock.now())}, but the newest block is from ${isoOf(this.#blockTime)}: set the clock right, or let a wallet see a newer block`
  }

  /** Returns the time, and keeps it: it never goes back behind it. Resolves when durable. */
  async keep(): Promise<number> {
    const now = this.now()
    if (now !== this.#kept()) await this.#store.write(new Map([[KEY, String(now)]]))
    return now
  }

  #kept(): number | undefined {
    const text = this.#store.get(KEY)
    if (text === undefined) return undefined
    const kept = Number(text)
    if (!Number.isFinite(kept))
      throw new WalletError('CORRUPT_FILE', { path: 'time of the account', rule: 'it is no number' })
    return kept
  }
}
