import type { Devtools } from './devtools.ts'
import type { ClientMessage } from './protocol.ts'
import { PROTOCOL_VERSION } from './protocol.ts'
import { headerLine, messageLine } from './recording-line.ts'

/** Where a recording goes. */
export interface RecordOptions {
  /** Unix milliseconds. */
  readonly now: () => number
  /** Takes one line of JSON, without its line break. What it throws ends the recording. */
  readonly write: (line: string) => void
}

/**
 * Records what a panel would be told: a header, the tables as they are, and then each batch, one line each. Lines are
 * only ever added, so that a file which ends early can still be opened.
 *
 * @returns what ends the recording; what is known by then is written first
 */
export const record = (devtools: Pick<Devtools, 'attach'>, { now, write }: RecordOptions): (() => void) => {
  let listen = (_message: ClientMessage): void => {}
  return devtools.attach(
    {
      send(message) {
        if (message.type === 'hello') {
          write(headerLine(message.kernelId, now()))
          listen({ type: 'subscribe', version: PROTOCOL_VERSION })
        } else if (message.type === 'snapshot' || message.type === 'batch') write(messageLine(message, now()))
      },
      onMessage(listener) {
        listen = listener
      },
      onClose() {},
      close() {}
    },
    { isReadOnly: true, hasWorld: false }
  )
}
