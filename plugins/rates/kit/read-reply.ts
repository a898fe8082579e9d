import { parseJsonText, WalletError } from '../../../kernel/plugin-api.ts'

/** A plain object of a reply. */
export type ReplyRecord = Readonly<Record<string, unknown>>

/** Reads the text of a reply as JSON. @throws BAD_REPLY, also for JSON that nests deeper than 64 */
export const readJson = (text: string, source: string): unknown => {
  try {
    return parseJsonText(text)
  } catch (error) {
    throw badReply(source, '', error instanceof SyntaxError ? error.message : 'is no JSON')
  }
}

/** A value that must be a plain object. `path` names it in the error. @throws BAD_REPLY */
export const asRecord = (value: unknown, source: string, path = ''): ReplyRecord => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as ReplyRecord
  throw badReply(source, path, 'is no object')
}

/** A value that must be a list of at most so many. @throws BAD_REPLY */
export const asList = (value: unknown, source: string, path = ''): readonly unknown[] => {
  if (!Array.isArray(value)) throw badReply(source, path, 'is no list')
  if (value.length > MAX_ITEMS) throw badReply(source, path, `has more than ${MAX_ITEMS} items`)
  return value
}

/** Names and values of an object. @throws BAD_REPLY as {@link asRecord}, and for too many */
export const entriesOf = (value: unknown, source: string, path = ''): readonly [string, unknown][] => {
  const entries = Object.entries(asRecord(value, source, path))
  if (entries.length > MAX_ITEMS) throw badReply(source, path, `has more than ${MAX_ITEMS} fields`)
  return entries
}

/**
 * A figure of a reply, written as number or as decimal text; NaN for anything else.
 *
 * A rate is a double from here on: it says what a thing is worth and is never money itself.
 */
export const figure = (value: unknown): number => {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.length <= MAX_FIGURE && DECIMAL.test(value)
    ? Number(value)
    : Number.NaN
}

/** The error of a reply that has another shape than its documentation. */
export const badReply = (source: string, path: string, rule: string): WalletError =>
  new WalletError('BAD_REPLY', { source: `reply of ${source}`, path, rule })

const MAX_ITEMS = 5000
const MAX_FIGURE = 100
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/
