import { type Asset, amountJson, decimalText, productText } from '../../app/format/amounts.ts'
import { isoTime } from '../../app/format/routes.ts'
import {
  type AddressRecord,
  abs,
  addressLabel,
  type CoinNote,
  coinLabel,
  type JsonObject,
  labelLine,
  type NativeAmount,
  negate,
  type RateSnapshot,
  type Transaction,
  transactionLabel,
  type WalletId
} from '../../kernel/index.ts'
import { txDetailsJson } from '../output/transaction-texts.ts'

/** A file format that rows are written in, piece by piece: a history is never in memory as a whole. */
export interface ExportFormat {
  begin(): string
  /** Consecutive rows, at least one. */
  rows(rows: readonly ExportRow[]): string
  /** The saved addresses of a wallet, if the format has them. */
  addresses?(walletId: WalletId, records: readonly AddressRecord[]): string
  /** What is noted of the coins of a wallet, if the format has it. */
  coins?(walletId: WalletId, notes: readonly CoinNote[]): string
  end(): string
}

/** One JSON object a line. */
export const ndjsonFormat = (): ExportFormat => ({
  begin: () => '',
  rows: rows => rows.map(row => `${JSON.stringify(exportRowJson(row))}\n`).join(''),
  end: () => ''
})

/** One JSON object with all of them. */
export const jsonFormat = (): ExportFormat => {
  let isFirst = true
  return {
    begin: () => '{"schema":"tx.export/1","transactions":[',
    rows(rows) {
      const comma = isFirst ? '\n' : ',\n'
      isFirst = false
      return comma + rows.map(row => JSON.stringify(exportRowJson(row))).join(',\n')
    },
    end: () => '\n]}\n'
  }
}

/** The labels alone, for other wallets (BIP-329). */
export const labelFormat = (): ExportFormat => ({
  begin: () => '',
  rows: rows => linesOf(rows.map(({ tx }) => transactionLabel(tx))),
  coins: (walletId, notes) => linesOf(notes.map(note => coinLabel(walletId, note))),
  addresses: (walletId, records) => linesOf(records.map(record => addressLabel(walletId, record))),
  end: () => ''
})

const linesOf = (labels: readonly ReturnType<typeof transactionLabel>[]): string =>
  labels.map(label => (label === undefined ? '' : `${labelLine(label)}\n`)).join('')

/** One effect of a transaction on one asset of a wallet. */
export interface ExportRow {
  readonly tx: Transaction
  readonly asset: Asset
  readonly walletName: string
  /** The fiat currency of the values, such as `iso:USD`. */
  readonly fiatCode: string
  /** The rate of that time; null if a value is noted or the rate is unknown. Absent without `--fiat`. */
  readonly rate?: RateSnapshot | null
}

/** The fiat value of a row at its time. */
export interface PastValue {
  /** Decimal text without the sign of the amount, as values are noted; exact for the rate. */
  readonly value: string
  /** The provider of the rate, or `noted`. */
  readonly source: string
  /** The time of the rate in Unix seconds; absent for a noted value. */
  readonly at?: number
}

/** Returns the value that a user or an app has noted, as decimal text; undefined without one. */
export const notedValueOf = ({ tx, fiatCode }: ExportRow): string | undefined => {
  const value = tx.metadata.exchangeAmount?.[fiatCode]
  return value === undefined ? undefined : decimalText(value)
}

/** Returns the noted value, else {@link changeOf} at the rate of its time; undefined without either. */
export const valueAtTime = (row: ExportRow): PastValue | undefined => {
  const noted = notedValueOf(row)
  if (noted !== undefined) return { value: noted, source: 'noted' }
  if (row.rate === undefined || row.rate === null) return undefined
  const { rate, source, at } = row.rate
  const { display } = amountJson(abs(changeOf(row)), row.asset)
  return { value: productText(display, decimalText(rate)), source, at }
}

/** Returns the change of the balance, a payment's fee included, so that the amounts of all rows add up to the balance. */
export const changeOf = (row: ExportRow): NativeAmount =>
  isFee(row) ? negate(row.tx.networkFee) : row.tx.nativeAmount

/** Returns the direction of the balance change. */
export const directionOf = (row: ExportRow): 'in' | 'out' => (row.tx.isSend || isFee(row) ? 'out' : 'in')

/** A row that pays a fee and moves nothing else is the coin's part in a token transaction. */
const isFee = ({ tx }: ExportRow): boolean => tx.nativeAmount === '0' && tx.networkFee !== '0'

/** A row as JSON. */
const exportRowJson = (row: ExportRow): JsonObject => ({
  walletName: row.walletName,
  ...txDetailsJson(row.tx, row.asset),
  direction: directionOf(row),
  amount: amountJson(changeOf(row), row.asset),
  fiat: fiatJson(row)
})

const fiatJson = (row: ExportRow): JsonObject => {
  const worth = valueAtTime(row)
  const value = { code: row.fiatCode, value: worth?.value ?? null }
  if (row.rate === undefined) return value
  return {
    ...value,
    source: worth?.source ?? null,
    rateAt: worth?.at === undefined ? null : isoTime(worth.at)
  }
}
