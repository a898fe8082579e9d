import { isWalletError } from '../../errors/wallet-error.ts'
import type { EngineSnapshot } from '../../hooks/snapshots.ts'
import { describeError } from '../../log.ts'
import type { Services } from '../../services.ts'
import { Observable, type Readable } from '../../state/observable.ts'

/** What an engine's state may be told; each change that changes nothing is told to nobody. */
export type EngineChanges = Partial<
  Pick<EngineSnapshot, 'state' | 'isPaused' | 'syncRatio' | 'blockHeight' | 'status'>
>

/** The public facts of one engine: how it is, since when, and what went wrong. */
export class EngineState implements Readable<EngineSnapshot> {
  readonly subscribe: Readable<EngineSnapshot>['subscribe']
  readonly getSnapshot: Readable<EngineSnapshot>['getSnapshot']
  readonly #state: Observable<EngineSnapshot>
  readonly #now: () => number

  constructor(
    { hooks, io, report }: Services,
    place: Pick<EngineSnapshot, 'walletId' | 'pluginId' | 'isPaused'>
  ) {
    this.#now = () => Math.floor(io.clock.now() / 1000)
    this.#state = new Observable<EngineSnapshot>(
      { ...place, state: 'created', syncRatio: 0, blockHeight: 0, since: this.#now() },
      snapshot => hooks.engineChanged.call(snapshot),
      error => report(`wallet ${place.pluginId}`, error)
    )
    this.subscribe = this.#state.subscribe
    this.getSnapshot = this.#state.getSnapshot
    hooks.engineChanged.call(this.getSnapshot())
  }

  /** Changes facts. */
  show(changes: EngineChanges): void {
    this.#set({ ...this.getSnapshot(), ...changes })
  }

  /** Notes what went wrong, until something succeeds. */
  showFailure(error: unknown, changes: EngineChanges = {}): void {
    const { errorCode: _, ...rest } = this.getSnapshot()
    const failure = describeError(error)
    this.#set({ ...rest, ...changes, failure, ...(isWalletError(error) ? { errorCode: error.code } : {}) })
  }

  /** Something has succeeded: what went wrong before is no longer true. */
  showSuccess(changes: EngineChanges = {}): void {
    const { errorCode: _, failure: __, ...rest } = this.getSnapshot()
    this.#set({ ...rest, ...changes })
  }

  /** The engine is gone, and its words with it. */
  showGone(): void {
    const { status: _, ...rest } = this.getSnapshot()
    this.#set({ ...rest, state: 'stopped' })
  }

  #set(next: EngineSnapshot): void {
    const present = this.getSnapshot()
    if (isSame(present, next)) return
    const isSameStage =
      present.state === next.state &&
      present.isPaused === next.isPaused &&
      (present.failure === undefined) === (next.failure === undefined)
    this.#state.set(isSameStage ? next : { ...next, since: this.#now() })
  }
}

const isSame = (one: EngineSnapshot, other: EngineSnapshot): boolean =>
  one.state === other.state &&
  one.isPaused === other.isPaused &&
  one.syncRatio === other.syncRatio &&
  one.blockHeight === other.blockHeight &&
  one.status === other.status &&
  one.failure === other.failure &&
  one.errorCode === other.errorCode
