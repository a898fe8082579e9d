import { ZERO } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import { isWellFormed } from '../../crypto/encoding.ts'
import type { Transaction } from '../../types/transaction.ts'
import { payeesOf } from './file-format.ts'
import type { HistoryRow } from './row.ts'
import { targetOf } from './view.ts'

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
 * Adds the texts of a transaction, or of a part of one, that a search looks into.
 *
 * Another list, or another spelling, needs another {@link SEARCH_FORM}: the texts of rows are kept on the disk.
 *
 * @param fiatCode - such as `iso:USD`: only amounts in this currency are searched; those in all of them without it
 * @see specification §5 "Transaction search"
 */
const addSearchTexts = (
  texts: (string | undefined)[],
  part: Partial<SearchableTransaction>,
  fiatCode?: string
): void => {
  const { metadata, ourReceiveAddresses, memos, spendTargets } = part
  texts.push(part.txid, part.nativeAmount, part.swapData?.plugin.displayName)
  if (ourReceiveAddresses !== undefined) texts.push(...ourReceiveAddresses)
  if (memos !== undefined) for (const { value } of memos) texts.push(value)
  if (spendTargets !== undefined)
    for (const { publicAddress, memo } of spendTargets) texts.push(publicAddress, memo)
  if (metadata === undefined) return
  const { category, name, notes, exchangeAmount } = metadata
  texts.push(category, name, notes)
  for (const code in exchangeAmount)
    if (fiatCode === undefined || code === fiatCode) texts.push(String(exchangeAmount[code]))
}

/**
 * What the search text of a row on the disk begins with: it names the list of fields and their spelling. A row with a text of
 * another form is read, and written again with one of this form, as one without such a text.
 */
export const SEARCH_FORM = '1\0'

/**
 * The search text of a row: what a search looks into of its transaction in each asset's history, and with each fiat currency, so
 * that no change of those makes another one (pure).
 */
export const searchTextOf = ({ reports, file }: HistoryRow): string => {
  const parts: Partial<SearchableTransaction>[] = [...reports]
  // In the history of an asset that pays only a fee, the amount is zero.
  if (reports.some(report => report.parentNetworkFee ?? report.networkFees))
    parts.push({ nativeAmount: ZERO })
  if (file !== undefined) {
    parts.push(compact({ swapData: file.swap, spendTargets: payeesOf(file)?.map(targetOf) }))
    for (const assets of [file.tokens, file.currencies])
      for (const { metadata } of Object.values(assets)) parts.push({ metadata })
  }
  const texts: (string | undefined)[] = []
  for (const part of parts) addSearchTexts(texts, part)
  let joined = ''
  for (const text of texts) if (text !== undefined) joined += withoutMarks(text) + SEPARATOR
  return searchable(joined.toLowerCase())
}

/** A text in the form of {@link searchTextOf}: halves of characters, which have no UTF-8, are spelt out (pure). */
export const searchable = (text: string): string =>
  isWellFormed(text) ? text : text.replace(/\p{Surrogate}/gu, half => `${SEPARATOR}${half.charCodeAt(0)}`)

/** Checks if a search finds a transaction (pure). `query`: as {@link normalizeQuery} gives it. */
export const matchesSearch = (tx: SearchableTransaction, query: string, fiatCode: string): boolean => {
  const wanted = searchable(query)
  const texts: (string | undefined)[] = []
  addSearchTexts(texts, tx, fiatCode)
  return texts.some(
    text => text !== undefined && searchable(withoutMarks(text).toLowerCase()).includes(wanted)
  )
}

/** Stands behind each text, so that no query is found across two of them. */
const SEPARATOR = '\0'

/** Only the first dot and the first comma go, as in the deployed system. */
const withoutMarks = (text: string): string => text.replace('.', '').replace(',', '')
