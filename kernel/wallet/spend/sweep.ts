import { abs } from '../../base/amount.ts'
import { looseCopy } from '../../base/copy-data.ts'
import { WalletError } from '../../base/errors.ts'
import { requestKeys } from '../../keys/key-gate.ts'
import type { KeptCoins } from '../../types/engine.ts'
import { checkNetworkFee, requireFeeLimit } from '../../types/network-fee.ts'
import type { EngineTransaction, SweepInfo, Transaction } from '../../types/transaction.ts'
import { checkSignedTransaction, readEngineTransaction } from '../engine/validate.ts'
import { checkMetadata } from '../history/metadata.ts'
import { cleanSpend, draftOf, spendQuestionOf } from './draft.ts'
import { engineCopyOf, frozenTransaction, signedDraftOf } from './reviewed-transaction.ts'
import { type Following, followedBy, questionOf, untilAborted } from './sign.ts'
import { newCorrelationId, type SpenderOptions } from './spender.ts'

/**
 * Makes the transaction that moves what foreign keys hold; it is signed with them, and nothing is sent or kept yet.
 *
 * Policies are asked with all amounts before a key signs; of an engine that signs at once, before it gets the keys, without them.
 *
 * @throws NOT_SUPPORTED, BOGUS_TX, SIGNED_OTHERWISE, MAX_FEE, FEE_UNUSUAL, the spend errors, what a policy objects
 * @see specification §5
 */
export const sweepPrivateKeys = async (
  context: SpenderOptions,
  request: SweepInfo,
  following: Following = {}
): Promise<Transaction> => {
  const correlationId = newCorrelationId(context.services)
  const release = context.rules.holdGrant('sweep', correlationId)
  try {
    return await sweep(context, request, { ...following, correlationId })
  } finally {
    release()
  }
}

const sweep = async (
  context: SpenderOptions,
  { privateKeys, ...request }: SweepInfo,
  { correlationId, ...following }: Following & { readonly correlationId: string }
): Promise<Transaction> => {
  const spend = cleanSpend(request, context.info)
  checkMetadata(spend.metadata ?? {})
  requireFeeLimit(spend.maxNetworkFee)
  const { services, walletId, engine, info, rules } = context
  const { pluginId, currencyCode } = info
  const judge = async (question: ReturnType<typeof questionOf<'sweep'>>): Promise<void> => {
    await requestKeys(services, rules, { correlationId, walletId, pluginId, currencyCode, ...question })
  }
  const isSignedAtOnce = await engine.call('sweeping keys', async made => {
    if (made.sweepPrivateKeys === undefined) throw new WalletError('NOT_SUPPORTED', { what: 'sweeping keys' })
    return made.signSweep === undefined
  })
  if (isSignedAtOnce) await judge(spendQuestionOf('sweep', spend))
  const answer = await leavingKept(context, kept =>
    untilAborted(following.signal, () =>
      engine.call(
        'sweeping keys',
        async made => {
          const options = followedBy(services, following)
          const drafted: unknown = await made.sweepPrivateKeys?.(
            looseCopy(spend),
            [...privateKeys],
            kept,
            options
          )
          const tx = readEngineTransaction(pluginId, drafted)
          if (isSignedAtOnce) return checkSignedTransaction(pluginId, tx)
          // Policies have not been asked yet.
          if (tx.signedTx !== '') throw new WalletError('BOGUS_TX', { pluginId, path: 'signedTx' })
          return tx
        },
        SEARCH_MS
      )
    )
  )
  const swept = frozenTransaction(arrivingOf(draftOf(context, spend, answer)))
  checkNetworkFee(info, swept)
  if (isSignedAtOnce) return swept
  await judge(questionOf('sweep', { tx: swept }))
  return engine.call('sweeping keys', async made =>
    signedDraftOf(pluginId, swept, await made.signSweep?.(engineCopyOf(swept), [...privateKeys]))
  )
}

/** A node without an index looks through all coins, for minutes on a main network. */
const SEARCH_MS = 30 * 60_000

/**
 * Drafts until nothing is taken that a wallet of the account keeps back: a key may be that of an address of the account itself. Most
 * keys are not, so that an engine learns of no coin before it has taken it.
 *
 * @throws SIGN_REFUSED for an engine that takes a coin all the same
 */
const leavingKept = async (
  { info: { pluginId }, rules }: SpenderOptions,
  draft: (kept: KeptCoins) => Promise<EngineTransaction>
): Promise<EngineTransaction> => {
  const [frozen, reserved] = [new Set<string>(), new Set<string>()]
  for (;;) {
    const drafted = await draft({ frozen: [...frozen], reserved: [...reserved] })
    const { spentCoins = [] } = drafted
    const kept = await rules.keptCoins(pluginId, spentCoins)
    if (kept.frozen.length + kept.reserved.length === 0) return drafted
    if (spentCoins.some(coin => frozen.has(coin) || reserved.has(coin)))
      throw new WalletError('SIGN_REFUSED', {
        ...{ pluginId, refusedBy: 'wallet' },
        reason: 'the sweep takes a coin that a wallet of the account keeps back'
      })
    for (const coin of kept.frozen) frozen.add(coin)
    for (const coin of kept.reserved) reserved.add(coin)
  }
}

/** What arrives in the wallet stands for the payee. */
const arrivingOf = (drafted: Transaction): Transaction => {
  const [publicAddress = ''] = drafted.ourReceiveAddresses
  const { currencyCode } = drafted
  const arriving = { currencyCode, nativeAmount: abs(drafted.nativeAmount), publicAddress }
  return { ...drafted, isSend: false, spendTargets: [arriving] }
}
