import { requireFlags, requireObject } from './arguments.ts'
import { WalletError } from './errors.ts'
import { Observable, type Readable } from './observable.ts'
import type { Scheduler } from './scheduler.ts'

/** The pause state of something: its own, and that of its parent. */
export interface PauseSnapshot {
  /** True if this very thing was paused. */
  readonly isSet: boolean
  /** True if this or its parent is paused. */
  readonly isPaused: boolean
}

/** The delay of a pause or its end; none by default. */
export interface PauseOptions {
  readonly afterSeconds?: number
}

/** The parts of a pause switch. */
export interface PauseSwitchOptions {
  readonly scheduler: Scheduler
  /** Names its delayed change among the tasks of the scheduler. */
  readonly key: string
  /** The pause that also applies to this: that of its account, or of everything. */
  readonly parent?: Readable<PauseSnapshot> | undefined
  /** True if it begins paused. */
  readonly isSet?: boolean
}

/**
 * The pause of a wallet, of an account or of everything: each is paused while it or what it belongs to is
 * (specification §4 "Pause flag can be set immediately or after a delay in seconds").
 */
export class PauseSwitch implements Readable<PauseSnapshot> {
  readonly #parts: PauseSwitchOptions
  readonly #state: Observable<PauseSnapshot>
  readonly #unsubscribe: (() => void) | undefined

  constructor(parts: PauseSwitchOptions) {
    this.#parts = parts
    const { isSet = false } = parts
    this.#state = new Observable<PauseSnapshot>({ isSet, isPaused: isSet || this.#isParentPaused() })
    this.#unsubscribe = parts.parent?.subscribe(() => this.#set(this.getSnapshot().isSet))
  }

  subscribe(listener: () => void): () => void {
    return this.#state.subscribe(listener)
  }

  getSnapshot(): PauseSnapshot {
    return this.#state.getSnapshot()
  }

  /**
   * Pauses or resumes, now or after a while; a change that waits is replaced by the next one.
   *
   * @throws OPTION_INVALID
   */
  change(isPaused: boolean, options: PauseOptions = {}): void {
    requireFlags({ isPaused })
    requireObject('options', options)
    const { afterSeconds = 0 } = options
    if (typeof afterSeconds !== 'number' || !(afterSeconds >= 0 && afterSeconds <= MAX_SECONDS)) {
      throw new WalletError('OPTION_INVALID', { option: 'afterSeconds', rule: `is 0 to ${MAX_SECONDS}` })
    }
    const { scheduler, key } = this.#parts
    scheduler.cancel(key)
    if (afterSeconds === 0) this.#set(isPaused)
    else scheduler.schedule(key, afterSeconds * 1000, () => this.#set(isPaused))
  }

  /** Cancels the delayed change, and stops following the parent. */
  close(): void {
    this.#parts.scheduler.cancel(this.#parts.key)
    this.#unsubscribe?.()
  }

  #set(isSet: boolean): void {
    const isPaused = isSet || this.#isParentPaused()
    const present = this.getSnapshot()
    if (present.isSet !== isSet || present.isPaused !== isPaused) this.#state.set({ isSet, isPaused })
  }

  #isParentPaused(): boolean {
    return this.#parts.parent?.getSnapshot().isPaused ?? false
  }
}

const MAX_SECONDS = 2_000_000
