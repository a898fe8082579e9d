import { type JsonObject, type NativeAmount, negate, type Transaction } from '../../kernel/index.ts'
import { amountJson } from '../output/amounts.ts'
import type { Asset } from '../output/assets.ts'
import { decimalText } from '../output/decimals.ts'
import { txDetailsJson } from '../output/tx-facts.ts'

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

/** The change of the balance, a payment's fee included, so that the amounts of all rows add up to it. */
export const changeOf = (row: ExportRow): NativeAmount =>
  isFee(row) ? negate(row.tx.networkFee) : row.tx.nativeAmount

/** Whether the balance grew or shrank. */
export const directionOf = (row: ExportRow): 'in' | 'out' => (row.tx.isSend || isFee(row) ? 'out' : 'in')

/** What pays a fee and moves nothing else is the coin's part in the transaction of a token. */
const isFee = ({ tx }: ExportRow): boolean => tx.nativeAmount === '0' && tx.networkFee !== '0'

/** A row for scripts. */
export const exportRowJson = (row: ExportRow): JsonObject => ({
  walletName: row.walletName,
  ...txDetailsJson(row.tx, row.asset),
  direction: directionOf(row),
  amount: amountJson(changeOf(row), row.asset),
  fiat: { code: row.fiatCode, value: fiatValueOf(row) ?? null }
})
