import { Observable, type Readable } from '../../kernel/index.ts'
import { ActionError } from './action-error.ts'
import type { ClientStatus, DevtoolsClient } from './devtools-client.ts'
import { Film } from './film.ts'
import { type ReadRecording, RecordingReader } from './read-recording.ts'
import type { RecordingHeader } from './recording-line.ts'

/** A moment of a recording. */
export interface Moment {
  /** From 0, where the recording begins. */
  readonly index: number
  /** Unix milliseconds. */
  readonly at: number
}

/** A recording that is looked at; nothing can be done in it. */
export interface RecordedClient extends DevtoolsClient {
  readonly header: RecordingHeader
  /** The file ends within a line, as after a crash: that line is left out. */
  readonly isCut: boolean
  /** How many moments there are: the tables as they were at the start, and then one for each batch. */
  readonly momentCount: number
  /** The one that is shown; the end at first. */
  readonly moment: Readable<Moment>
  /** Shows another one, or the nearest there is. */
  seek(index: number): void
}

/** Whether a client shows a recording. */
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
  return showRecording(reader.end())
}

/** Shows the end of a recording that was read. */
export const showRecording = ({ header, messages, isCut }: ReadRecording): RecordedClient => {
  const film = new Film(messages)
  const last = film.length - 1
  const shown = film.at(last)
  const view = new Observable(shown.view)
  const events = new Observable(shown.events)
  const status = new Observable<ClientStatus>(pastStatus(shown.missed))
  const moment = new Observable<Moment>({ index: last, at: shown.at })
  return {
    ...{ header, isCut, view, events, status, moment },
    momentCount: film.length,
    seek(wanted) {
      const index = Math.max(0, Math.min(last, Math.round(wanted)))
      const { at, missed, ...known } = film.at(index)
      view.set(known.view)
      events.set(known.events)
      status.set(pastStatus(missed))
      moment.set({ index, at })
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

const pastStatus = (missed: number): ClientStatus => ({
  connection: 'past',
  isReadOnly: true,
  hasWorld: false,
  missed
})
