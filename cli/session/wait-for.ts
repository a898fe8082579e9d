/** Waits for some seconds, or less if the command is stopped. */
export const waitFor = (signal: AbortSignal, seconds: number): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, seconds * 1000)
    signal.addEventListener('abort', done, { once: true })
  })

/** Waits for a call, but not for one that goes on after the command is stopped. @throws the reason of the stop */
export const orStopped = async <T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
  signal.throwIfAborted()
  let stop = (): void => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([call(), stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
