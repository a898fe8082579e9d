import { compare, type NativeAmount, nativeAmount, negate, ZERO } from '../amount.ts'
import { isWalletError, WalletError } from '../errors/wallet-error.ts'
import { describeError } from '../log.ts'
import type { Services } from '../services.ts'
import type { Secret } from '../state/secret.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { WalletKeys } from '../types/keys.ts'
import type {
  EngineTransaction,
  SpendInfo,
  SpendTarget,
  SpentTarget,
  Transaction
} from '../types/transaction.ts'
import { checkEngineTransaction } from './engine-data.ts'
import type { EngineRunner } from './engine-runner.ts'
import { searchMaxSpendable } from './max-spend.ts'
import { upgradeMemos } from './memos.ts'
import { mergeMetadata } from './metadata.ts'
import type { SpendIntent, SpendJournal, SpendStage } from './spend-journal.ts'
import { newTransactionFile } from './transaction-file.ts'
import type { TransactionTable } from './transaction-table.ts'

/** What a spend needs of its wallet. */
export interface SpendParts {
  readonly services: Services
  readonly walletId: string
  readonly info: CurrencyInfo
  readonly engine: EngineRunner
  readonly journal: SpendJournal
  readonly table: TransactionTable
  readonly keys: Secret<WalletKeys>
  /** The spends that a call is busy with; a resume leaves them alone. */
  readonly busy: Set<string>
  balanceOf(tokenId: string | null): NativeAmount
  /** The txid of a spend that is now in the table. */
  told(txid: string): void
}

/**
 * Makes the draft of a spend: memos in one form, amounts checked, the engine's answer checked. Nothing is signed.
 *
 * @throws the engine's spend errors, AMOUNT_INVALID, MEMO_INVALID, SPEND_WITH_KEYS, BOGUS_TX
 * @see protocol §6.3
 */
export const makeSpend = async (parts: SpendParts, request: SpendInfo): Promise<Transaction> => {
  const spend = cleanSpend(request, parts.info)
  const keys = parts.engine.keysFor('spend')
  const draft = await parts.engine.call('making a payment', engine => engine.makeSpend(spend, keys))
  const checked = checkEngineTransaction(parts.info.pluginId, draft)
  const { deviceDescription } = parts.services.config
  return {
    ...checked,
    walletId: parts.walletId,
    currencyCode: parts.info.currencyCode,
    confirmations: 'unconfirmed',
    isSend: true,
    memos: checked.memos ?? spend.memos ?? [],
    metadata: mergeMetadata({}, spend.metadata ?? {}),
    networkFeeOption: spend.networkFeeOption ?? 'standard',
    ...(spend.customNetworkFee === undefined ? {} : { requestedCustomFee: spend.customNetworkFee }),
    spendTargets: spend.spendTargets.map(target => spentTarget(target, parts.info.currencyCode)),
    ...(deviceDescription === undefined ? {} : { deviceDescription })
  }
}

/** The largest amount that can be sent to the first target; exact where the engine knows, else by halving. */
export const getMaxSpendable = async (parts: SpendParts, request: SpendInfo): Promise<NativeAmount> => {
  const spend = cleanSpend(request, parts.info)
  const keys = parts.engine.keysFor('spend')
  const own = await parts.engine.call('finding the maximum', async engine =>
    engine.getMaxSpendable === undefined ? undefined : await engine.getMaxSpendable(spend, keys)
  )
  if (own !== undefined) return nativeAmount(own)
  return searchMaxSpendable(parts.balanceOf(spend.tokenId), async amount => {
    const [first, ...others] = spend.spendTargets
    const spendTargets = [
      { ...first, nativeAmount: amount },
      ...others.map(target => ({ ...target, nativeAmount: ZERO }))
    ]
    try {
      await parts.engine.call('finding the maximum', engine =>
        engine.makeSpend({ ...spend, spendTargets }, keys)
      )
      return true
    } catch (error) {
      if (isWalletError(error, 'ENGINE_FAILED') || isWalletError(error, 'DEADLINE')) throw error
      return false
    }
  })
}

/**
 * Signs a draft. The intent is durable before a key is read, and the signed bytes before they are handed out.
 *
 * @throws SIGN_REFUSED or the error of a policy; then nothing was signed
 */
export const signTx = async (parts: SpendParts, draft: Transaction): Promise<Transaction> => {
  const correlationId = newCorrelationId(parts.services)
  return whileBusy(
    parts,
    correlationId,
    async () => (await signAs(parts, draft, { correlationId, stage: 'signed' })).tx
  )
}

/**
 * Sends signed bytes. A refusal by the network ends the spend; any other failure keeps the bytes, and only these
 * bytes are sent again.
 *
 * @throws BROADCAST_REFUSED, BROADCAST_UNKNOWN
 */
export const broadcastTx = async (parts: SpendParts, tx: Transaction): Promise<Transaction> => {
  const known = parts.journal.findByTxid(tx.txid)
  const correlationId = known?.correlationId ?? newCorrelationId(parts.services)
  const intent: SpendIntent = { correlationId, stage: 'sending', at: parts.services.io.clock.now(), tx }
  return whileBusy(parts, correlationId, async () => {
    await parts.journal.put(intent)
    return send(parts, intent)
  })
}

/** Writes the transaction's file and takes it into the wallet; the spend is then finished. */
export const saveTx = async (parts: SpendParts, tx: Transaction): Promise<void> => {
  const seconds = parts.services.io.clock.now() / 1000
  const creationDate = parts.table.creationDateOf(tx.date === 0 ? seconds : tx.date)
  await parts.table.writeFile(newTransactionFile(tx, creationDate))
  const sent: EngineTransaction = { ...tx, date: tx.date === 0 ? seconds : tx.date }
  await parts.table.take([sent])
  await parts.engine.call('saving a payment', engine => engine.saveTx(sent))
  const intent = parts.journal.findByTxid(tx.txid)
  if (intent !== undefined) {
    await parts.journal.remove(intent.correlationId)
    tell(parts, intent, 'saved')
  }
  parts.told(tx.txid)
}

/** Signs, sends and saves a draft that the user has approved, as one journalled action. */
export const spend = async (parts: SpendParts, draft: Transaction): Promise<Transaction> => {
  const correlationId = newCorrelationId(parts.services)
  return whileBusy(parts, correlationId, async () => {
    const intent = await signAs(parts, draft, { correlationId, stage: 'sending' })
    const tx = await send(parts, intent)
    await saveTx(parts, tx)
    return tx
  })
}

/**
 * Finishes what a crash, a full disk or a dead network interrupted: bytes that may have left are sent again and saved; an intent without a
 * signature is dropped, for nothing has left; bytes that nobody asked to send stay where `unfinishedSpends` shows
 * them.
 */
export const resumeSpends = async (parts: SpendParts): Promise<void> => {
  const log = parts.services.logOf(parts.info.pluginId)
  for (const intent of parts.journal.list(error => parts.services.report('spend journal', error))) {
    if (intent.stage === 'signed' || parts.busy.has(intent.correlationId)) continue
    if (intent.stage === 'intended') {
      log.warn('A payment was not signed before it was interrupted; nothing was sent.')
      await parts.journal.remove(intent.correlationId)
      continue
    }
    try {
      await whileBusy(parts, intent.correlationId, async () => {
        const tx = intent.stage === 'broadcast' ? intent.tx : await send(parts, intent)
        await saveTx(parts, tx)
      })
    } catch (error) {
      log.warn(`A payment is not finished yet: ${describeError(error)}`)
    }
  }
}

const whileBusy = async <T>(
  { busy }: SpendParts,
  correlationId: string,
  task: () => Promise<T>
): Promise<T> => {
  busy.add(correlationId)
  try {
    return await task()
  } finally {
    busy.delete(correlationId)
  }
}

const signAs = async (
  parts: SpendParts,
  draft: Transaction,
  { correlationId, stage }: { correlationId: string; stage: 'signed' | 'sending' }
): Promise<SpendIntent> => {
  const { services, journal, info } = parts
  const at = services.io.clock.now()
  const intended: SpendIntent = {
    correlationId,
    stage: 'intended',
    at,
    tx: draft
  }
  await journal.put(intended)
  tell(parts, intended, 'intended')
  try {
    await services.hooks.beforeSign.promise(snapshotOf(intended, info))
    const signed = await parts.keys.use(keys =>
      parts.engine.call('signing', engine => engine.signTx(draft, keys))
    )
    const tx: Transaction = { ...draft, ...checkEngineTransaction(info.pluginId, signed) }
    const intent: SpendIntent = { ...intended, stage, tx }
    await journal.put(intent)
    tell(parts, intent, 'signed')
    return intent
  } catch (error) {
    await journal.remove(intended.correlationId)
    tell(parts, intended, 'refused')
    throw error
  }
}

const send = async (parts: SpendParts, intent: SpendIntent): Promise<Transaction> => {
  const { journal, engine, info } = parts
  const keys = engine.keysFor('broadcast')
  try {
    const sent = await engine.call('sending a payment', live => live.broadcastTx(intent.tx, keys))
    const tx: Transaction = { ...intent.tx, ...checkEngineTransaction(info.pluginId, sent) }
    await journal.put({ ...intent, stage: 'broadcast', tx })
    tell(parts, { ...intent, tx }, 'broadcast')
    return tx
  } catch (error) {
    const { txid } = intent.tx
    if (!isWalletError(error, 'BROADCAST_REFUSED'))
      throw new WalletError('BROADCAST_UNKNOWN', { txid }, error)
    await journal.remove(intent.correlationId)
    tell(parts, intent, 'refused')
    throw error
  }
}

const tell = (parts: SpendParts, intent: SpendIntent, stage: SpendStage | 'saved' | 'refused'): void => {
  if (stage === 'sending') return
  const { correlationId, tx } = intent
  parts.services.hooks.spendChanged.call(
    Object.freeze({
      correlationId,
      walletId: parts.walletId,
      stage,
      ...(tx.txid === '' ? {} : { txid: tx.txid })
    })
  )
}

const snapshotOf = ({ correlationId, tx }: SpendIntent, info: CurrencyInfo) =>
  Object.freeze({
    correlationId,
    walletId: tx.walletId,
    pluginId: info.pluginId,
    currencyCode: tx.currencyCode,
    tokenId: tx.tokenId,
    nativeAmount: tx.nativeAmount.startsWith('-') ? negate(tx.nativeAmount) : tx.nativeAmount,
    networkFee: tx.networkFee,
    targets: Object.freeze(
      (tx.spendTargets ?? []).map(({ publicAddress, nativeAmount: amount }) =>
        Object.freeze({ publicAddress, nativeAmount: amount })
      )
    )
  })

const cleanSpend = (request: SpendInfo, info: CurrencyInfo): SpendInfo => {
  if ('privateKeys' in request) throw new WalletError('SPEND_WITH_KEYS', {})
  const spendTargets = request.spendTargets
    .filter(({ publicAddress }) => publicAddress !== undefined && publicAddress !== '')
    .map(target => ({ ...target, nativeAmount: positive(target.nativeAmount ?? ZERO) }))
  return upgradeMemos({ ...request, spendTargets }, info.memoOptions)
}

const positive = (amount: string): NativeAmount => {
  const checked = nativeAmount(amount)
  if (compare(checked, ZERO) < 0) throw new WalletError('AMOUNT_INVALID', { rule: 'must not be negative' })
  return checked
}

const spentTarget = (target: SpendTarget, currencyCode: string): SpentTarget => ({
  currencyCode,
  nativeAmount: target.nativeAmount ?? ZERO,
  publicAddress: target.publicAddress ?? '',
  ...(target.memo === undefined ? {} : { memo: target.memo, uniqueIdentifier: target.memo })
})

const newCorrelationId = ({ io }: Services): string => io.crypto.toHex(io.random(8))
