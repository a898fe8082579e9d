import type { Transaction } from '../../types/transaction.ts'

/** What a search reads of a transaction. */
export type Searched = Pick<
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
export const searchedTexts = (tx: Searched, fiatCode: string): string[] => {
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

/** Tells whether a search finds a transaction (pure). `query`: as {@link normalizeQuery} gives it. */
export const matchesSearch = (tx: Searched, query: string, fiatCode: string): boolean =>
  searchedTexts(tx, fiatCode).some(text => text.toLowerCase().includes(query))

/** Only the first dot and the first comma go, as in the deployed system. */
const withoutMarks = (text: string): string => text.replace('.', '').replace(',', '')
