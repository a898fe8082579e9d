import type { JsonObject, Transaction } from '../../kernel/index.ts'
import type { Asset } from '../output/assets.ts'
import { decimalText, txDetailsJson } from '../output/tx-facts.ts'

/** One effect of a transaction on one asset of a wallet. */
export interface ExportRow {
  readonly tx: Transaction
  readonly asset: Asset
  readonly walletName: string
  /** The fiat currency that values are told in, such as `iso:USD`. */
  readonly fiatCode: string
}

/** The value that was noted when the transaction was made, as decimal text; undefined where none was. */
export const fiatValueOf = ({ tx, fiatCode }: ExportRow): string | undefined => {
  const value = tx.metadata.exchangeAmount?.[fiatCode]
  return value === undefined ? undefined : decimalText(value)
}

/** A row for scripts. */
export const exportRowJson = (row: ExportRow): JsonObject => ({
  walletName: row.walletName,
  ...txDetailsJson(row.tx, row.asset),
  fiat: { code: row.fiatCode, value: fiatValueOf(row) ?? null }
})
