import { type NativeAmount, negate } from '../../base/amount.ts'
import { isWalletError, WalletError } from '../../base/errors.ts'
import type { Mutex } from '../../base/mutex.ts'
import type { AbortSignalLike } from '../../io/io.ts'
import type { KeyRequest } from '../../keys/key-gate.ts'
import type { Services } from '../../plugins/services.ts'
import type { SigningOptions } from '../../types/engine.ts'
import type { WalletKeys } from '../../types/keys.ts'
import { checkMaxFee, checkNetworkFee } from '../../types/network-fee.ts'
import type { KeyUse } from '../../types/snapshots.ts'
import type { Metadata, Transaction } from '../../types/transaction.ts'
import { assetOf, newTransactionFile, withMetadata } from '../history/file-format.ts'
import type { History } from '../history/history.ts'
import { mergeMetadata } from '../history/metadata.ts'
import type { SpendIntent, SpendStage } from './journal.ts'
import { checkSimilar, checkSpentCoins, type OpenPaymentContext, paymentsChanged } from './open-payments.ts'
import { engineCopyOf, frozenTransaction, sentTransactionOf, signedDraftOf } from './reviewed-transaction.ts'

/** What a spend needs of its wallet. */
export interface SpendContext extends OpenPaymentContext {
  readonly walletId: string
  readonly history: History
  /** The spends that a call is busy with; a resume leaves them alone. */
  readonly inProgress: Set<string>
  readonly mutex: Mutex
  /** How often bytes were sent again since the wallet was opened, and when last by the monotonic clock. */
  readonly attempts: Map<string, { readonly count: number; readonly at: number }>
  balanceOf(tokenId: string | null): NativeAmount
  /** The txid of a spend that is now in the history. */
  txChanged(txid: string): void
}

/** How a draft is signed. */
export interface SignOptions {
  /** The most that the network may take, in native units of the chain's own coin; wins over what the draft says. */
  readonly maxNetworkFee?: NativeAmount | undefined
  /**
   * The txids of all open payments that are known to pay the same, as `similarPayments` gives them: if there is another one
   * when the turn of this draft comes, it is refused. Left out, nothing is compared.
   */
  readonly knownSimilar?: readonly string[] | undefined
  /** Stops a signature that takes long. Once the signed bytes are kept it changes nothing any more. */
  readonly signal?: AbortSignalLike | undefined
  /** Is told how much of a long signature is done, from 0 to 1. */
  readonly onProgress?: ((ratio: number) => void) | undefined
}

/**
 * Signs a draft. The intent is durable before a key is read, and the signed bytes before they are handed out. One waits
 * for the other, as in {@link spend}: two that are signed at once would not see each other's coins.
 *
 * @throws MAX_FEE, FEE_UNUSUAL, SIGN_REFUSED or the error of a policy; then nothing was signed
 */
export const signTx = (
  context: SpendContext,
  draft: Transaction,
  options: SignOptions = {}
): Promise<Transaction> =>
  context.mutex.run(() => {
    const correlationId = newCorrelationId(context.services)
    return whileInProgress(
      context,
      correlationId,
      async () => (await signIntent(context, draft, { correlationId, stage: 'signed', ...options })).tx
    )
  })

/**
 * Sends signed bytes. Whatever comes back, they may have left: they are kept, and what they spend stays reserved. After
 * any failure but a refusal they are sent again by themselves; after a refusal that is for a person to say.
 *
 * @throws BROADCAST_REFUSED, BROADCAST_UNKNOWN
 */
export const broadcastTx = async (context: SpendContext, tx: Transaction): Promise<Transaction> => {
  const known = context.journal.findSigned(tx.txid)
  const correlationId = known?.correlationId ?? newCorrelationId(context.services)
  const at = known?.at ?? context.services.io.clock.now()
  const intent: SpendIntent = { correlationId, stage: 'sending', at, tx, ...confirmedIn(known) }
  return whileInProgress(context, correlationId, async () => {
    await putSending(context, intent)
    await paymentsChanged(context)
    return sendSpend(context, intent)
  })
}

/** Writes the transaction's file and takes it into the wallet; the spend is then finished. What `tx` notes wins. */
export const saveTx = (context: SpendContext, tx: Transaction): Promise<void> =>
  save(context, tx, (kept, noted) => mergeMetadata(kept, noted))

/**
 * Signs, sends and saves a draft that the user has approved, as one journalled action; one after another, so that
 * the engine knows which coins are gone.
 *
 * What was sent counts as sent: a failure to save it is reported, and saved after the next look at the network.
 *
 * @throws MAX_FEE, FEE_UNUSUAL, SIGN_REFUSED, BROADCAST_REFUSED, BROADCAST_UNKNOWN, STORAGE_TIMEOUT or the error of a policy
 */
export const spend = (
  context: SpendContext,
  draft: Transaction,
  options: SignOptions = {}
): Promise<Transaction> =>
  context.mutex.run(() => {
    const correlationId = newCorrelationId(context.services)
    return whileInProgress(context, correlationId, async () => {
      const intent = await signIntent(context, draft, { correlationId, stage: 'sending', ...options })
      const tx = await sendSpend(context, intent)
      await finishSpend(context, tx).catch(error => context.services.report('saving a payment', error))
      return tx
    })
  })

/**
 * Forgets a signed transaction that nobody has asked to send. Once bytes may have left, only the network decides.
 *
 * @throws TX_NOT_FOUND, BROADCAST_UNKNOWN
 */
export const discardTx = async (context: SpendContext, txid: string): Promise<void> => {
  const { journal, inProgress } = context
  const intent = journal.findByTxid(txid)
  if (intent === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
  if (intent.stage !== 'signed' || inProgress.has(intent.correlationId)) {
    throw new WalletError('BROADCAST_UNKNOWN', { txid })
  }
  await journal.remove(intent.correlationId)
  await paymentsChanged(context)
}

/**
 * Forgets signed bytes that may have left, and frees what they spend. Whoever has them can still have them mined, then
 * also beside another payment: a person must have been told, and have wanted it.
 *
 * @throws TX_NOT_FOUND; BROADCAST_UNKNOWN while they are being sent
 */
export const forgetTx = async (context: SpendContext, txid: string): Promise<void> => {
  const { journal, inProgress } = context
  const intent = journal.findSigned(txid)
  if (intent === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
  if (inProgress.has(intent.correlationId)) throw new WalletError('BROADCAST_UNKNOWN', { txid })
  await journal.remove(intent.correlationId)
  await paymentsChanged(context)
  context.txChanged(txid)
}

/** Saves by itself, perhaps long after the user's yes: what was noted since then wins. */
export const finishSpend = (context: SpendContext, tx: Transaction): Promise<void> =>
  save(context, tx, (kept, noted, isSaved) => (isSaved ? kept : mergeMetadata(noted, kept)))

type JoinNotes = (kept: Metadata, noted: Metadata, isSaved: boolean) => Metadata

const save = async (context: SpendContext, tx: Transaction, join: JoinNotes): Promise<void> => {
  const { history, services } = context
  const seconds = services.io.clock.now() / 1000
  const sent: Transaction = { ...tx, date: tx.date === 0 ? seconds : tx.date }
  const fresh = newTransactionFile(sent, history.creationDateOf(sent.date))
  await history.editFile(tx.txid, present => {
    if (present === undefined) return fresh
    const { unknown, creationDate, currencies, payees } = present
    const tokens = new Map([...fresh.tokens, ...present.tokens])
    const name = history.assetName(tx.tokenId)
    const asset = assetOf(present, name)
    const joined = { ...present, ...fresh, unknown, creationDate, currencies, tokens }
    return withMetadata(joined, name, () => join(asset?.metadata ?? {}, tx.metadata, payees !== undefined))
  })
  // The engine may have told of it by now, and then knows better how deep it lies.
  if (!(await history.has(tx.txid))) await history.applyReports([sent])
  await context.engine.call('saving a payment', engine => engine.saveTx(engineCopyOf(sent)))
  await watchSaved(context, sent)
  context.txChanged(tx.txid)
}

/** A payment is watched from now on, also one that was sent elsewhere and is recorded here. */
const watchSaved = async (context: SpendContext, tx: Transaction): Promise<void> => {
  const { journal, services, history } = context
  const known = journal.findSigned(tx.txid)
  if (known === undefined) {
    const row = await history.find(tx.txid, tx.tokenId)
    const isOver = row?.confirmations === 'confirmed' || row?.confirmations === 'dropped'
    if (isOver || !tx.isSend || tx.signedTx === '') return
  }
  const at = known?.at ?? services.io.clock.now()
  const intent = known ?? { correlationId: newCorrelationId(services), at }
  const isUnfinished = journal.findByTxid(tx.txid) !== undefined
  const { correlationId } = intent
  // Who records what was not sent from here has not asked for it to be sent.
  const stage = known === undefined || known.stage === 'signed' ? 'signed' : 'broadcast'
  await journal.watch({ correlationId, stage, at, tx, ...confirmedIn(known) })
  if (isUnfinished) emitStage(context, { ...intent, stage: 'broadcast', tx }, 'saved')
  await paymentsChanged(context)
}

/** How long a payment is kept counts from when it was confirmed, however often it is sent or recorded again. */
const confirmedIn = ({ confirmedAt }: Partial<SpendIntent> = {}): Pick<SpendIntent, 'confirmedAt'> =>
  confirmedAt === undefined ? {} : { confirmedAt }

/** Runs a task of a spend that nothing else shall go on with meanwhile. */
export const whileInProgress = async <T>(
  { inProgress }: SpendContext,
  correlationId: string,
  task: () => Promise<T>
): Promise<T> => {
  inProgress.add(correlationId)
  try {
    return await task()
  } finally {
    inProgress.delete(correlationId)
  }
}

const signIntent = async (
  context: SpendContext,
  reviewed: Transaction,
  {
    correlationId,
    stage,
    maxNetworkFee,
    knownSimilar,
    ...following
  }: SignOptions & { correlationId: string; stage: 'signed' | 'sending' }
): Promise<SpendIntent> => {
  const { services, journal, info } = context
  const draft = frozenTransaction(reviewed)
  checkMaxFee(maxNetworkFee)
  checkNetworkFee(info, draft, maxNetworkFee)
  const at = services.io.clock.now()
  const intended: SpendIntent = {
    correlationId,
    stage: 'intended',
    at,
    tx: draft
  }
  checkSpentCoins(context, draft)
  if (knownSimilar !== undefined) checkSimilar(context, draft, knownSimilar)
  await journal.put(intended)
  emitStage(context, intended, 'intended')
  try {
    const privateKeys = await context.engine.privateKeys(questionOf('spend', intended))
    const tx = await signDraft(context, draft, { privateKeys, ...following })
    const intent: SpendIntent = { ...intended, stage, tx }
    await (stage === 'sending' ? putSending(context, intent) : journal.put(intent))
    await paymentsChanged(context)
    emitStage(context, intent, 'signed')
    return intent
  } catch (error) {
    // If this fails too, the next look drops the intent; the first failure is the one to tell.
    await journal.remove(correlationId).catch(() => {})
    emitStage(context, intended, 'refused')
    throw error
  }
}

/**
 * Notes that bytes may leave from now on. A note that is not durable in time sends nothing, but may be found later: who
 * opens the wallet then has sent what the error names.
 */
const putSending = async ({ journal }: SpendContext, intent: SpendIntent): Promise<void> => {
  try {
    await journal.put(intent)
  } catch (error) {
    if (!isWalletError(error, 'STORAGE_TIMEOUT') || error.details.what !== 'write') throw error
    throw new WalletError('STORAGE_TIMEOUT', { ...error.details, txid: intent.tx.txid }, error)
  }
}

/** Only what was reviewed is signed, whatever an engine answers. @throws SIGNED_OTHERWISE, SIGN_STOPPED, BOGUS_TX */
const signDraft = async (
  { engine, info, services }: SpendContext,
  draft: Transaction,
  { privateKeys, signal, onProgress }: Following & { readonly privateKeys: WalletKeys }
): Promise<Transaction> => {
  const { pluginId } = info
  const options: SigningOptions = {
    ...(signal === undefined ? {} : { signal }),
    onProgress(ratio) {
      try {
        if (typeof ratio === 'number' && ratio >= 0 && ratio <= 1) onProgress?.(ratio)
      } catch (error) {
        services.report('progress of a signature', error)
      }
    }
  }
  const tx = await untilAborted(signal, () =>
    engine.call('signing', async made =>
      signedDraftOf(pluginId, draft, await made.signTx(engineCopyOf(draft), privateKeys, options))
    )
  )
  await engine.call('checking a signature', async made => {
    try {
      await made.checkSignedTx?.(engineCopyOf(tx), tx.spendTargets ?? [])
    } catch (error) {
      throw new WalletError('SIGNED_OTHERWISE', { pluginId, field: fieldOf(error) }, error)
    }
  })
  return tx
}

type Following = Pick<SignOptions, 'onProgress' | 'signal'>

/** Waits for a signature as long as somebody wants it; one that comes later is dropped. @throws SIGN_STOPPED */
const untilAborted = async <T>(signal: AbortSignalLike | undefined, call: () => Promise<T>): Promise<T> => {
  if (signal === undefined) return call()
  if (signal.aborted) throw new WalletError('SIGN_STOPPED', {})
  let stop = (): void => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new WalletError('SIGN_STOPPED', {}))
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([call(), stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const fieldOf = (error: unknown): string =>
  isWalletError(error, 'SIGNED_TX_INVALID') ? error.details.field : 'signedTx'

/**
 * Sends the bytes of an unfinished spend, and notes how that went. Of a refusal the words are kept: the server has the
 * bytes all the same.
 *
 * @throws BROADCAST_REFUSED, BROADCAST_UNKNOWN
 */
export const sendSpend = async (context: SpendContext, intent: SpendIntent): Promise<Transaction> => {
  const { journal, services } = context
  const noted = (writing: Promise<void>): Promise<void> =>
    writing.catch(error => services.report('spend journal', error))
  const tx = await sendBytes(context, intent.tx).catch(async (error: unknown) => {
    if (isWalletError(error, 'BROADCAST_REFUSED')) {
      const refused = { ...intent, refusal: error.details.reason }
      const isSaved = journal.findSent(intent.correlationId) !== undefined
      // What a server once took is sent again by itself, whatever another says now.
      await noted(isSaved ? journal.watch({ ...refused, stage: 'broadcast' }) : journal.put(refused))
      context.openPaymentsChanged()
      emitStage(context, intent, 'refused')
    }
    throw error
  })
  // What has left has left: without this note the same bytes are only sent once more.
  const { refusal: _, ...rest } = intent
  await noted(journal.put({ ...rest, stage: 'broadcast', tx }))
  emitStage(context, { ...intent, tx }, 'broadcast')
  return tx
}

/** Asks the network to take the bytes, and notes nothing. @throws BROADCAST_REFUSED, BROADCAST_UNKNOWN */
export const sendBytes = async (context: SpendContext, tx: Transaction): Promise<Transaction> => {
  const { services, engine, info } = context
  const { txid } = tx
  try {
    const keys = await engine.keysFor(questionOf('broadcast', { tx }))
    const onDifference = (error: WalletError): void => services.report('sending a payment', error)
    return await engine.call('sending a payment', async live => {
      const answer: unknown = await live.broadcastTx(engineCopyOf(tx), keys)
      return sentTransactionOf(info.pluginId, tx, { answer, onDifference })
    })
  } catch (error) {
    if (!isWalletError(error, 'BROADCAST_REFUSED'))
      throw new WalletError('BROADCAST_UNKNOWN', { txid }, error)
    if (await isTaken(context, tx)) return tx
    throw error
  }
}

/**
 * A node also refuses what a block has taken in meanwhile, or what it has already. Of a payment that was saved here a row
 * alone says neither.
 */
const isTaken = async (
  { history, journal }: SpendContext,
  { txid, tokenId }: Pick<Transaction, 'tokenId' | 'txid'>
): Promise<boolean> => {
  const row = await history.find(txid, tokenId)
  if (row !== undefined && row.blockHeight > 0) return true
  return journal.sightOf(txid) === undefined && history.has(txid)
}

const emitStage = (
  context: SpendContext,
  intent: SpendIntent,
  stage: Exclude<SpendStage, 'sending'> | 'saved' | 'refused'
): void => {
  const { correlationId, tx } = intent
  context.services.hooks.spendChanged.call(
    Object.freeze({
      correlationId,
      walletId: context.walletId,
      stage,
      ...(tx.txid === '' ? {} : { txid: tx.txid })
    })
  )
}

const questionOf = <U extends KeyUse>(
  use: U,
  { correlationId, tx }: Pick<SpendIntent, 'tx'> & Partial<Pick<SpendIntent, 'correlationId'>>
): KeyRequest & { readonly use: U } => ({
  use,
  ...(correlationId === undefined ? {} : { correlationId }),
  currencyCode: tx.currencyCode,
  tokenId: tx.tokenId,
  nativeAmount: tx.nativeAmount.startsWith('-') ? negate(tx.nativeAmount) : tx.nativeAmount,
  networkFee: tx.networkFee,
  targets: (tx.spendTargets ?? []).map(({ publicAddress, nativeAmount: amount }) => ({
    publicAddress,
    nativeAmount: amount
  }))
})

const newCorrelationId = ({ io }: Services): string => io.crypto.toHex(io.random(8))
