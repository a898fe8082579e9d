import { abs } from '../base/amount.ts'
import { looseCopy } from '../base/copy-data.ts'
import { WalletError } from '../base/errors.ts'
import { askForKeys } from '../keys/key-gate.ts'
import { checkMaxFee, checkNetworkFee } from '../types/network-fee.ts'
import type { SweepInfo, Transaction } from '../types/transaction.ts'
import { checkSignedTransaction, readEngineTransaction } from './engine/engine-data.ts'
import { checkMetadata } from './history/metadata.ts'
import type { SpendParts } from './spend.ts'
import { cleanSpend, draftOf, spendQuestionOf } from './spend-draft.ts'

/**
 * Makes the transaction that moves what foreign keys hold; it is signed with them, and nothing is sent or kept yet.
 *
 * @throws NOT_SUPPORTED, BOGUS_TX, MAX_FEE, FEE_UNUSUAL, the spend errors, what a policy objects
 * @see specification §5
 */
export const sweepPrivateKeys = async (
  parts: SpendParts,
  { privateKeys, ...request }: SweepInfo
): Promise<Transaction> => {
  const spend = cleanSpend(request, parts.info)
  checkMetadata(spend.metadata ?? {})
  checkMaxFee(spend.maxNetworkFee)
  const { services, walletId, engine, info } = parts
  const isAble = await engine.call('sweeping keys', async made => made.sweepPrivateKeys !== undefined)
  if (!isAble) throw new WalletError('NOT_SUPPORTED', { what: 'sweeping keys' })
  const { pluginId, currencyCode } = info
  await askForKeys(services, {
    ...{ walletId, pluginId, currencyCode },
    ...spendQuestionOf('sweep', spend)
  })
  const signed = await engine.call('sweeping keys', async made => {
    const said: unknown = await made.sweepPrivateKeys?.(looseCopy(spend), [...privateKeys])
    return checkSignedTransaction(pluginId, readEngineTransaction(pluginId, said))
  })
  const swept = draftOf(parts, spend, signed)
  // The engine signs at once; what is refused here is never sent.
  checkNetworkFee(parts.info, {
    ...swept,
    spendTargets: [
      { currencyCode: swept.currencyCode, nativeAmount: abs(swept.nativeAmount), publicAddress: '' }
    ]
  })
  return { ...swept, isSend: false }
}
