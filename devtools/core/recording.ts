import { Observable } from '../../kernel/index.ts'
import { ActionError } from './action-error.ts'
import type { ClientStatus, DevtoolsClient } from './devtools-client.ts'
import type { JournalEvent } from './journal-event.ts'
import { type RecordingHeader, readHeader, readTableMessage } from './recording-line.ts'
import { foldMessage, type Known, MAX_EVENTS, nothingKnown, type TableMessage } from './view-fold.ts'

/** A file that is no recording, or a damaged one. */
export class RecordingError extends Error {
  readonly code = 'BAD_RECORDING'
  /** From 1 on. */
  readonly line: number

  constructor(line: number, rule: string) {
    super(`Line ${line} of the recording ${rule}`)
    this.name = 'RecordingError'
    this.line = line
  }
}

/** A recording that is looked at; nothing can be done in it. */
export interface RecordedClient extends DevtoolsClient {
  readonly header: RecordingHeader
  readonly firstSeq: number
  readonly lastSeq: number
  /** The file ends within a line, as after a crash: that line is left out. */
  readonly isCut: boolean
  /** Shows the tables and events as they were when this event was told, or the last batch before it. */
  seek(seq: number): void
}

/**
 * Opens a recording and shows its end.
 *
 * @param lines - without their line breaks; empty ones at the end are no matter
 * @throws RecordingError for another format or version, a damaged line, or one that is missing
 */
export const openRecording = (lines: Iterable<string>): RecordedClient => {
  const { header, messages, isCut } = readLines(lines)
  const film = new Film(messages)
  const shown = film.at(film.lastSeq)
  const view = new Observable(shown.known.view)
  const events = new Observable(shown.events)
  const status = new Observable<ClientStatus>(statusOf(shown.known))
  return {
    ...{ header, isCut, view, events, status },
    firstSeq: film.firstSeq,
    lastSeq: film.lastSeq,
    seek(seq) {
      const moment = film.at(seq)
      view.set(moment.known.view)
      events.set(moment.events)
      status.set(statusOf(moment.known))
    },
    act: () =>
      Promise.reject(
        new ActionError({
          code: 'READ_ONLY',
          message: 'A recording shows the past: nothing can be done in it.'
        })
      ),
    close() {}
  }
}

const statusOf = ({ missed }: Known): ClientStatus => ({
  connection: 'past',
  isReadOnly: true,
  hasWorld: false,
  missed
})

interface Lines {
  readonly header: RecordingHeader
  readonly messages: readonly TableMessage[]
  readonly isCut: boolean
}

const readLines = (lines: Iterable<string>): Lines => {
  let header: RecordingHeader | undefined
  const messages: TableMessage[] = []
  let seq: number | undefined
  /** Only the last line may be cut. */
  let cutAt: number | undefined
  let count = 0
  for (const line of lines) {
    count += 1
    if (line.trim() === '') continue
    if (cutAt !== undefined) throw new RecordingError(cutAt, 'is damaged')
    const value = parse(line)
    if (header === undefined) {
      header = readHeader(value)
      if (header === undefined)
        throw new RecordingError(count, 'is not the header of this format and version')
    } else if (value === undefined) cutAt = count
    else {
      const message = readTableMessage(value)
      if (message === undefined) throw new RecordingError(count, 'is damaged')
      if ((message.type === 'batch' ? message.fromSeq : undefined) !== seq)
        throw new RecordingError(count, 'does not follow on the one before')
      seq = message.seq
      messages.push(message)
    }
  }
  if (header === undefined) throw new RecordingError(1, 'is missing')
  if (messages.length === 0) throw new RecordingError(2, 'is missing or cut: it has no tables')
  return { header, messages, isCut: cutAt !== undefined }
}

const parse = (line: string): unknown => {
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}

interface Moment {
  readonly known: Known
  readonly events: readonly JournalEvent[]
}

/** How many batches there are from one kept moment to the next. */
const KEPT_EVERY = 100

/** The messages of a recording, with the tables of some moments, so that going back costs at most a hundred batches. */
class Film {
  readonly #messages: readonly TableMessage[]
  readonly #kept: Known[] = []
  readonly #events: readonly JournalEvent[]
  /** Of each message: how many of the events had been told by then. */
  readonly #eventEnds: readonly number[]

  constructor(messages: readonly TableMessage[]) {
    // The events are kept once, and cut as they are shown.
    this.#messages = messages.map(message => ({ ...message, events: [] }))
    this.#events = messages.flatMap(({ events }) => events)
    let end = 0
    this.#eventEnds = messages.map(({ events }) => {
      end += events.length
      return end
    })
    let known = nothingKnown
    for (const [at, message] of this.#messages.entries()) {
      known = foldMessage(known, message) ?? known
      if (at % KEPT_EVERY === 0) this.#kept.push(known)
    }
  }

  get firstSeq(): number {
    return this.#messages[0]?.seq ?? 0
  }

  get lastSeq(): number {
    return this.#messages.at(-1)?.seq ?? 0
  }

  /** Everything up to an event; never before the first tables. */
  at(seq: number): Moment {
    const last = Math.max(0, this.#lastUpTo(seq))
    const start = Math.floor(last / KEPT_EVERY)
    let known = this.#kept[start] ?? nothingKnown
    for (const message of this.#messages.slice(start * KEPT_EVERY + 1, last + 1))
      known = foldMessage(known, message) ?? known
    const end = this.#eventEnds[last] ?? 0
    return { known, events: this.#events.slice(Math.max(0, end - MAX_EVENTS), end) }
  }

  #lastUpTo(seq: number): number {
    return this.#messages.findLastIndex(message => message.seq <= seq)
  }
}
