import type { Devtools } from './devtools.ts'
import type { ClientMessage } from './protocol.ts'
import { PROTOCOL_VERSION } from './protocol.ts'
import { RECORDING_FORMAT, type RecordingHeader } from './recording-line.ts'

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
          const { kernelId } = message
          const header: RecordingHeader = { ...RECORDING_FORMAT, kernelId, at: now() }
          write(JSON.stringify(header))
          listen({ type: 'subscribe', version: PROTOCOL_VERSION })
        } else if (message.type === 'snapshot' || message.type === 'batch') write(JSON.stringify(message))
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
