import type { JsonObject, LogLevel } from '../../../kernel/index.ts'
import { matchesText, memoize } from '../model/derive.ts'
import type { JournalEvent } from '../model/facts.ts'

/** One line of the log. */
export interface LogRow {
  readonly seq: number
  /** Unix milliseconds. */
  readonly at: number
  readonly level: LogLevel
  /** The plugin or the module of the kernel. */
  readonly source: string
  readonly text: string
}

/** The filter of the rows; a field that is left out matches all. */
export interface LogFilter {
  /** Part of a text or a source, in any case. */
  readonly text?: string
  /** This level and the graver ones. */
  readonly level?: LogLevel
  readonly source?: string
}

/** The log, the failures of plugins, and what was done and what became of it, as one list, oldest first (pure). */
export const logRows = (events: readonly JournalEvent[], filter: LogFilter = {}): readonly LogRow[] => {
  const { text = '', level = 'debug', source } = filter
  const least = LEVELS.indexOf(level)
  return events.flatMap(event => {
    const row = rowOf(event)
    if (row === undefined || LEVELS.indexOf(row.level) < least) return []
    if (source !== undefined && row.source !== source) return []
    return matchesText(text, [row.text, row.source]) ? row : []
  })
}

const rowOf = memoize(({ hook, seq, at, data }: JournalEvent): LogRow | undefined => {
  if (hook === 'logged')
    return { seq, at, level: levelOf(data.level), source: String(data.source), text: String(data.text) }
  const line = Object.hasOwn(lines, hook) ? lines[hook]?.(data) : undefined
  return line === undefined ? undefined : { seq, at, ...line }
})

type Line = Pick<LogRow, 'level' | 'source' | 'text'>

/** The events that a log has a line for: a log of failures alone does not show what succeeded. */
const lines: Readonly<Record<string, (data: JsonObject) => Line | undefined>> = {
  pluginFault: ({ pluginId, hook, message }) => ({
    ...{ level: 'error', source: String(pluginId), text: `${hook}: ${message}` }
  }),
  action: ({ action, outcome, errorCode, durationMs }) => {
    const duration = typeof durationMs === 'number' ? ` after ${Math.round(durationMs)} ms` : ''
    return outcome === 'done'
      ? { level: 'info', source: 'panel', text: `${action} is done${duration}` }
      : { level: 'warn', source: 'panel', text: `${action} failed${duration}: ${errorCode}` }
  },
  spendChanged: ({ stage, txid = 'without an id yet' }) => {
    const level = stage === 'refused' ? 'warn' : stage === 'broadcast' ? 'info' : 'debug'
    return { level, source: 'spend', text: `payment ${txid}: ${stage}` }
  },
  loginChanged: ({ method, stage, errorCode }) => {
    if (stage === 'ready') return { level: 'info', source: 'login', text: `login by ${method} is ready` }
    if (stage !== 'failed') return undefined
    return { level: 'warn', source: 'login', text: `login by ${method} failed: ${errorCode}` }
  },
  filesExchanged: ({ sentCount, receivedCount }) => ({
    ...{ level: 'info', source: 'sync', text: `files sent: ${sentCount}, received: ${receivedCount}` }
  }),
  transactionsChanged: ({ createdCount, changedCount }) => ({
    ...{
      level: 'info',
      source: 'wallet',
      text: `transactions new: ${createdCount}, changed: ${changedCount}`
    }
  })
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

const levelOf = (level: unknown): LogLevel => LEVELS.find(known => known === level) ?? 'error'
