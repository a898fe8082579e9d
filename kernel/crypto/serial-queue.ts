/** Runs a job when all earlier ones have ended, however they ended, and gives its result. */
export type SerialQueue = <T>(job: () => Promise<T>) => Promise<T>

/** Makes a queue whose jobs never overlap: scrypt jobs would fight for memory and spoil the benchmark (protocol §1.4). */
export const makeSerialQueue = (): SerialQueue => {
  // None while nothing is under way: there are thousands of queues, and most are idle.
  let last: Promise<unknown> | undefined
  return job => {
    const result = (last ?? DONE).then(job)
    const ended = result.catch(() => undefined)
    last = ended
    void ended.then(() => {
      if (last === ended) last = undefined
    })
    return result
  }
}

const DONE = Promise.resolve()
