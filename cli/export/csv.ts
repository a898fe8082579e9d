import { stringify } from 'csv-stringify/sync'
import { stateOf } from '../../app/actions/find-transactions.ts'
import { amountJson, codeText } from '../../app/format/amounts.ts'
import { changeOf, directionOf, type ExportFormat, type ExportRow, valueAtTime } from './formats.ts'

/** Options of {@link csvFormat}. */
export interface CsvOptions {
  readonly columns: readonly CsvColumn[]
  /** `UTC`, or an IANA name such as `Europe/Berlin`. */
  readonly timeZone: string
  /** Begins with a byte-order mark, without which Excel does not detect UTF-8. */
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
          return isText ? escapeFormula(text) : text
        })
      )
    ),
  end: () => ''
})

/**
 * Escapes text so that no spreadsheet takes it for a formula: an apostrophe is put before a character that could begin
 * one.
 *
 * Only text columns need it: a negative amount begins with a minus and must stay a number.
 *
 * A program that separates at semicolons or tabs, as in most of Europe, does not see our quotation marks as such, since
 * they do not begin its cells. So a formula could also begin after each of these and after a line break, within
 * quotation marks too.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export const escapeFormula = (text: string): string => {
  const inner = text.replace(INNER_FORMULA, "'")
  return FORMULA.test(text) ? `'${inner}` : inner
}

const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
/**
 * Matches before a character that begins a formula, after a separator of another kind of CSV and the blanks that a
 * spreadsheet skips. It looks back, so that a long run of line breaks is read once.
 */
const INNER_FORMULA = /(?=[=+\-@＝＋－＠])(?<=[;\t\r\n|][\s"]*)/g

// Without the pattern, a line break of another kind than its own would stand unquoted.
const linesOf = (rows: readonly (readonly string[])[]): string =>
  stringify(rows as string[][], { record_delimiter: 'windows', quoted_match: /[\r\n]/ })

/** One column of the CSV. */
export interface CsvColumn {
  readonly name: string
  /** Free text, which needs escaping; else a number or date of our own. */
  readonly isText?: boolean
  /** Included with `--fiat`, or if `--columns` names it. */
  readonly isOfRates?: boolean
  textOf(row: ExportRow, timeZone: string): string
}

/**
 * The columns, in their order; names are never changed or reused (ecosystem 1.10).
 *
 * `amount` is {@link changeOf}; the fee columns are the part of it that is the fee.
 */
export const csvColumns: readonly CsvColumn[] = [
  { name: 'date', textOf: ({ tx }, timeZone) => isoTimeIn(new Date(tx.date * 1000), timeZone) },
  { name: 'wallet', isText: true, textOf: ({ walletName }) => walletName },
  { name: 'wallet_id', isText: true, textOf: ({ tx }) => tx.walletId },
  { name: 'asset', isText: true, textOf: ({ asset }) => asset.currencyCode },
  { name: 'token_id', isText: true, textOf: ({ asset }) => asset.tokenId ?? '' },
  { name: 'direction', textOf: directionOf },
  { name: 'amount', textOf: row => amountJson(changeOf(row), row.asset).display },
  { name: 'native_amount', textOf: changeOf },
  { name: 'network_fee', textOf: row => ifOut(row, amountJson(row.tx.networkFee, row.asset).display) },
  { name: 'native_network_fee', textOf: row => ifOut(row, row.tx.networkFee) },
  { name: 'fee_asset', isText: true, textOf: row => ifOut(row, row.asset.currencyCode) },
  {
    name: 'fiat',
    isText: true,
    textOf: row => (valueAtTime(row) === undefined ? '' : codeText(row.fiatCode))
  },
  { name: 'fiat_value', textOf: row => valueAtTime(row)?.value ?? '' },
  { name: 'rate_source', isText: true, isOfRates: true, textOf: row => valueAtTime(row)?.source ?? '' },
  { name: 'rate_time', isOfRates: true, textOf: rateTimeOf },
  { name: 'status', textOf: ({ tx }) => stateOf(tx.confirmations) },
  { name: 'name', isText: true, textOf: ({ tx }) => tx.metadata.name ?? '' },
  { name: 'category', isText: true, textOf: ({ tx }) => tx.metadata.category ?? '' },
  { name: 'notes', isText: true, textOf: ({ tx }) => tx.metadata.notes ?? '' },
  { name: 'address', isText: true, textOf: addressesOf },
  { name: 'memo', isText: true, textOf: ({ tx }) => tx.memos.map(({ value }) => value).join(' ') },
  { name: 'txid', isText: true, textOf: ({ tx }) => tx.txid },
  { name: 'block_height', textOf: ({ tx }) => (tx.blockHeight > 0 ? String(tx.blockHeight) : '') },
  { name: 'swap_provider', isText: true, textOf: ({ tx }) => tx.swapData?.plugin.displayName ?? '' },
  { name: 'swap_order', isText: true, textOf: ({ tx }) => tx.swapData?.orderId ?? '' },
  { name: 'swap_payout_asset', isText: true, textOf: ({ tx }) => tx.swapData?.payoutCurrencyCode ?? '' },
  { name: 'swap_payout_native', isText: true, textOf: ({ tx }) => tx.swapData?.payoutNativeAmount ?? '' },
  { name: 'device', isText: true, textOf: ({ tx }) => tx.deviceDescription ?? '' }
]

/** Formats an ISO time to the second: with Z in UTC, with its offset elsewhere. @throws RangeError for an unknown zone */
export const isoTimeIn = (date: Date, timeZone: string): string => {
  if (timeZone === 'UTC') return date.toISOString().replace(/\.\d+Z$/, 'Z')
  const parts = new Map(
    formatterOf(timeZone)
      .formatToParts(date)
      .map(({ type, value }) => [type, value])
  )
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? ''
  const offset = part('timeZoneName').replace('GMT', '') || '+00:00'
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}${offset}`
}

const formatters = new Map<string, Intl.DateTimeFormat>()

const formatterOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formatters.get(timeZone)
  if (known !== undefined) return known
  const formatter = new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset'
  })
  formatters.set(timeZone, formatter)
  return formatter
}

const ifOut = (row: ExportRow, text: string): string => (directionOf(row) === 'out' ? text : '')

function rateTimeOf(row: ExportRow, timeZone: string): string {
  const at = valueAtTime(row)?.at
  return at === undefined ? '' : isoTimeIn(new Date(at * 1000), timeZone)
}

function addressesOf({ tx }: ExportRow): string {
  const paid = (tx.spendTargets ?? []).map(({ publicAddress }) => publicAddress)
  return (tx.isSend ? paid : tx.ourReceiveAddresses).join(' ')
}
