/** Runs a job when all earlier ones have ended, however they ended, and gives its result. */
export type SerialQueue = <T>(job: () => Promise<T>) => Promise<T>

/** Makes a queue whose jobs never overlap: scrypt jobs would fight for memory and spoil the benchmark (protocol §1.4). */
export const makeSerialQueue = (): SerialQueue => {
  let last: Promise<unknown> = Promise.resolve()
  return job => {
    const result = last.then(job)
    last = result.catch(() => undefined)
    return result
  }
}
