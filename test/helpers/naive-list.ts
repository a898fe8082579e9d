import type { Transaction } from '../../kernel/types/transaction.ts'
import type { TransactionQuery } from '../../kernel/wallet/history/list.ts'
import { matchesSearch, normalizeQuery } from '../../kernel/wallet/history/search.ts'

/** The slow truth: every transaction of a list, filtered and cut as the query says. */
export const naiveList = (all: readonly Transaction[], query: TransactionQuery): Transaction[] => {
  const { startDate, endDate, searchString = '', beforeTxid, startIndex = 0, startEntries, limit } = query
  const place = all.findIndex(({ txid }) => txid === beforeTxid)
  const needle = normalizeQuery(searchString)
  return all
    .slice(place + 1 + startIndex)
    .filter(({ date }) => startDate === undefined || date * 1000 >= startDate.getTime())
    .filter(({ date }) => endDate === undefined || date * 1000 < endDate.getTime())
    .filter(tx => needle === '' || matchesSearch(tx, needle, 'iso:USD'))
    .slice(0, startEntries)
    .slice(0, limit)
}
