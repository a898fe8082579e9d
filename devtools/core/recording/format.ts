import { compact, tryJsonText } from '../../../kernel/index.ts'
import type { TableMessage } from '../client/view.ts'
import type { JournalEvent } from '../model/facts.ts'
import { redactFact, redactRow } from '../model/redact.ts'
import { isRecord, isRowOf } from '../model/row-shapes.ts'
import type { SliceName, SlicePatch, Slices } from '../model/slices.ts'
import { sliceNames } from '../model/snapshot-fields.ts'

/** The format and version of a recording. Other versions are refused. */
export const RECORDING_FORMAT = { format: 'holdfast-devtools-recording', version: 1 } as const

/** The first line of a recording. */
export interface RecordingHeader {
  readonly format: (typeof RECORDING_FORMAT)['format']
  readonly version: (typeof RECORDING_FORMAT)['version']
  readonly kernelId: string
  /** Unix milliseconds. */
  readonly at: number
}

/** Any other line: what changed, and when it was sent, in Unix milliseconds. */
export type RecordedMessage = TableMessage & { readonly at: number }

/** The largest recording that can be made or opened, in bytes of its text. */
export const MAX_RECORDING_BYTES = 64_000_000

/** The first line of a recording that begins now (pure). */
export const headerLine = (kernelId: string, at: number): string =>
  JSON.stringify({ ...RECORDING_FORMAT, kernelId, at } satisfies RecordingHeader)

/** The line of a message (pure). */
export const messageLine = (message: TableMessage, at: number): string =>
  JSON.stringify({ at, ...message } satisfies RecordedMessage)

type Fields = Readonly<Record<string, unknown>>

/** The header of a recording; undefined of anything else (pure). */
const readHeader = (value: unknown): RecordingHeader | undefined => {
  if (!isRecord(value) || value.format !== RECORDING_FORMAT.format) return undefined
  const { kernelId, at } = value
  if (value.version !== RECORDING_FORMAT.version || typeof kernelId !== 'string' || !isTime(at))
    return undefined
  return { ...RECORDING_FORMAT, kernelId, at }
}

/**
 * A line after the header; undefined if it is none. A file can come from anywhere: it shows only what a kernel could
 * have sent (pure).
 */
const readRecordedMessage = (value: unknown): RecordedMessage | undefined => {
  if (!isRecord(value) || !isCount(value.seq) || !isTime(value.at)) return undefined
  const events = readEvents(value.events)
  if (events === undefined) return undefined
  const message = value.type === 'snapshot' ? readSnapshot(value, events) : readBatch(value, events)
  return message === undefined ? undefined : { at: value.at, ...message }
}

const readSnapshot = ({ seq, slices }: Fields, events: readonly JournalEvent[]): TableMessage | undefined => {
  if (!isRecord(slices)) return undefined
  const read: [SliceName, readonly Row[]][] = []
  for (const name of sliceNames) {
    // A recording of an earlier version lacks the tables that came later.
    const rows = readRows(name, slices[name] ?? [])
    if (rows === undefined) return undefined
    read.push([name, rows])
  }
  return { type: 'snapshot', seq: Number(seq), slices: Object.fromEntries(read), events } as TableMessage
}

const readBatch = (value: Fields, events: readonly JournalEvent[]): TableMessage | undefined => {
  const { type, fromSeq, seq, missed } = value
  if (type !== 'batch' || !isCount(fromSeq) || !isCount(missed) || !Array.isArray(value.patches))
    return undefined
  const patches = value.patches.flatMap((patch): SlicePatch[] => readPatch(patch) ?? [])
  if (patches.length < value.patches.length) return undefined
  return { type, fromSeq, seq: Number(seq), patches, events, missed }
}

const readPatch = (patch: unknown): SlicePatch[] | undefined => {
  if (!isRecord(patch)) return undefined
  const slice = sliceNames.find(name => name === patch.slice)
  const changed = slice === undefined ? undefined : readRows(slice, patch.changed)
  const { removed } = patch
  if (slice === undefined || changed === undefined || !Array.isArray(removed)) return undefined
  return removed.every(id => typeof id === 'string') ? [{ slice, changed, removed }] : undefined
}

type Row = readonly [id: string, row: Slices[SliceName]]

const readRows = (slice: SliceName, rows: unknown): readonly Row[] | undefined => {
  if (!Array.isArray(rows)) return undefined
  const read: Row[] = []
  for (const item of rows as readonly unknown[]) {
    if (!Array.isArray(item) || item.length !== 2) return undefined
    const [id, row] = item as readonly unknown[]
    if (typeof id !== 'string' || !isRecord(row)) return undefined
    const shown = redactRow(slice, row as unknown as Slices[SliceName])
    if (!isRowOf(slice, shown)) return undefined
    read.push([id, shown])
  }
  return read
}

const readEvents = (events: unknown): readonly JournalEvent[] | undefined => {
  if (!Array.isArray(events)) return undefined
  const read: JournalEvent[] = []
  for (const event of events as readonly unknown[]) {
    if (!isRecord(event)) return undefined
    const { seq, at, hook, subject, correlationId, data } = event
    if (!isCount(seq) || !isTime(at) || typeof hook !== 'string' || !isRecord(data)) return undefined
    const known = redactFact(hook, data)
    if (known === undefined) continue
    read.push({
      ...{ seq, at, hook },
      ...compact({
        subject: typeof subject === 'string' ? subject : undefined,
        correlationId: typeof correlationId === 'string' ? correlationId : undefined
      }),
      data: known
    })
  }
  return read
}

/** Milliseconds that a date can have. */
const isTime = (value: unknown): value is number => isCount(value) && value <= 8_640_000_000_000_000

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** A file that is no recording, or a damaged one, or too large a one. */
export class RecordingError extends Error {
  readonly code = 'BAD_RECORDING'
  /** The number of the wrong line, from 1 on; undefined for the file as a whole. */
  readonly line: number | undefined
  /** The next step for a person. */
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

const lineError = (line: number, rule: string, hint?: string): RecordingError =>
  new RecordingError(`Line ${line} of the recording ${rule}.`, {
    line,
    ...compact({ hint })
  })

/** The content of a recording. */
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
    if (this.#cutAt !== undefined) throw lineError(this.#cutAt, 'is damaged')
    const value = tryJsonText(line)
    if (this.#header === undefined) {
      this.#header = readHeader(value)
      if (this.#header === undefined)
        throw lineError(this.#count, 'is not the header of this format and version', HINT)
    } else if (value === undefined) this.#cutAt = this.#count
    else this.#add(readRecordedMessage(value))
  }

  /**
   * What was read, when all lines are.
   *
   * @throws RecordingError if the file has no tables
   */
  end(): ReadRecording {
    if (this.#header === undefined) throw lineError(1, 'is missing', HINT)
    if (this.#messages.length === 0) throw lineError(2, 'is missing or cut: it has no tables')
    return { header: this.#header, messages: this.#messages, isCut: this.#cutAt !== undefined }
  }

  #add(message: RecordedMessage | undefined): void {
    if (message === undefined) throw lineError(this.#count, 'is damaged')
    const before = this.#messages.at(-1)?.seq
    // Tables in the middle of a recording: the panel had lost its kernel for a while.
    const follows = message.type === 'snapshot' || message.fromSeq === before
    if (!follows || !areBetween(message.events, before ?? 0, message.seq))
      throw lineError(this.#count, 'does not continue the line before')
    this.#messages.push(message)
  }
}

const HINT = 'Choose a file that this version of the devtools saved.'

/** Returns true if events ascend after one number and up to another, as those of a kernel do. */
const areBetween = (events: readonly JournalEvent[], after: number, upTo: number): boolean => {
  let last = after
  for (const { seq } of events) {
    if (seq <= last) return false
    last = seq
  }
  return last <= upTo
}
