import { confirmationsOf } from '../../../kernel/wallet/history/row.ts'
import { matchesSearch, normalizeQuery, type SearchableTransaction } from '../../../kernel/wallet/history/search.ts'
import { upgradeMemos } from '../../../kernel/wallet/spend/draft.ts'
import { mergeMetadata } from '../../../kernel/wallet/history/metadata.ts'
import { parseTransactionFile, transactionFileJson, transactionFilePath } from '../../../kernel/wallet/history/file-format.ts'
import { readVectorFile } from '../vector.ts'
import { eachVector, type GroupCheck } from './check.ts'

export const checkConfirmations: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const { txBlockHeight, chainHeight, required } = inputs
  t.is(confirmationsOf({ blockHeight: txBlockHeight, chainHeight, required }), outputs.confirmations, id)
})

/** A currency without a memo type of the three known kinds takes none. */
export const checkMemoUpgrade: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const { memoType, spendInfo } = inputs
  const options = ['hex', 'number', 'text'].includes(memoType) ? [{ type: memoType }] : []
  const { spendTargets, memos } = upgradeMemos({ tokenId: null, ...spendInfo }, options)
  t.deepEqual(JSON.parse(JSON.stringify({ spendTargets, memos })), outputs, id)
})

export const checkMetadataMerge: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  t.deepEqual(mergeMetadata(inputs.under, inputs.over), outputs, id)
})

export const checkTxFile: GroupCheck = eachVector((t, { id, outputs }) => {
  t.deepEqual(JSON.parse(JSON.stringify(transactionFileJson(parseTransactionFile(outputs)))), outputs, id)
})

export const checkTxFileName: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  t.is(transactionFilePath(inputs.creationDate, inputs.txidHash), `transaction/${outputs.fileName}`, id)
})

/** All of them search one transaction, in a wallet that is shown in dollars. */
export const checkTxSearch: GroupCheck = eachVector((t, { id, inputs, outputs }) => {
  const tx = readVectorFile('tx-search').sampleTransaction as SearchableTransaction
  t.is(matchesSearch(tx, normalizeQuery(inputs.query), 'iso:USD'), outputs.match, id)
})
