import { abs } from '../../base/amount.ts'
import { looseCopy } from '../../base/copy-data.ts'
import { WalletError } from '../../base/errors.ts'
import { requestKeys } from '../../keys/key-gate.ts'
import { checkNetworkFee, requireFeeLimit } from '../../types/network-fee.ts'
import type { SpendInfo, SweepInfo, Transaction } from '../../types/transaction.ts'
import { checkSignedTransaction, readEngineTransaction } from '../engine/validate.ts'
import { checkMetadata } from '../history/metadata.ts'
import { cleanSpend, draftOf, spendQuestionOf } from './draft.ts'
import { engineCopyOf, frozenTransaction, signedDraftOf } from './reviewed-transaction.ts'
import { questionOf } from './sign.ts'
import type { SpenderOptions } from './spender.ts'

/**
 * Makes the transaction that moves what foreign keys hold; it is signed with them, and nothing is sent or kept yet.
 *
 * Policies are asked with all amounts before a key signs. An engine that signs at once gets the keys only after a question without
 * amounts, and the policies are asked again with them.
 *
 * @throws NOT_SUPPORTED, BOGUS_TX, SIGNED_OTHERWISE, MAX_FEE, FEE_UNUSUAL, the spend errors, what a policy objects
 * @see specification §5
 */
export const sweepPrivateKeys = async (
  context: SpenderOptions,
  { privateKeys, ...request }: SweepInfo
): Promise<Transaction> => {
  const spend = cleanSpend(request, context.info)
  checkMetadata(spend.metadata ?? {})
  requireFeeLimit(spend.maxNetworkFee)
  const { services, walletId, engine, info, rules } = context
  const { pluginId, currencyCode } = info
  const ask = async (question: ReturnType<typeof questionOf<'sweep'>>): Promise<void> => {
    await requestKeys(services, rules, { walletId, pluginId, currencyCode, ...question })
  }
  const isSignedAtOnce = await engine.call('sweeping keys', async made => {
    if (made.sweepPrivateKeys === undefined) throw new WalletError('NOT_SUPPORTED', { what: 'sweeping keys' })
    return made.signSweep === undefined
  })
  if (isSignedAtOnce) await ask(spendQuestionOf('sweep', spend))
  const answer = await engine.call('sweeping keys', async made => {
    const drafted: unknown = await made.sweepPrivateKeys?.(looseCopy(spend), [...privateKeys])
    const tx = readEngineTransaction(pluginId, drafted)
    if (isSignedAtOnce) return checkSignedTransaction(pluginId, tx)
    // Policies have not been asked yet.
    if (tx.signedTx !== '') throw new WalletError('BOGUS_TX', { pluginId, path: 'signedTx' })
    return tx
  })
  const swept = frozenTransaction(arrivingOf(draftOf(context, spend, answer)))
  checkNetworkFee(info, swept)
  await ask(questionOf('sweep', { tx: swept }))
  if (isSignedAtOnce) return swept
  return engine.call('sweeping keys', async made =>
    signedDraftOf(pluginId, swept, await made.signSweep?.(engineCopyOf(swept), [...privateKeys]))
  )
}

/** What arrives in the wallet stands for the payee. */
const arrivingOf = (drafted: Transaction): Transaction => {
  const [publicAddress = ''] = drafted.ourReceiveAddresses
  const { currencyCode } = drafted
  const arriving = { currencyCode, nativeAmount: abs(drafted.nativeAmount), publicAddress }
  return { ...drafted, isSend: false, spendTargets: [arriving] }
}
