import { stringify } from 'csv-stringify/sync'
import type { CsvColumn } from './csv-columns.ts'
import type { ExportFormat } from './export-format.ts'

/** How a CSV is to be written. */
export interface CsvOptions {
  readonly columns: readonly CsvColumn[]
  /** `UTC`, or an IANA name such as `Europe/Berlin`. */
  readonly timeZone: string
  /** A byte-order mark, without which Excel takes UTF-8 for something else. */
  readonly hasMark: boolean
}

/** CSV with a line of titles (RFC 4180, UTF-8, dot decimals). */
export const csvFormat = ({ columns, timeZone, hasMark }: CsvOptions): ExportFormat => ({
  begin: () => (hasMark ? '\ufeff' : '') + linesOf([columns.map(({ name }) => name)]),
  rows: rows =>
    linesOf(
      rows.map(row =>
        columns.map(({ isText = false, textOf }) => {
          const text = textOf(row, timeZone)
          return isText ? harmless(text) : text
        })
      )
    ),
  end: () => ''
})

/**
 * A text that no spreadsheet takes for a formula: where it could begin one, an apostrophe stands before it.
 *
 * Only words get it: a negative amount begins with a minus and must stay a number.
 *
 * A program that separates at semicolons or tabs, as in most of Europe, does not see our quotation marks as such, since they
 * do not begin its cells. So a formula could also begin after each of these and after a line break, within quotation marks too.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export const harmless = (text: string): string => {
  const inner = text.replace(INNER_FORMULA, "'")
  return FORMULA.test(text) ? `'${inner}` : inner
}

const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
/**
 * Before what begins a formula, after a separator of another kind of CSV and what a spreadsheet skips after it. It looks back,
 * so that a long run of line breaks is read once.
 */
const INNER_FORMULA = /(?=[=+\-@＝＋－＠])(?<=[;\t\r\n|][\s"]*)/g

// Without the pattern, a line break of another kind than its own would stand unquoted.
const linesOf = (rows: readonly (readonly string[])[]): string =>
  stringify(rows as string[][], { record_delimiter: 'windows', quoted_match: /[\r\n]/ })
