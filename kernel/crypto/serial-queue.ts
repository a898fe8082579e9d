/** Runs a job when all earlier ones have ended, however they ended, and gives its result. */
export type SerialQueue = <T>(job: () => Promise<T>) => Promise<T>

/** Makes a queue whose jobs never overlap: scrypt jobs would fight for memory and spoil the benchmark (protocol §1.4). */
export const makeSerialQueue = (): SerialQueue => {
  const turns = new Turns()
  return job => turns.take(job)
}

/** The queue itself, of which each wallet has several: its jobs never overlap, and one can wait for those that are there. */
export class Turns {
  /** The end of the last job, well or not; none while nothing is under way, which is nearly always. */
  #last: Promise<void> | undefined

  /** As {@link SerialQueue}. */
  take<T>(job: () => Promise<T>): Promise<T> {
    const result = (this.#last ?? DONE).then(job)
    const ended = result.then(nothing, nothing)
    this.#last = ended
    void ended.then(() => {
      if (this.#last === ended) this.#last = undefined
    })
    return result
  }

  /** Resolves when the jobs taken before have ended; at once if there is none. */
  async settled(): Promise<void> {
    await this.#last
  }
}

const DONE = Promise.resolve()
const nothing = (): void => {}
