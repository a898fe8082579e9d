import { compare, type NativeAmount } from '../../base/amount.ts'
import { compact } from '../../base/compact.ts'
import { WalletError } from '../../base/errors.ts'
import { copyJson, isSameJson } from '../../base/json.ts'
import type { PluginId } from '../../types/ids.ts'
import type { EngineTransaction, Transaction } from '../../types/transaction.ts'
import { checkEngineTransaction, checkSignedTransaction } from '../engine/validate.ts'

/**
 * Copies a transaction and freezes the copy, `otherParams` included: neither the plugin that made it nor the caller
 * that holds it can change what a person or a policy has reviewed.
 *
 * @throws BAD_REPLY if it is no JSON
 */
export const frozenTransaction = (tx: Transaction): Transaction => freeze(copyOf(tx) as Transaction)

/** A copy that an engine may change as it likes: plugins of the deployed system write their bytes into it. */
export const engineCopyOf = (tx: Transaction): EngineTransaction => copyOf(tx) as EngineTransaction

/**
 * Returns the reviewed draft with its signature. Of the engine's answer only what signing adds is taken: txid, bytes,
 * date, `otherParams` and `txSecret`. Everything else must be as it was reviewed, or be left out.
 *
 * @throws SIGNED_OTHERWISE naming the first field that differs; BOGUS_TX
 */
export const signedDraftOf = (pluginId: PluginId, draft: Transaction, answer: unknown): Transaction => {
  const signed = checkSignedTransaction(pluginId, answerCopyOf(pluginId, answer))
  const field = firstDifference(draft, signed)
  if (field !== undefined) throw new WalletError('SIGNED_OTHERWISE', { pluginId, field })
  const { txid, signedTx } = signed
  return freeze({ ...draft, ...addedBy(signed), txid, signedTx })
}

/**
 * Returns a payment as the engine completed it when it was sent: the date, `otherParams` and `txSecret` are taken. The
 * bytes have left by now, so that a difference cannot be refused: it is reported, and the reviewed facts are kept.
 *
 * @throws BOGUS_TX
 */
export const sentTransactionOf = (
  pluginId: PluginId,
  signed: Transaction,
  { answer, onDifference }: { readonly answer: unknown; onDifference(error: WalletError): void }
): Transaction => {
  const sent = checkEngineTransaction(pluginId, answerCopyOf(pluginId, answer))
  const field = sent.txid === signed.txid ? firstDifference(signed, sent) : 'txid'
  if (field !== undefined) onDifference(new WalletError('SIGNED_OTHERWISE', { pluginId, field }))
  return freeze({ ...signed, ...addedBy(sent) })
}

const AMOUNTS = ['nativeAmount', 'networkFee', 'parentNetworkFee'] as const

/** An engine may leave them out of its answer, then the reviewed ones count. */
const FACTS = [
  'tokenId',
  'currencyCode',
  'walletId',
  'isSend',
  'memos',
  'ourReceiveAddresses',
  'spendTargets',
  'swapData',
  'spentCoins',
  'networkFees',
  'replaces',
  'action'
] as const

const firstDifference = (reviewed: Transaction, answer: EngineTransaction): string | undefined => {
  const signed: Partial<Transaction> = answer
  return (
    AMOUNTS.find(field => !isSameAmount(reviewed[field], signed[field])) ??
    FACTS.find(field => signed[field] !== undefined && !isSameJson(reviewed[field], signed[field]))
  )
}

const isSameAmount = (reviewed: NativeAmount | undefined, signed: NativeAmount | undefined): boolean =>
  signed === undefined || (reviewed !== undefined && compare(reviewed, signed) === 0)

const addedBy = ({
  date,
  otherParams,
  txSecret
}: EngineTransaction): Pick<EngineTransaction, 'date' | 'otherParams' | 'txSecret'> => ({
  date,
  ...compact({ otherParams, txSecret })
})

const answerCopyOf = (pluginId: PluginId, answer: unknown): unknown => {
  try {
    return copyOf(answer)
  } catch (error) {
    throw new WalletError('BOGUS_TX', { pluginId, path: '' }, error)
  }
}

const copyOf = (value: unknown): unknown => copyJson(value, 'transaction', MAX_LENGTH)

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) freeze(part)
  }
  return value
}

/** Characters of JSON: ten thousand inputs, and their bytes. */
const MAX_LENGTH = 16_000_000
