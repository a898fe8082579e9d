import { type NativeAmount, negate } from '../amount.ts'
import type { SerialQueue } from '../crypto/serial-queue.ts'
import { isWalletError, WalletError } from '../errors/wallet-error.ts'
import { describeError } from '../log.ts'
import type { Services } from '../services.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { Metadata, Transaction } from '../types/transaction.ts'
import { checkEngineTransaction, checkSignedTransaction } from './engine/engine-data.ts'
import type { EngineRunner } from './engine/engine-runner.ts'
import type { HistoryTable } from './history/history-table.ts'
import { mergeMetadata } from './history/metadata.ts'
import { assetOf, newTransactionFile, withMetadata } from './history/transaction-file.ts'
import type { SpendIntent, SpendJournal, SpendStage } from './spend-journal.ts'

/** What a spend needs of its wallet. */
export interface SpendParts {
  readonly services: Services
  readonly walletId: string
  readonly info: CurrencyInfo
  readonly engine: EngineRunner
  readonly journal: SpendJournal
  readonly table: HistoryTable
  /** The spends that a call is busy with; a resume leaves them alone. */
  readonly busy: Set<string>
  readonly inOrder: SerialQueue
  balanceOf(tokenId: string | null): NativeAmount
  /** The txid of a spend that is now in the table. */
  told(txid: string): void
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

/** Writes the transaction's file and takes it into the wallet; the spend is then finished. What `tx` notes wins. */
export const saveTx = (parts: SpendParts, tx: Transaction): Promise<void> =>
  save(parts, tx, (kept, noted) => mergeMetadata(kept, noted))

/**
 * Signs, sends and saves a draft that the user has approved, as one journalled action; one after another, so that
 * the engine knows which coins are gone.
 *
 * What was sent counts as sent: a failure to save it is reported, and saved after the next look at the network.
 *
 * @throws SIGN_REFUSED, BROADCAST_REFUSED, BROADCAST_UNKNOWN or the error of a policy
 */
export const spend = (parts: SpendParts, draft: Transaction): Promise<Transaction> =>
  parts.inOrder(() => {
    const correlationId = newCorrelationId(parts.services)
    return whileBusy(parts, correlationId, async () => {
      const intent = await signAs(parts, draft, { correlationId, stage: 'sending' })
      const tx = await send(parts, intent)
      await finish(parts, tx).catch(error => parts.services.report('saving a payment', error))
      return tx
    })
  })

/**
 * Forgets a signed transaction that nobody has asked to send. Once bytes may have left, only the network decides.
 *
 * @throws TX_NOT_FOUND, BROADCAST_UNKNOWN
 */
export const discardTx = async ({ journal, busy }: SpendParts, txid: string): Promise<void> => {
  const intent = journal.findByTxid(txid)
  if (intent === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
  if (intent.stage !== 'signed' || busy.has(intent.correlationId)) {
    throw new WalletError('BROADCAST_UNKNOWN', { txid })
  }
  await journal.remove(intent.correlationId)
}

/**
 * Finishes what a crash, a full disk or a dead network interrupted: bytes that may have left are sent again and
 * saved; an intent without a signature is dropped, for nothing has left; bytes that nobody asked to send stay where
 * `unfinishedSpends` shows them.
 */
export const resumeSpends = async (parts: SpendParts): Promise<void> => {
  for (const { correlationId } of parts.journal.list(error =>
    parts.services.report('spend journal', error)
  )) {
    // Earlier ones took their time: what counts is how far this one has come by now.
    const intent = parts.busy.has(correlationId) ? undefined : parts.journal.find(correlationId)
    if (intent !== undefined) await resumeSpend(parts, intent)
  }
}

const resumeSpend = async (parts: SpendParts, intent: SpendIntent): Promise<void> => {
  const log = parts.services.logOf(parts.info.pluginId)
  const { correlationId, stage } = intent
  if (stage === 'signed') return
  if (stage === 'intended') {
    log.warn('A payment was not signed before it was interrupted; nothing was sent.')
    await parts.journal.remove(correlationId)
    return
  }
  try {
    await whileBusy(parts, correlationId, async () =>
      finish(parts, stage === 'broadcast' ? intent.tx : await send(parts, intent))
    )
  } catch (error) {
    log.warn(`A payment is not finished yet: ${describeError(error)}`)
  }
}

/** Saves by itself, perhaps long after the user's yes: what was noted since then wins. */
const finish = (parts: SpendParts, tx: Transaction): Promise<void> =>
  save(parts, tx, (kept, noted, isSaved) => (isSaved ? kept : mergeMetadata(noted, kept)))

type JoinNotes = (kept: Metadata, noted: Metadata, isSaved: boolean) => Metadata

const save = async (parts: SpendParts, tx: Transaction, join: JoinNotes): Promise<void> => {
  const { table, journal, services } = parts
  const seconds = services.io.clock.now() / 1000
  const sent: Transaction = { ...tx, date: tx.date === 0 ? seconds : tx.date }
  const fresh = newTransactionFile(sent, table.creationDateOf(sent.date))
  await table.editFile(tx.txid, present => {
    if (present === undefined) return fresh
    const { unknown, creationDate, currencies, payees } = present
    const tokens = new Map([...fresh.tokens, ...present.tokens])
    const name = table.assetName(tx.tokenId)
    const asset = assetOf(present, name)
    const joined = { ...present, ...fresh, unknown, creationDate, currencies, tokens }
    return withMetadata(joined, name, () => join(asset?.metadata ?? {}, tx.metadata, payees !== undefined))
  })
  // The engine may have told of it by now, and then knows better how deep it lies.
  if (!(await table.has(tx.txid))) await table.take([sent])
  await parts.engine.call('saving a payment', engine => engine.saveTx(sent))
  const intent = journal.findByTxid(tx.txid)
  if (intent !== undefined) {
    await journal.remove(intent.correlationId)
    tell(parts, intent, 'saved')
  }
  parts.told(tx.txid)
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
    const signed = await parts.engine.call('signing', engine =>
      engine.signTx(draft, parts.engine.privateKeys())
    )
    const tx: Transaction = { ...draft, ...checkSignedTransaction(info.pluginId, signed) }
    const intent: SpendIntent = { ...intended, stage, tx }
    await journal.put(intent)
    tell(parts, intent, 'signed')
    return intent
  } catch (error) {
    // If this fails too, the next look drops the intent; the first failure is the one to tell.
    await journal.remove(correlationId).catch(() => {})
    tell(parts, intended, 'refused')
    throw error
  }
}

const send = async (parts: SpendParts, intent: SpendIntent): Promise<Transaction> => {
  const { journal, services } = parts
  const tx = await broadcast(parts, intent)
  // What has left has left: without this note the same bytes are only sent once more.
  await journal
    .put({ ...intent, stage: 'broadcast', tx })
    .catch(error => services.report('spend journal', error))
  tell(parts, { ...intent, tx }, 'broadcast')
  return tx
}

const broadcast = async (parts: SpendParts, intent: SpendIntent): Promise<Transaction> => {
  const { journal, engine, info, table } = parts
  const { txid } = intent.tx
  try {
    const keys = engine.keysFor('broadcast')
    const sent = await engine.call('sending a payment', live => live.broadcastTx(intent.tx, keys))
    return { ...intent.tx, ...checkEngineTransaction(info.pluginId, sent) }
  } catch (error) {
    if (!isWalletError(error, 'BROADCAST_REFUSED'))
      throw new WalletError('BROADCAST_UNKNOWN', { txid }, error)
    // A node also refuses what a block has taken in meanwhile.
    if (await table.has(txid)) return intent.tx
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

const newCorrelationId = ({ io }: Services): string => io.crypto.toHex(io.random(8))
