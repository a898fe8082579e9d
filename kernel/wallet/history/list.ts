import { WalletError } from '../../base/errors.ts'
import { makeYielder } from '../../base/yielder.ts'
import type { FileHash, TokenId, Txid } from '../../types/ids.ts'
import type { Transaction } from '../../types/transaction.ts'
import type { History } from './history.ts'
import { parseRow } from './row.ts'
import { ListCursor, type ListRange, lastBefore, type RowList, UNLISTED } from './row-list.ts'
import { matchesSearch, normalizeQuery } from './search.ts'

/**
 * Selects transactions of a history.
 *
 * @example
 * ```ts
 * const january = { startDate: new Date('2026-01-01'), endDate: new Date('2026-02-01') }
 * const rents = await wallet.getTransactions({ ...january, searchString: 'rent', limit: 50 })
 * ```
 */
export interface TransactionQuery {
  /** The asset; null, the default, is the chain's own coin, which also pays the fees of tokens. */
  readonly tokenId?: TokenId | null
  /** At or after this date. */
  readonly startDate?: Date
  /** Before this date. Without it, transactions dated in the future are listed too. */
  readonly endDate?: Date
  /** Selects those with this in a text, an amount or an address; see `normalizeQuery`. */
  readonly searchString?: string
  /**
   * The number of transactions to skip, from the newest on or after `beforeTxid`, whether or not a search or the dates
   * would select them (protocol §6.4).
   */
  readonly startIndex?: number
  /** The most transactions to return; all if left out. */
  readonly startEntries?: number
  /** The most transactions to return; all if left out. */
  readonly limit?: number
  /** Selects those that follow this txid in the list. @throws TX_NOT_FOUND if the list lacks it */
  readonly beforeTxid?: Txid
}

/** Selects transactions, and sets the sizes of the batches. */
export interface StreamQuery extends TransactionQuery {
  /** The size of a batch; 10 by default (specification §9). */
  readonly batchSize?: number
  /** The size of the first batch; `batchSize` by default. */
  readonly firstBatchSize?: number
}

const BATCH_SIZE = 10

/**
 * Lists transactions, newest first, complete with what is noted on them; only those that are returned are read.
 *
 * @throws TX_NOT_FOUND
 * @see specification §5 "Date filter", "Transaction search"
 */
export const listTransactions = async (history: History, query: TransactionQuery): Promise<Transaction[]> => {
  const found: Transaction[] = []
  for await (const page of pagesOf(history, query)) found.push(...page)
  return found
}

/**
 * The same in batches, each read when it is asked for; no batch is empty.
 *
 * A transaction that arrives meanwhile above the current place is left out, none comes twice, and one that vanishes
 * before its turn, as in a resync, does not come.
 */
export async function* streamTransactions(
  history: History,
  { batchSize = BATCH_SIZE, firstBatchSize = batchSize, ...query }: StreamQuery
): AsyncGenerator<Transaction[], void> {
  let size = Math.max(1, firstBatchSize)
  let waiting: Transaction[] = []
  for await (const page of pagesOf(history, query, Math.max(1, batchSize))) {
    waiting.push(...page)
    while (waiting.length >= size) {
      yield waiting.slice(0, size)
      waiting = await readAgain(history, query, waiting.slice(size))
      size = Math.max(1, batchSize)
    }
  }
  if (waiting.length > 0) yield waiting
}

/** Reads transactions again: since an earlier batch was read they may have changed or gone. */
const readAgain = async (
  history: History,
  { tokenId = null }: TransactionQuery,
  transactions: readonly Transaction[]
): Promise<Transaction[]> => {
  const present = await Promise.all(transactions.map(({ txid }) => history.find(txid, tokenId)))
  return present.filter(tx => tx !== undefined)
}

interface Walk {
  readonly history: History
  /** The list as it is now; a resync puts another in its place. */
  readonly open: () => Promise<RowList>
  readonly tokenId: TokenId | null
  /** The number of rows that are read at once. */
  readonly step: number
}

async function* pagesOf(
  history: History,
  query: TransactionQuery,
  step = PAGE
): AsyncGenerator<Transaction[]> {
  const { tokenId = null, startEntries, limit } = query
  const needle = normalizeQuery(query.searchString ?? '')
  const walk: Walk = { history, open: () => history.list(tokenId), tokenId, step }
  let left = Math.min(startEntries ?? Number.POSITIVE_INFINITY, limit ?? Number.POSITIVE_INFINITY)
  const range = rangeOf(walk, query)
  const pages =
    needle === '' ? plainPages(walk, range, left) : foundPages(walk, range, { needle, wanted: left })
  if (left <= 0) return
  for await (const page of pages) {
    const rest = page.slice(0, left)
    left -= rest.length
    if (rest.length > 0) yield rest
    if (left <= 0) return
  }
}

const rangeOf = (
  { history }: Walk,
  { startDate, endDate, beforeTxid, startIndex = 0 }: TransactionQuery
): ListRange => ({
  floor: startDate === undefined ? UNLISTED : lastBefore(startDate.getTime()),
  async from(list) {
    const above = endDate === undefined ? 0 : await list.offsetAt(lastBefore(endDate.getTime()))
    if (beforeTxid === undefined) return Math.max(above, startIndex)
    const place = await list.offsetOf(history.options.hashOf(beforeTxid))
    if (place === undefined) throw new WalletError('TX_NOT_FOUND', { txid: beforeTxid })
    return Math.max(above, place + 1 + startIndex)
  }
})

async function* plainPages(walk: Walk, range: ListRange, wanted: number): AsyncGenerator<Transaction[]> {
  const { history, open, step } = walk
  const cursor = new ListCursor(open, range)
  const yieldNow = makeYielder(history.options.clock)
  for (let read = 0; read < wanted; ) {
    const rows = await cursor.next(Math.min(step, wanted - read))
    if (rows.length === 0) return
    read += rows.length
    yield viewsOf(
      walk,
      rows.map(({ text }) => text)
    )
    await yieldNow()
  }
}

/** The newest are looked at one by one if few are wanted; all others are found by the text of the search. */
async function* foundPages(
  walk: Walk,
  range: ListRange,
  { needle, wanted }: { readonly needle: string; readonly wanted: number }
): AsyncGenerator<Transaction[]> {
  const { history, open, step } = walk
  const isFound = (tx: Transaction): boolean => matchesSearch(tx, needle, history.options.fiatCode())
  const cursor = new ListCursor(open, range)
  const yieldNow = makeYielder(history.options.clock)
  for (let read = 0; wanted <= FEW && read < PROBE; ) {
    const rows = await cursor.next(Math.min(step, FEW))
    if (rows.length === 0) return
    read += rows.length
    yield viewsOf(
      walk,
      rows.map(({ text }) => text)
    ).filter(isFound)
    await yieldNow()
  }
  const keys = (await history.search(needle)).filter(key => !cursor.hasSeen(key))
  const placed = await belowCursor(walk, cursor, { keys, floor: range.floor })
  for (let start = 0; start < placed.length; start += step) {
    const texts = await history.rowTexts(placed.slice(start, start + step))
    yield viewsOf(
      walk,
      texts.filter(text => text !== undefined)
    ).filter(isFound)
    await yieldNow()
  }
}

/** Keys in the order of the list, as far as they stand between a cursor and the floor: what came above it is too late. */
const belowCursor = async (
  { history, open }: Walk,
  cursor: ListCursor,
  { keys, floor }: { readonly keys: readonly FileHash[]; readonly floor: number }
): Promise<FileHash[]> => {
  const list = await open()
  const yieldNow = makeYielder(history.options.clock)
  const from = await cursor.placeIn(list)
  const end = await list.offsetAt(floor)
  const placed: { readonly key: FileHash; readonly place: number }[] = []
  for (const key of keys) {
    const place = await list.offsetOf(key)
    if (place !== undefined && place >= from && place < end) placed.push({ key, place })
    await yieldNow()
  }
  return placed.sort((a, b) => a.place - b.place).map(({ key }) => key)
}

const viewsOf = ({ history, tokenId }: Walk, texts: readonly string[]): Transaction[] => {
  const view = history.viewer(tokenId)
  return texts.flatMap(text => view(parseRow(text)) ?? [])
}

const PAGE = 200
/** A query for at most so many looks at the newest rows first, up to `PROBE` of them. */
const FEW = 100
const PROBE = 400
