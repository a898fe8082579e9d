import { ActionError } from '../../../app/actions/action-error.ts'
import { Observable, type Readable } from '../../../kernel/index.ts'
import type { ClientStatus, DevtoolsClient } from '../client/client.ts'
import { foldMessage, initialState, type KnownState, MAX_EVENTS } from '../client/view.ts'
import type { JournalEvent } from '../model/facts.ts'
import type { View } from '../model/slices.ts'
import { type ReadRecording, type RecordedMessage, type RecordingHeader, RecordingReader } from './format.ts'

/** A moment of a recording. */
export interface Moment {
  /** The place in the recording, from 0 on. */
  readonly index: number
  /** Unix milliseconds. */
  readonly at: number
}

/** A recording that is looked at; nothing can be done in it. */
export interface RecordedClient extends DevtoolsClient {
  readonly header: RecordingHeader
  /** The file ends within a line, as after a crash: that line is left out. */
  readonly isCut: boolean
  /** The number of moments: the tables at the start, and one for each batch. */
  readonly momentCount: number
  /** The one that is shown; the end at first. */
  readonly moment: Readable<Moment>
  /** Shows another one, or the nearest there is. */
  seek(index: number): void
}

/** Returns true if a client shows a recording. */
export const isRecorded = (client: DevtoolsClient): client is RecordedClient => 'seek' in client

/**
 * Opens a recording and shows its end.
 *
 * @param lines - without their line breaks; empty ones at the end are no matter
 * @throws RecordingError for another format or version, a damaged line, or one that is missing
 */
export const openRecording = (lines: Iterable<string>): RecordedClient => {
  const reader = new RecordingReader()
  for (const line of lines) reader.take(line)
  return makeRecordedClient(reader.end())
}

/** Shows the end of a recording that was read. */
export const makeRecordedClient = ({ header, messages, isCut }: ReadRecording): RecordedClient => {
  const timeline = new RecordingTimeline(messages)
  const last = timeline.length - 1
  const shown = timeline.at(last)
  const view = new Observable(shown.view)
  const events = new Observable(shown.events)
  const status = new Observable<ClientStatus>(pastStatus(shown.missed))
  const moment = new Observable<Moment>({ index: last, at: shown.at })
  return {
    ...{ header, isCut, view, events, status, moment },
    momentCount: timeline.length,
    seek(wanted) {
      const index = Math.max(0, Math.min(last, Math.round(wanted)))
      const { at, missed, ...known } = timeline.at(index)
      view.set(known.view)
      events.set(known.events)
      status.set(pastStatus(missed))
      moment.set({ index, at })
    },
    runAction: () =>
      Promise.reject(
        new ActionError({
          code: 'READ_ONLY',
          message: 'A recording shows the past, so actions are off.'
        })
      ),
    close() {}
  }
}

const pastStatus = (missed: number): ClientStatus => ({
  connection: 'past',
  isReadOnly: true,
  hasWorld: false,
  missed
})

/** The tables and events right after one message of a recording. */
export interface TimelineFrame {
  readonly view: View
  /** Oldest first. */
  readonly events: readonly JournalEvent[]
  /** Events that were left out by then. */
  readonly missed: number
  /** When it was sent, in Unix milliseconds. */
  readonly at: number
}

/** The number of messages between two kept moments. */
const KEPT_EVERY = 100

/**
 * The messages of a recording, with the tables of some moments, so that going back costs at most a hundred messages and
 * going on the one that is next.
 */
class RecordingTimeline {
  /** The number of moments: one after each message. */
  readonly length: number
  readonly #messages: readonly RecordedMessage[]
  readonly #kept: KnownState[] = []
  readonly #events: readonly JournalEvent[]
  /** For each message: the number of events up to it, and of those left out. */
  readonly #eventEnds: readonly number[]
  readonly #missed: readonly number[]
  /** The moment that was read last. */
  #cursor: { readonly index: number; readonly known: KnownState } = { index: -1, known: initialState }

  constructor(messages: readonly RecordedMessage[]) {
    this.length = messages.length
    // The events are kept once, and cut as they are shown.
    this.#messages = messages.map(message => ({ ...message, events: [] }))
    this.#events = messages.flatMap(({ events }) => events)
    let end = 0
    this.#eventEnds = messages.map(({ events }) => {
      end += events.length
      return end
    })
    this.#missed = missedUpTo(messages)
    let known = initialState
    for (const [index, message] of this.#messages.entries()) {
      known = foldMessage(known, message) ?? known
      if (index % KEPT_EVERY === 0) this.#kept.push(known)
    }
  }

  /** Returns the state after a message. @param index - from 0 to below the length */
  at(index: number): TimelineFrame {
    const { view } = this.#knownAt(index)
    const end = this.#eventEnds[index] ?? 0
    return {
      view,
      events: this.#events.slice(Math.max(0, end - MAX_EVENTS), end),
      missed: this.#missed[index] ?? 0,
      at: this.#messages[index]?.at ?? 0
    }
  }

  #knownAt(index: number): KnownState {
    const kept = Math.floor(index / KEPT_EVERY)
    let { index: at, known } = this.#cursor
    if (at < kept * KEPT_EVERY || at > index) {
      at = kept * KEPT_EVERY
      known = this.#kept[kept] ?? initialState
    }
    for (const message of this.#messages.slice(at + 1, index + 1))
      known = foldMessage(known, message) ?? known
    this.#cursor = { index, known }
    return known
  }
}

const missedUpTo = (messages: readonly RecordedMessage[]): readonly number[] => {
  let missed = 0
  let before: number | undefined
  return messages.map(message => {
    if (message.type === 'batch') missed += message.missed
    else if (before !== undefined) missed += message.seq - before - message.events.length
    before = message.seq
    return missed
  })
}
