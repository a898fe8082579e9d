import type { SyncHook } from 'tapable'
import { errorOf, isWalletError } from './errors/wallet-error.ts'
import type { LogLevel, LogLine } from './hooks/snapshots.ts'
import type { Clock } from './io/io.ts'
import { isoOf } from './time.ts'
import type { EngineLog } from './types/engine.ts'

const RANK: Readonly<Record<LogLevel | 'silent', number>> = {
  debug: 0,
  info: 1,
  warn: 2,
  error: 3,
  silent: 4
}
const MAX_TEXT = 500
/** Text beyond it is not even looked at. */
const MAX_READ = 10_000

// A run of 20 or more letters of base16, 32, 58 or 64 may be a key; it never reaches a log line.
const KEY_LIKE = /[A-Za-z0-9+/_-]{20,}={0,2}/g

/** From which level on log lines are told; the default is `warn` (specification §9). */
export type LogThreshold = LogLevel | 'silent'

/** Where log lines go, and from which level on. */
export interface LogPort {
  readonly clock: Clock
  readonly logged: SyncHook<[LogLine]>
  readonly threshold: LogThreshold
}

/**
 * The log of one module or plugin. Text only; it is cut to 500 characters and anything that could be a key is
 * masked, so that a careless line of a plugin gives nothing away.
 */
export const makeLog = (source: string, { clock, logged, threshold }: LogPort): EngineLog => {
  const write = (level: LogLevel, text: string): void => {
    if (RANK[level] < RANK[threshold]) return
    logged.call(Object.freeze({ source, level, text: scrub(text), at: isoOf(clock.now()) }))
  }
  return Object.freeze({
    debug: text => write('debug', text),
    info: text => write('info', text),
    warn: text => write('warn', text),
    error: text => write('error', text)
  } satisfies EngineLog)
}

/** Text that is safe to show: without anything that could be a key, and then cut, lest a cut key be shown. */
export const scrub = (text: string): string =>
  String(text).slice(0, MAX_READ).replace(KEY_LIKE, '[…]').slice(0, MAX_TEXT)

/**
 * A failure in words that are safe to show: the catalogue's message, or the scrubbed text of a foreign error. Whatever
 * was thrown may be given.
 */
export const describeError = (thrown: unknown): string => {
  const error = errorOf(thrown)
  return isWalletError(error) ? `${error.message} (${error.code})` : scrub(`${error.name}: ${error.message}`)
}
