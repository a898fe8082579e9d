/** Writes text and waits until it has left the process; a reader that has gone is no failure. */
export const writeText = (stream: NodeJS.WritableStream, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    if (text === '') return resolve()
    stream.write(text, error => {
      if (error == null || isGone(error)) resolve()
      else reject(error)
    })
  })

/** True for the failure of writing to a pipe whose reader has closed it. */
export const isGone = (error: Error): boolean => 'code' in error && error.code === 'EPIPE'
