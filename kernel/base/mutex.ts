/**
 * Runs jobs one after another: each begins once all earlier ones have ended, in success or failure.
 *
 * @example
 * ```ts
 * import { Mutex } from 'holdfast/plugin'
 *
 * const mutex = new Mutex()
 * const first = mutex.run(() => io.fetch('https://shop.example.org/orders/1'))
 * const second = mutex.run(() => io.fetch('https://shop.example.org/orders/2')) // after the first
 * await mutex.settled()
 * ```
 */
export class Mutex {
  /** The end of the last job, well or not; none while nothing is under way, which is nearly always. */
  #last: Promise<void> | undefined

  /** Runs a job after all earlier ones, and returns its result. @throws as the job */
  run<T>(job: () => Promise<T>): Promise<T> {
    const result = (this.#last ?? DONE).then(job)
    const ended = result.then(nothing, nothing)
    this.#last = ended
    void ended.then(() => {
      if (this.#last === ended) this.#last = undefined
    })
    return result
  }

  /** Resolves once all jobs given so far have ended; at once if there is none. */
  async settled(): Promise<void> {
    await this.#last
  }
}

const DONE = Promise.resolve()
const nothing = (): void => {}

/** Writes that are not durable yet. As they may still fail, none of them is sent, built upon or acknowledged. */
export class InFlightWrites {
  /** Undefined while there are none, as nearly always: a set of its own takes memory, and there are thousands. */
  #writes: Set<Promise<unknown>> | undefined

  /** Counts a write until it has ended, well or not, and gives it back. */
  add<T>(write: Promise<T>): Promise<T> {
    const writes = this.#writes ?? new Set()
    this.#writes = writes.add(write)
    const land = (): void => {
      writes.delete(write)
      if (writes.size === 0) this.#writes = undefined
    }
    write.then(land, land)
    return write
  }

  /** Resolves when those of now have ended, well or not. */
  async ended(): Promise<void> {
    if (this.#writes !== undefined) await Promise.allSettled(this.#writes)
  }

  /** Resolves when those of now are durable. @throws as the first of them that fails */
  async durable(): Promise<void> {
    if (this.#writes !== undefined) await Promise.all(this.#writes)
  }
}

/** Waits until all have ended, however they end. @throws the first failure in their order */
export const allSettledOrThrow = async (tasks: readonly (Promise<unknown> | undefined)[]): Promise<void> => {
  for (const result of await Promise.allSettled(tasks)) {
    if (result.status === 'rejected') throw result.reason
  }
}
