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
