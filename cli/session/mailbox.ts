/** What is told while the command does something else, in order. Reading ends when the command is stopped. */
export interface Mailbox<T> extends AsyncIterable<T> {
  readonly post: (value: T) => void
}

/** Opens a mailbox that the command's own stop closes. */
export const openMailbox = <T>(signal: AbortSignal): Mailbox<T> => {
  const waiting: T[] = []
  let wake = (): void => {}
  signal.addEventListener('abort', () => wake(), { once: true })
  return {
    post(value) {
      waiting.push(value)
      wake()
    },
    async *[Symbol.asyncIterator]() {
      while (!signal.aborted) {
        yield* waiting.splice(0)
        if (waiting.length > 0 || signal.aborted) continue
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    }
  }
}
