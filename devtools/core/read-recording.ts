import { tryJsonText } from '../../kernel/index.ts'
import type { JournalEvent } from './journal-event.ts'
import {
  type RecordedMessage,
  type RecordingHeader,
  readHeader,
  readRecordedMessage
} from './recording-line.ts'

/** A file that is no recording, or a damaged one, or too large a one. */
export class RecordingError extends Error {
  readonly code = 'BAD_RECORDING'
  /** Which line is wrong, from 1 on; undefined if it is the file as a whole. */
  readonly line: number | undefined
  /** What helps. */
  readonly hint: string | undefined

  constructor(
    message: string,
    more: { readonly line?: number; readonly hint?: string; readonly cause?: unknown } = {}
  ) {
    super(message, { cause: more.cause })
    this.name = 'RecordingError'
    this.line = more.line
    this.hint = more.hint
  }
}

const wrongLine = (line: number, rule: string, hint?: string): RecordingError =>
  new RecordingError(`Line ${line} of the recording ${rule}.`, {
    line,
    ...(hint === undefined ? {} : { hint })
  })

/** What the lines of a recording say. */
export interface ReadRecording {
  readonly header: RecordingHeader
  /** The first one has tables. */
  readonly messages: readonly RecordedMessage[]
  /** The file ends within a line, as after a crash: that line is left out. */
  readonly isCut: boolean
}

/** Reads a recording line by line, so that nobody needs to hold the text of a whole one. */
export class RecordingReader {
  readonly #messages: RecordedMessage[] = []
  #header: RecordingHeader | undefined
  /** Only the last line may be cut. */
  #cutAt: number | undefined
  #count = 0

  /**
   * Takes the next line, without its line break; empty ones are no matter.
   *
   * @throws RecordingError for another format or version, a damaged line, or one that is missing
   */
  take(line: string): void {
    this.#count += 1
    if (line.trim() === '') return
    if (this.#cutAt !== undefined) throw wrongLine(this.#cutAt, 'is damaged')
    const value = tryJsonText(line)
    if (this.#header === undefined) {
      this.#header = readHeader(value)
      if (this.#header === undefined)
        throw wrongLine(this.#count, 'is not the header of this format and version', HINT)
    } else if (value === undefined) this.#cutAt = this.#count
    else this.#add(readRecordedMessage(value))
  }

  /**
   * What was read, when all lines are.
   *
   * @throws RecordingError if the file has no tables
   */
  end(): ReadRecording {
    if (this.#header === undefined) throw wrongLine(1, 'is missing', HINT)
    if (this.#messages.length === 0) throw wrongLine(2, 'is missing or cut: it has no tables')
    return { header: this.#header, messages: this.#messages, isCut: this.#cutAt !== undefined }
  }

  #add(message: RecordedMessage | undefined): void {
    if (message === undefined) throw wrongLine(this.#count, 'is damaged')
    const before = this.#messages.at(-1)?.seq
    // Tables in the middle of a recording: the panel had lost its kernel for a while.
    const follows = message.type === 'snapshot' || message.fromSeq === before
    if (!follows || !areBetween(message.events, before ?? 0, message.seq))
      throw wrongLine(this.#count, 'does not follow on the one before')
    this.#messages.push(message)
  }
}

const HINT = 'Choose a file that this version of the devtools has saved.'

/** Whether events ascend after one number and up to another, as those of a kernel do. */
const areBetween = (events: readonly JournalEvent[], after: number, upTo: number): boolean => {
  let last = after
  for (const { seq } of events) {
    if (seq <= last) return false
    last = seq
  }
  return last <= upTo
}
