import type { JsonObject } from '../../kernel/index.ts'
import { selectFields, unknownFields } from '../output/select-fields.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { writeText } from '../terminal/terminal.ts'
import type { Session } from './session.ts'

/** The events of a running command, as one JSON object a line (ecosystem 1.8); without effect unless `--json` is set. */
export interface EventStream {
  /** Writes an event, with the chosen fields of `--fields`. @throws CliError USAGE for a field that no event can have */
  emit(event: string, data: JsonObject): Promise<void>
  /** Writes the last line of a stream that ended normally. */
  end(reason: string): Promise<void>
}

/**
 * Opens the stream of a command. Where all its events have data of one shape, the first one shows if a chosen field is
 * unknown. Else an event has those of the fields that it knows, and one that knows none of them is written whole.
 */
export const openEventStream = (
  { globals, terminal }: Pick<Session, 'globals' | 'terminal'>,
  { hasOneShape = false }: { readonly hasOneShape?: boolean } = {}
): EventStream => {
  const { fields } = globals
  let seq = 0
  const choose = (data: JsonObject): JsonObject => {
    if (fields === undefined) return data
    const { data: chosen, unknown } = selectFields(data, fields)
    if (hasOneShape && seq === 1 && unknown.length > 0) throw unknownFields(data, unknown)
    return unknown.length === fields.length ? data : chosen
  }
  const write = async (line: JsonObject): Promise<void> => {
    if (globals.json) await writeText(terminal.stdout, `${safeJson(line)}\n`)
  }
  return {
    async emit(event, data) {
      seq += 1
      await write({ event, seq, at: new Date().toISOString(), data: choose(data) })
    },
    end: reason => write({ event: 'end', reason })
  }
}

/** A queue of events in order. Reading ends when the command is stopped. */
export interface OutputQueue<T> extends AsyncIterable<T> {
  readonly push: (value: T) => void
}

/** Opens a queue that closes when the command is stopped. */
export const openEventQueue = <T>(signal: AbortSignal): OutputQueue<T> => {
  const waiting: T[] = []
  let wake = (): void => {}
  signal.addEventListener('abort', () => wake(), { once: true })
  return {
    push(value) {
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

/** Waits for some seconds, or until the command is stopped. */
export const sleep = (signal: AbortSignal, seconds: number): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, seconds * 1000)
    signal.addEventListener('abort', done, { once: true })
  })

/** Waits for a call, but no longer than until the command is stopped. @throws the reason of the stop */
export const abortable = async <T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
  signal.throwIfAborted()
  let stop = (): void => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([call(), stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
