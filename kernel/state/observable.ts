/** Something with a current snapshot that tells when it is replaced; the shape React's external stores want. */
export interface Readable<S> {
  /** Calls `listener` after every change until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void
  /** The present snapshot; the same object until the next change. */
  readonly getSnapshot: () => S
}

/**
 * One piece of state that a kernel object owns: a frozen snapshot, its subscribers and its hook.
 *
 * `announce` is the matching hook's call. A listener that throws is handed to `onListenerError` and never
 * reaches the code that changed the state, so that a screen cannot break a spend.
 */
export class Observable<S> implements Readable<S> {
  #snapshot: S
  readonly #listeners = new Set<() => void>()
  readonly #announce: (snapshot: S) => void
  readonly #onListenerError: (error: unknown) => void

  constructor(
    initial: S,
    announce: (snapshot: S) => void = () => {},
    onListenerError: (error: unknown) => void = () => {}
  ) {
    this.#snapshot = Object.freeze(initial)
    this.#announce = announce
    this.#onListenerError = onListenerError
  }

  readonly getSnapshot = (): S => this.#snapshot

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Replaces the snapshot, then tells the subscribers, then the kernel's hook. */
  set(next: S): void {
    if (Object.is(next, this.#snapshot)) return
    this.#snapshot = Object.freeze(next)
    for (const listener of [...this.#listeners]) {
      try {
        listener()
      } catch (error) {
        this.#onListenerError(error)
      }
    }
    this.#announce(next)
  }

  /** Replaces some fields of an object snapshot. */
  update(changes: Partial<S>): void {
    this.set({ ...this.#snapshot, ...changes })
  }
}
