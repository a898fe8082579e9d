import { WalletError } from '../../base/errors.ts'
import type { MetadataChange } from '../../types/transaction.ts'
import type { HistoryTable } from './history-table.ts'
import { checkMetadata, mergeMetadata, withFiatCode } from './metadata.ts'
import { newTransactionFile, withMetadata } from './transaction-file.ts'

/** Which note is changed. */
export interface NotedAsset {
  readonly txid: string
  /** null: the chain's own coin, whose notes show for the tokens of the transaction too. */
  readonly tokenId: string | null
}

/**
 * Changes what is noted on a transaction, durably; null deletes, absent keeps (protocol §6.4 "Metadata edit").
 *
 * @throws OPTION_INVALID, TX_NOT_FOUND; CORRUPT_FILE if its file cannot be read, which stays as it is
 */
export const saveMetadata = async (
  table: HistoryTable,
  { txid, tokenId }: NotedAsset,
  change: MetadataChange
): Promise<void> => {
  checkMetadata(change)
  const tx = await table.find(txid, tokenId)
  if (tx === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
  const inFile = withFiatCode(change, table.fiatCode)
  await table.editFile(txid, present => {
    const file = present ?? newTransactionFile(tx, table.creationDateOf(tx.date))
    return withMetadata(file, table.assetName(tokenId), metadata => mergeMetadata(metadata, inFile))
  })
}
