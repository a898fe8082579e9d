import { ZERO } from '../../base/amount.ts'
import { isWellFormed } from '../../crypto/encoding.ts'
import type { Transaction } from '../../types/transaction.ts'
import { payeesOf } from './file-format.ts'
import type { HistoryRow } from './row.ts'

/** The fields of a transaction that a search reads. */
export type SearchableTransaction = Pick<
  Transaction,
  'nativeAmount' | 'txid' | 'ourReceiveAddresses' | 'metadata' | 'swapData' | 'spendTargets'
> &
  Partial<Pick<Transaction, 'memos'>>

/**
 * The form in which a query is looked for: lower case, without its first dot, its first comma and leading zeros.
 *
 * Zeros alone stay, or they would match everything.
 *
 * @see protocol §6.4 "Search"; vectors `tx-search`
 */
export const normalizeQuery = (query: string): string => {
  const text = withoutMarks(query.toLowerCase())
  return /^0*$/.test(text) ? text : text.replace(/^0+/, '')
}

/**
 * The texts of a transaction that a search looks into, not yet in lower case.
 *
 * @param fiatCode - of the wallet, such as `iso:USD`; amounts in other currencies are not looked into
 * @see specification §5 "Transaction search"
 */
const searchTexts = (tx: SearchableTransaction, fiatCode: string): string[] => {
  const { category, name, notes, exchangeAmount } = tx.metadata
  const texts = [tx.nativeAmount, tx.txid]
  if (category !== undefined) texts.push(category)
  if (name !== undefined) texts.push(name)
  if (notes !== undefined) texts.push(notes)
  if (exchangeAmount !== undefined && Object.hasOwn(exchangeAmount, fiatCode)) {
    texts.push(String(exchangeAmount[fiatCode]))
  }
  if (tx.swapData !== undefined) texts.push(tx.swapData.plugin.displayName)
  for (const { publicAddress, memo } of tx.spendTargets ?? []) {
    texts.push(publicAddress)
    if (memo !== undefined) texts.push(memo)
  }
  for (const { value } of tx.memos ?? []) texts.push(value)
  for (const address of tx.ourReceiveAddresses) texts.push(address)
  return texts.map(withoutMarks)
}

/**
 * The text of a row for searches, in lower case: what {@link searchTexts} gives of its transaction in each asset's history, and with
 * each fiat currency, so that no change of those makes another one (pure).
 */
export const searchTextOf = ({ reports, file }: HistoryRow): string => {
  const texts: string[] = []
  for (const report of reports) {
    texts.push(report.txid, report.nativeAmount, ...report.ourReceiveAddresses)
    // In the history of an asset that pays only a fee, the amount is zero.
    if (report.parentNetworkFee !== undefined || report.networkFees !== undefined) texts.push(ZERO)
    for (const { value } of report.memos ?? []) texts.push(value)
  }
  if (file !== undefined) {
    for (const { metadata } of [...Object.values(file.tokens), ...Object.values(file.currencies)]) {
      const { category, name, notes, exchangeAmount = {} } = metadata
      for (const text of [category, name, notes]) if (text !== undefined) texts.push(text)
      for (const amount of Object.values(exchangeAmount)) texts.push(String(amount))
    }
    if (file.swap !== undefined) texts.push(file.swap.plugin.displayName)
    for (const { address, tag } of payeesOf(file) ?? []) texts.push(address, tag ?? '')
  }
  return searchable(texts.map(withoutMarks).join(SEPARATOR).toLowerCase() + SEPARATOR)
}

/** A text in the form of {@link searchTextOf}: halves of characters, which have no UTF-8, are spelt out (pure). */
export const searchable = (text: string): string =>
  isWellFormed(text) ? text : text.replace(/\p{Surrogate}/gu, half => `${SEPARATOR}${half.charCodeAt(0)}`)

/** Checks if a search finds a transaction (pure). `query`: as {@link normalizeQuery} gives it. */
export const matchesSearch = (tx: SearchableTransaction, query: string, fiatCode: string): boolean =>
  searchTexts(tx, fiatCode).some(text => text.toLowerCase().includes(query))

/** Stands behind each text, so that no query is found across two of them. */
const SEPARATOR = '\0'

/** Only the first dot and the first comma go, as in the deployed system. */
const withoutMarks = (text: string): string => text.replace('.', '').replace(',', '')
