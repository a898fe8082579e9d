/**
 * A current snapshot and a subscription to its changes, in the shape of React's `useSyncExternalStore`.
 *
 * @example
 * ```ts
 * import type { Readable, WalletSnapshot } from 'holdfast'
 *
 * const state: Readable<WalletSnapshot> = wallet
 * const unsubscribe = state.subscribe(() => console.log(state.getSnapshot().balances))
 * ```
 */
export interface Readable<S> {
  /** Calls `listener` after every change until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void
  /** The present snapshot; the same object until the next change. */
  readonly getSnapshot: () => S
}

/**
 * A readable whose functions may be handed on without it, as React's `useSyncExternalStore` takes them.
 *
 * For what applications hold; within the kernel there are thousands, and each function of its own takes memory.
 */
export const bindReadable = <S>(readable: Readable<S>): Readable<S> => ({
  subscribe: listener => readable.subscribe(listener),
  getSnapshot: () => readable.getSnapshot()
})

/**
 * One piece of state that a kernel object owns: a frozen snapshot, its subscribers and its hook.
 *
 * Its functions depend on the object; {@link bindReadable} makes some that can be passed on alone.
 * `announce` is the call of the matching hook. An error of a listener goes to `onListenerError` and never
 * to the code that changed the state, so that a screen cannot break a spend.
 *
 * @example
 * ```ts
 * import { Observable } from 'holdfast'
 *
 * const height = new Observable({ blockHeight: 0 })
 * const unsubscribe = height.subscribe(() => console.log(height.getSnapshot().blockHeight))
 * height.update({ blockHeight: 7 })
 * ```
 */
export class Observable<S> implements Readable<S> {
  #snapshot: S
  /** Replaced and never changed; all observables without a listener share one list, as there are thousands. */
  #subscriptions: readonly Subscription[] = NONE
  readonly #announce: (snapshot: S) => void
  readonly #onListenerError: (error: unknown) => void
  #isNotifying = false

  constructor(
    initial: S,
    announce: (snapshot: S) => void = nothing,
    onListenerError: (error: unknown) => void = nothing
  ) {
    this.#snapshot = Object.freeze(initial)
    this.#announce = announce
    this.#onListenerError = onListenerError
  }

  getSnapshot(): S {
    return this.#snapshot
  }

  subscribe(listener: () => void): () => void {
    const subscription: Subscription = { listener }
    this.#subscriptions = this.#subscriptions.concat(subscription)
    return () => {
      subscription.listener = undefined
      this.#subscriptions = this.#subscriptions.filter(known => known !== subscription)
    }
  }

  /**
   * Replaces the snapshot, then notifies the subscribers, then the kernel's hook.
   *
   * Re-entrant `set` calls are coalesced: listeners are notified once more with the latest snapshot, and never of one that has
   * been replaced already.
   */
  set(next: S): void {
    if (Object.is(next, this.#snapshot)) return
    this.#snapshot = Object.freeze(next)
    if (this.#isNotifying) return
    this.#isNotifying = true
    try {
      let rounds = 0
      while (this.#notify()) {
        rounds += 1
        if (rounds < MAX_ROUNDS) continue
        this.#onListenerError(new Error('Listeners change what they listen to, without end'))
        return
      }
    } finally {
      this.#isNotifying = false
    }
  }

  /** Replaces some fields of an object snapshot. */
  update(changes: Partial<S>): void {
    this.set({ ...this.#snapshot, ...changes })
  }

  /** Notifies all once; returns true if something changed meanwhile. */
  #notify(): boolean {
    const notified = this.#snapshot
    for (const subscription of this.#subscriptions) {
      try {
        subscription.listener?.()
      } catch (error) {
        this.#onListenerError(error)
      }
    }
    if (Object.is(notified, this.#snapshot)) this.#announce(notified)
    return !Object.is(notified, this.#snapshot)
  }
}

/** One call of `subscribe`; without a listener once it is over, so that not even a round under way calls it again. */
interface Subscription {
  listener: (() => void) | undefined
}

const nothing = (): void => {}
const NONE: readonly Subscription[] = []
const MAX_ROUNDS = 100
