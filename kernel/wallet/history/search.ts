import { ZERO } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import { isWellFormed } from '../../crypto/encoding.ts'
import type { Memo, Metadata, SpentTarget, SwapData, Transaction } from '../../types/transaction.ts'
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

/** What a search looks into, of a transaction as it is shown or of a row: both supply all of it. */
interface SearchFields {
  readonly txids: readonly string[]
  readonly amounts: readonly string[]
  /** Own ones. */
  readonly addresses: readonly string[]
  readonly memos: readonly Pick<Memo, 'value'>[]
  readonly notes: readonly Metadata[]
  readonly swap: SwapData | undefined
  readonly payees: readonly Pick<SpentTarget, 'memo' | 'publicAddress'>[]
}

/**
 * The texts that a search looks into: lower case, without marks.
 *
 * Another list, or another spelling, needs another {@link SEARCH_FORM}: the texts of rows are kept on the disk.
 *
 * @param fiatCode - such as `iso:USD`: only amounts in this currency are searched; those in all of them without it
 * @see specification §5 "Transaction search"
 */
const searchTexts = (
  { txids, amounts, addresses, memos, notes, swap, payees }: SearchFields,
  fiatCode?: string
): string[] => {
  const texts = [...txids, ...amounts, ...addresses]
  for (const { value } of memos) texts.push(value)
  for (const { category, name, notes: text, exchangeAmount = {} } of notes) {
    for (const noted of [category, name, text]) if (noted !== undefined) texts.push(noted)
    for (const [code, amount] of Object.entries(exchangeAmount))
      if (fiatCode === undefined || code === fiatCode) texts.push(String(amount))
  }
  if (swap !== undefined) texts.push(swap.plugin.displayName)
  for (const { publicAddress, memo } of payees) {
    texts.push(publicAddress)
    if (memo !== undefined) texts.push(memo)
  }
  return texts.map(text => searchable(withoutMarks(text).toLowerCase()))
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
  const [txids, amounts, addresses, memos, notes]: [string[], string[], string[], Memo[], Metadata[]] = [
    [],
    [],
    [],
    [],
    []
  ]
  for (const report of reports) {
    txids.push(report.txid)
    amounts.push(report.nativeAmount)
    // In the history of an asset that pays only a fee, the amount is zero.
    if (report.parentNetworkFee !== undefined || report.networkFees !== undefined) amounts.push(ZERO)
    addresses.push(...report.ourReceiveAddresses)
    memos.push(...(report.memos ?? []))
  }
  if (file !== undefined)
    for (const assets of [file.tokens, file.currencies])
      for (const { metadata } of Object.values(assets)) notes.push(metadata)
  const payees = file === undefined ? [] : (payeesOf(file) ?? [])
  const fields: SearchFields = {
    ...{ txids, amounts, addresses, memos, notes, swap: file?.swap },
    payees: payees.map(({ address, tag }) => ({ publicAddress: address, ...compact({ memo: tag }) }))
  }
  return searchTexts(fields).join(SEPARATOR) + SEPARATOR
}

/** A text in the form of {@link searchTextOf}: halves of characters, which have no UTF-8, are spelt out (pure). */
export const searchable = (text: string): string =>
  isWellFormed(text) ? text : text.replace(/\p{Surrogate}/gu, half => `${SEPARATOR}${half.charCodeAt(0)}`)

/** Checks if a search finds a transaction (pure). `query`: as {@link normalizeQuery} gives it. */
export const matchesSearch = (tx: SearchableTransaction, query: string, fiatCode: string): boolean => {
  const fields: SearchFields = {
    ...{ txids: [tx.txid], amounts: [tx.nativeAmount], addresses: tx.ourReceiveAddresses },
    ...{ memos: tx.memos ?? [], notes: [tx.metadata], swap: tx.swapData, payees: tx.spendTargets ?? [] }
  }
  const texts = searchTexts(fields, fiatCode)
  const wanted = searchable(query)
  return texts.some(text => text.includes(wanted))
}

/** Stands behind each text, so that no query is found across two of them. */
const SEPARATOR = '\0'

/** Only the first dot and the first comma go, as in the deployed system. */
const withoutMarks = (text: string): string => text.replace('.', '').replace(',', '')
