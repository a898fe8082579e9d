import type { Transaction } from '../../types/transaction.ts'
import type { TransactionTable } from './transaction-table.ts'

/** Which transactions are wanted. */
export interface TransactionQuery {
  /** At or after this date. */
  readonly startDate?: Date
  /** Before this date. Without it, transactions dated in the future are listed too. */
  readonly endDate?: Date
  /** At most so many; all without it. */
  readonly limit?: number
  /** Only those that come after this txid in the list. */
  readonly beforeTxid?: string
}

/**
 * Lists transactions, newest first. Only those that are returned are read and decrypted.
 *
 * @see specification §5 "Date filter"
 */
export const listTransactions = async (
  table: TransactionTable,
  query: TransactionQuery
): Promise<Transaction[]> => {
  const start = query.startDate?.getTime() ?? Number.NEGATIVE_INFINITY
  const end = query.endDate?.getTime() ?? Number.POSITIVE_INFINITY
  const rows = table.dates()
  const first =
    query.beforeTxid === undefined ? 0 : rows.findIndex(({ txid }) => txid === query.beforeTxid) + 1
  const wanted = rows
    .slice(first)
    .filter(({ date }) => date * 1000 >= start && date * 1000 < end)
    .slice(0, query.limit ?? rows.length)
  const found: Transaction[] = []
  for (const { txid } of wanted) {
    const tx = await table.find(txid)
    if (tx !== undefined) found.push(tx)
  }
  return found
}
