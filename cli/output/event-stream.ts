import type { JsonObject } from '../../kernel/index.ts'
import type { Session } from '../session.ts'
import { safeJson } from './safe-text.ts'
import { writeText } from './write-text.ts'

/** What a command tells while it runs, as one JSON object a line (ecosystem 1.8); nothing without `--json`. */
export interface EventStream {
  emit(event: string, data: JsonObject): Promise<void>
  /** The last line of a stream that ended as it should. */
  end(reason: string): Promise<void>
}

/** Opens the stream of a command. */
export const openEventStream = ({
  globals,
  terminal
}: Pick<Session, 'globals' | 'terminal'>): EventStream => {
  let seq = 0
  const write = async (line: JsonObject): Promise<void> => {
    if (globals.json) await writeText(terminal.stdout, `${safeJson(line)}\n`)
  }
  return {
    emit(event, data) {
      seq += 1
      return write({ event, seq, at: new Date().toISOString(), data })
    },
    end: reason => write({ event: 'end', reason })
  }
}
