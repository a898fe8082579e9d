import type { LogLevel } from '../../../kernel/index.ts'
import type { JournalEvent } from '../journal-event.ts'
import { holdsText } from './holds-text.ts'
import { cached } from './row-cache.ts'

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

/** Which lines are shown; what is left out holds for all. */
export interface LogFilter {
  /** Part of a text or a source, in any case. */
  readonly text?: string
  /** This level and the graver ones. */
  readonly level?: LogLevel
  readonly source?: string
}

/** The log and the failures of plugins as one list, oldest first (pure). */
export const logRows = (events: readonly JournalEvent[], filter: LogFilter = {}): readonly LogRow[] => {
  const { text = '', level = 'debug', source } = filter
  const least = LEVELS.indexOf(level)
  return events.flatMap(event => {
    const row = rowOf(event)
    if (row === undefined || LEVELS.indexOf(row.level) < least) return []
    if (source !== undefined && row.source !== source) return []
    return holdsText(text, [row.text, row.source]) ? row : []
  })
}

const rowOf = cached(({ hook, seq, at, data }: JournalEvent): LogRow | undefined => {
  if (hook === 'logged')
    return { seq, at, level: levelOf(data.level), source: String(data.source), text: String(data.text) }
  if (hook !== 'pluginFault') return undefined
  const text = `${data.hook}: ${data.message}`
  return { seq, at, level: 'error', source: String(data.pluginId), text }
})

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

const levelOf = (level: unknown): LogLevel => LEVELS.find(known => known === level) ?? 'error'
