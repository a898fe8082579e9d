/** The timers of Node and of web pages. A store is opened before a kernel hands out its clock. */
export const timers = globalThis as unknown as {
  /** Its `now` gives milliseconds since some time. */
  readonly performance: { now(): number }
  setTimeout(run: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** Resolves after some milliseconds. */
export const pause = (ms: number): Promise<void> =>
  new Promise(resolve => {
    timers.setTimeout(resolve, ms)
  })
