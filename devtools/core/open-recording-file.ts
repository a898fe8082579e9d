import { MAX_RECORDING_BYTES, RecordingError, RecordingReader } from './recording/format.ts'
import { makeRecordedClient, type RecordedClient } from './recording/timeline.ts'

/**
 * Opens the file of a recording, also one that is compressed with gzip, and shows its end. It is read bit by bit, and the
 * lines are forgotten as they are read.
 *
 * @param maxBytes - of its text
 * @param signal - stops reading
 * @throws RecordingError for a file that is none, is damaged, or is too large; the signal's reason
 */
export const openRecordingFile = async (
  file: Blob,
  maxBytes: number = MAX_RECORDING_BYTES,
  signal?: AbortSignal
): Promise<RecordedClient> => {
  const reader = new RecordingReader()
  const lines = new LineSplitter(line => reader.take(line))
  const decoder = new TextDecoder()
  let bytes = 0
  for await (const chunk of chunksOf(await textOf(file))) {
    signal?.throwIfAborted()
    bytes += chunk.length
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    lines.take(decoder.decode(chunk, { stream: true }))
  }
  lines.end(decoder.decode())
  return makeRecordedClient(reader.end())
}

const tooLarge = (maxBytes: number): RecordingError =>
  new RecordingError(`The recording is larger than ${Math.round(maxBytes / 1_000_000)} MB.`, {
    hint: 'Record a shorter time.'
  })

/** Returns the text of the file as a stream, decompressed if necessary. */
const textOf = async (file: Blob): Promise<ReadableStream<Uint8Array>> => {
  const start = new Uint8Array(await orUnreadable(file.slice(0, 2).arrayBuffer()))
  return isGzip(start) ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream()
}

/** Returns true if the bytes begin like gzip (RFC 1952 §2.3.1). */
export const isGzip = ([first, second]: Uint8Array): boolean => first === 0x1f && second === 0x8b

/** Not every browser can walk over a stream by itself. Leaving early ends the stream. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { value } = await orUnreadable(reader.read())
      if (value === undefined) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

const orUnreadable = <T>(reading: Promise<T>): Promise<T> =>
  reading.catch(cause => {
    throw new RecordingError('The file cannot be read to its end: it is damaged or was removed.', { cause })
  })

/** Makes lines of pieces of text. */
class LineSplitter {
  readonly #take: (line: string) => void
  /** The parts of the line that has not ended yet. */
  #pieces: string[] = []

  constructor(take: (line: string) => void) {
    this.#take = take
  }

  take(text: string): void {
    const [first = '', ...more] = text.split('\n')
    this.#pieces.push(first)
    const rest = more.pop()
    if (rest === undefined) return
    this.#take(this.#pieces.join(''))
    for (const line of more) this.#take(line)
    this.#pieces = [rest]
  }

  end(text: string): void {
    this.take(text)
    this.#take(this.#pieces.join(''))
  }
}
