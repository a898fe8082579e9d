import { WalletError } from '../errors/wallet-error.ts'
import type { SweepInfo, Transaction } from '../types/transaction.ts'
import { checkSignedTransaction } from './engine/engine-data.ts'
import { checkMetadata } from './history/metadata.ts'
import type { SpendParts } from './spend.ts'
import { cleanSpend, draftOf } from './spend-draft.ts'

/**
 * Makes the transaction that moves what foreign keys hold; it is signed with them, and nothing is sent or kept yet.
 *
 * @throws NOT_SUPPORTED, BOGUS_TX, the spend errors
 * @see specification §5
 */
export const sweepPrivateKeys = async (
  parts: SpendParts,
  { privateKeys, ...request }: SweepInfo
): Promise<Transaction> => {
  const spend = cleanSpend(request, parts.info)
  checkMetadata(spend.metadata ?? {})
  const signed = await parts.engine.call('sweeping keys', async engine => {
    if (engine.sweepPrivateKeys === undefined)
      throw new WalletError('NOT_SUPPORTED', { what: 'sweeping keys' })
    return engine.sweepPrivateKeys(spend, privateKeys)
  })
  return { ...draftOf(parts, spend, checkSignedTransaction(parts.info.pluginId, signed)), isSend: false }
}
