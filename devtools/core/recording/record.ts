import { Observable, type Readable } from '../../../kernel/index.ts'
import type { DevtoolsClient } from '../client/client.ts'
import type { TableMessage } from '../client/view.ts'
import type { PanelHost } from '../host/session.ts'
import { redactFact, redactRow } from '../model/redact.ts'
import type { SliceName, SlicePatch, Slices } from '../model/slices.ts'
import { sliceNames } from '../model/snapshot-fields.ts'
import { type ClientMessage, PROTOCOL_VERSION } from '../protocol/protocol.ts'
import { headerLine, MAX_RECORDING_BYTES, messageLine } from './format.ts'

/** The target of a recording. */
export interface RecordOptions {
  /** Unix milliseconds. */
  readonly now: () => number
  /** Takes one line of JSON, without its line break. What it throws ends the recording. */
  readonly write: (line: string) => void
}

/**
 * Records what a panel would receive: a header, the tables as they are, and then each batch, one line each. Lines are
 * only ever added, so that a file which ends early can still be opened.
 *
 * @returns what ends the recording; what is known by then is written first
 */
export const record = (devtools: PanelHost, { now, write }: RecordOptions): (() => void) => {
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

/** The progress of a recording. */
export interface RecordingProgress {
  /** Unix milliseconds. */
  readonly startedAt: number
  /** When the newest message was sent, in Unix milliseconds. */
  readonly at: number
  readonly eventCount: number
  /** The size of its text. */
  readonly bytes: number
  /** There are addresses or transaction ids in it that nobody has hidden. */
  readonly hasAddresses: boolean
  /** Why it has ended; undefined while it goes on. `full`: another message would have made it too large. */
  readonly end?: 'full' | 'kernel restarted' | 'stopped'
}

/** The messages that a panel received, as the lines of a file. */
export interface ClientRecording {
  readonly progress: Readable<RecordingProgress>
  /** The lines without their line breaks; none if nothing was known. @param hides - addresses and transaction ids */
  lines(hides: boolean): readonly string[]
  /** Ends it. The lines so far stay. */
  stop(): void
}

/** Options of a recording. */
export interface ClientRecordOptions {
  /** Unix milliseconds. */
  readonly now: () => number
  /** In bytes of text; {@link MAX_RECORDING_BYTES}. */
  readonly maxBytes?: number
}

/**
 * Records what a client receives: all that is known now, and then each change. It ends by itself when it is full, or when
 * the kernel was started anew, since its numbers begin anew.
 */
export const recordClient = (
  client: Pick<DevtoolsClient, 'follow'>,
  options: ClientRecordOptions
): ClientRecording => {
  const recorder = new Recorder(options)
  recorder.begin(client)
  return recorder
}

class Recorder implements ClientRecording {
  readonly progress: Observable<RecordingProgress>
  readonly #now: () => number
  readonly #maxBytes: number
  readonly #shown: string[] = []
  /** The same lines without addresses; the same text where there are none. */
  readonly #hidden: string[] = []
  // In no line: with it, a mark could be compared with those of all known addresses.
  readonly #salt = String(Math.random())
  #kernelId: string | undefined
  #leave = (): void => {}

  constructor({ now, maxBytes = MAX_RECORDING_BYTES }: ClientRecordOptions) {
    this.#now = now
    this.#maxBytes = maxBytes
    const at = now()
    this.progress = new Observable<RecordingProgress>({
      ...{ startedAt: at, at, eventCount: 0, bytes: 0, hasAddresses: false }
    })
  }

  begin(client: Pick<DevtoolsClient, 'follow'>): void {
    const leave = client.follow?.((message, kernelId) => this.#take(message, kernelId))
    // What is known already may be too much.
    if (this.progress.getSnapshot().end === undefined) this.#leave = leave ?? this.#leave
    else leave?.()
  }

  lines(hides: boolean): readonly string[] {
    return hides ? this.#hidden : this.#shown
  }

  stop(): void {
    this.#end('stopped')
  }

  #take(message: TableMessage, kernelId: string): void {
    if (this.progress.getSnapshot().end !== undefined) return
    if (this.#kernelId === undefined) {
      this.#kernelId = kernelId
      const header = headerLine(kernelId, this.#now())
      if (!this.#add(header, header)) return
    }
    if (this.#kernelId !== kernelId) {
      this.#end('kernel restarted')
      return
    }
    const at = this.#now()
    const shown = messageLine(message, at)
    if (!this.#add(shown, messageLine(hideAddresses(message, this.#salt), at))) return
    const { eventCount } = this.progress.getSnapshot()
    this.progress.update({ at, eventCount: eventCount + message.events.length })
  }

  #add(shown: string, hidden: string): boolean {
    const { bytes, hasAddresses } = this.progress.getSnapshot()
    const more = bytes + bytesOf(shown) + 1
    if (more > this.#maxBytes) {
      this.#end('full')
      return false
    }
    this.#shown.push(shown)
    // Kept once where both are the same.
    this.#hidden.push(hidden === shown ? shown : hidden)
    this.progress.update({ bytes: more, hasAddresses: hasAddresses || hidden !== shown })
    return true
  }

  #end(end: NonNullable<RecordingProgress['end']>): void {
    if (this.progress.getSnapshot().end !== undefined) return
    this.#leave()
    this.progress.update({ end })
  }
}

const encoder = new TextEncoder()
const bytesOf = (text: string): number => encoder.encode(text).length

/**
 * The same message without addresses and transaction ids (pure). Those that are hidden already stay as they are.
 *
 * @param salt - makes the marks of one kernel mean nothing for another
 */
const hideAddresses = (message: TableMessage, salt: string): TableMessage => {
  const options = { hideAddresses: true, salt }
  const rowsOf = (slice: SliceName, rows: SlicePatch['changed']): SlicePatch['changed'] =>
    rows.map(([id, row]) => [id, redactRow(slice, row as Slices[typeof slice], options)])
  const events = message.events.map(event => ({
    ...event,
    data: redactFact(event.hook, event.data, options) ?? {}
  }))
  if (message.type === 'batch') {
    const patches = message.patches.map(patch => ({ ...patch, changed: rowsOf(patch.slice, patch.changed) }))
    return { ...message, patches, events }
  }
  const slices = Object.fromEntries(sliceNames.map(name => [name, rowsOf(name, message.slices[name])]))
  return { ...message, slices, events } as unknown as TableMessage
}
