import { CliError } from '../errors/cli-error.ts'

const DURATION = /^(\d{1,6})(ms|s|m|h)$/
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
// The longest that a timer of the platform can wait.
const MAX_MS = 2 ** 31 - 1

/** Reads `500ms`, `30s`, `2m` or `1h` as milliseconds. @throws CliError USAGE */
export const parseDuration = (text: string): number => {
  const [, count = '', unit = ''] = DURATION.exec(text) ?? []
  const milliseconds = Number(count) * (UNITS[unit] ?? 0)
  if (milliseconds > 0 && milliseconds <= MAX_MS) return milliseconds
  throw new CliError('USAGE', 'A duration is a number with ms, s, m or h, such as 30s')
}

const SPAN = /^(\d{1,6})(m|h|d)$/
const SPAN_SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 }

/** Reads `30m`, `12h` or `7d` as seconds. @throws CliError USAGE */
export const parseSpan = (text: string): number => {
  const [, count = '', unit = ''] = SPAN.exec(text) ?? []
  const seconds = Number(count) * (SPAN_SECONDS[unit] ?? 0)
  if (seconds > 0) return seconds
  throw new CliError('USAGE', 'A waiting time is a number with m, h or d, such as 7d')
}

/** Reads a whole number between two bounds. @throws CliError USAGE */
export const parseCount = (text: string, what: string, [least, most]: readonly [number, number]): number => {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (count >= least && count <= most) return count
  throw new CliError('USAGE', `The ${what} must be a whole number from ${least} to ${most}`)
}

/** Reads repeated `key=value` texts. @throws CliError USAGE */
export const parsePairs = (texts: readonly string[], what: string): Readonly<Record<string, string>> =>
  Object.fromEntries(texts.map(text => parsePair(text, what)))

/** Reads one `key=value` text. @throws CliError USAGE */
export const parsePair = (text: string, what: string): readonly [key: string, value: string] => {
  const equals = text.indexOf('=')
  if (equals < 1) throw new CliError('USAGE', `The ${what} must look like key=value`)
  return [text.slice(0, equals), text.slice(equals + 1)]
}

/** Reads a date such as `2026-01-05` or a full ISO time. @throws CliError USAGE */
export const parseWhen = (text: string, what: string): Date => {
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : undefined
  if (date !== undefined && !Number.isNaN(date.getTime())) return date
  throw new CliError('USAGE', `The ${what} must be a date such as 2026-01-05`)
}
