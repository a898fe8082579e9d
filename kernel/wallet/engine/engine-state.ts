import { compact } from '../../base/compact.ts'
import { describeError, isWalletError } from '../../base/errors.ts'
import { Observable, type Readable } from '../../base/observable.ts'
import type { Services } from '../../plugins/services.ts'
import type { CurrencyInfo } from '../../types/currency.ts'
import type { WalletId } from '../../types/ids.ts'
import type { EngineSnapshot } from '../../types/snapshots.ts'

/** The options of {@link EngineState}. */
export interface EngineStateOptions {
  readonly services: Services
  readonly walletId: WalletId
  readonly info: CurrencyInfo
  /** Delivers batched changes. */
  readonly events: { push(key: string, deliver: () => void): void }
  /** The pause of the account. */
  readonly paused: Readable<{ readonly isPaused: boolean }>
  /** The wallet's own pause, to begin with. */
  readonly isPaused: boolean
  /** Hands a failure that was survived to the application. */
  report(error: unknown): void
}

/** Changes of an engine's state; listeners are notified only if something differs. */
export type EngineChanges = Partial<
  Pick<EngineSnapshot, 'state' | 'isPaused' | 'syncRatio' | 'blockHeight' | 'status'>
>

/**
 * The public facts of one engine: how it is, since when, and what went wrong.
 *
 * The engine's own reports are batched for a moment and emitted as one change.
 */
export class EngineState implements Readable<EngineSnapshot> {
  readonly #state: Observable<EngineSnapshot>
  readonly #options: EngineStateOptions
  readonly #beforeEmit: () => void
  /** Changes that are not emitted yet. */
  #batched: EngineChanges | undefined

  /** @param beforeEmit - emits what the engine reported besides, so that "synced" is never emitted before its balances */
  constructor(options: EngineStateOptions, beforeEmit: () => void) {
    const { services, walletId, info, paused, report } = options
    const { pluginId } = info
    const isPaused = options.isPaused || paused.getSnapshot().isPaused
    this.#options = options
    this.#beforeEmit = beforeEmit
    this.#state = new Observable<EngineSnapshot>(
      { walletId, pluginId, state: 'created', isPaused, syncRatio: 0, blockHeight: 0, since: this.#now },
      snapshot => services.hooks.engineChanged.call(snapshot),
      report
    )
    services.hooks.engineChanged.call(this.getSnapshot())
  }

  subscribe(listener: () => void): () => void {
    return this.#state.subscribe(listener)
  }

  getSnapshot(): EngineSnapshot {
    return this.#state.getSnapshot()
  }

  /** Changes facts soon, with others that come in meanwhile. */
  batch(facts: EngineChanges): void {
    const isWaiting = this.#batched !== undefined
    if (!isWaiting && facts.status === '' && this.getSnapshot().status === undefined) return
    if (!isWaiting && holds(this.getSnapshot(), facts)) return
    this.#batched = { ...this.#batched, ...facts }
    if (isWaiting) return
    this.#options.events.push(`engine ${this.#options.walletId}`, () => {
      const gathered = this.#batched
      this.#batched = undefined
      if (gathered === undefined) return
      this.#beforeEmit()
      this.set(gathered)
    })
  }

  /** Drops batched changes. */
  dropBatch(): void {
    this.#batched = undefined
  }

  /** Changes facts. */
  set(changes: EngineChanges): void {
    this.#replace({ ...this.getSnapshot(), ...changes })
  }

  /** Sets the failure, until something succeeds. */
  setFailure(error: unknown, changes: EngineChanges = {}): void {
    const { errorCode: _, ...rest } = this.getSnapshot()
    const failure = describeError(error)
    this.#replace({
      ...rest,
      ...changes,
      failure,
      ...compact({ errorCode: isWalletError(error) ? error.code : undefined })
    })
  }

  /** Clears the failure after a success. */
  clearFailure(changes: EngineChanges = {}): void {
    const { errorCode: _, failure: __, ...rest } = this.getSnapshot()
    this.#replace({ ...rest, ...changes })
  }

  /** Sets the state of an engine that has stopped, and clears its status. */
  setStopped(): void {
    const { status: _, ...rest } = this.getSnapshot()
    this.#replace({ ...rest, state: 'stopped' })
  }

  get #now(): number {
    return Math.floor(this.#options.services.io.clock.now() / 1000)
  }

  #replace(changed: EngineSnapshot): void {
    const present = this.getSnapshot()
    const next = snapshotOf(changed)
    if (isSame(present, next)) return
    const isSameStage =
      present.state === next.state &&
      present.isPaused === next.isPaused &&
      (present.failure === undefined) === (next.failure === undefined)
    this.#state.set(isSameStage ? next : snapshotOf({ ...next, since: this.#now }))
  }
}

/** The fields by name: what is spread and taken apart many times has a hidden shape of its own, which costs memory. */
const snapshotOf = ({ status, failure, errorCode, ...facts }: EngineSnapshot): EngineSnapshot => ({
  walletId: facts.walletId,
  pluginId: facts.pluginId,
  state: facts.state,
  isPaused: facts.isPaused,
  syncRatio: facts.syncRatio,
  blockHeight: facts.blockHeight,
  since: facts.since,
  // No words are none: an engine takes back what it said so.
  ...compact({ status: status || undefined, failure, errorCode })
})

const holds = (snapshot: EngineSnapshot, facts: Partial<EngineSnapshot>): boolean => {
  for (const name of Object.keys(facts) as (keyof EngineSnapshot)[]) {
    if (snapshot[name] !== facts[name]) return false
  }
  return true
}

const isSame = (one: EngineSnapshot, other: EngineSnapshot): boolean => holds(one, other) && holds(other, one)
