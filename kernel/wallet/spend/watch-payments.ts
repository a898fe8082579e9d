import { describeError, isWalletError, WalletError } from '../../base/errors.ts'
import { isSameJson } from '../../base/json.ts'
import type { PaymentSight } from '../../types/engine.ts'
import type { Txid } from '../../types/ids.ts'
import type { Transaction } from '../../types/transaction.ts'
import { checkPaymentSight } from '../engine/validate.ts'
import type { SpendIntent } from './journal.ts'
import { isPaymentOpen, paymentsChanged } from './open-payments.ts'
import { engineCopyOf } from './reviewed-transaction.ts'
import type { Spender } from './spender.ts'

/**
 * Goes on with every payment that is not over: what a crash, a full disk or a dead network interrupted is sent again
 * and saved; an intent without a signature is dropped, for nothing has left; bytes whose sending was not requested, or that
 * a server refused, wait for a person, and are only looked for. What was sent is looked for until it is long confirmed,
 * and sent again while no server has it.
 *
 * Some are looked for at once. What follows from it is done for one after another, the oldest first, so that no payment
 * is sent before one whose change it spends; the findings are emitted before anything is sent, which can take long.
 *
 * @param changed - txids with news; confirmed payments are looked for only then, and once an hour
 */
export const watchPayments = async (spender: Spender, changed: ReadonlySet<string>): Promise<void> => {
  const { journal, services } = spender
  const onDamaged = (error: unknown): void => services.report('spend journal', error)
  const isRound = isDue(spender, ROUND, ROUND_MS)
  const { unfinished, sent } = journal.entries(onDamaged)
  const intents = [
    ...unfinished,
    ...sent.filter(intent => isRound || isPaymentOpen(intent) || changed.has(intent.tx.txid))
  ]
  const unlessFailed = async <T>(work: Promise<T>): Promise<T | undefined> => {
    try {
      return await work
    } catch (error) {
      services
        .logOf(spender.info.pluginId)
        .warn(`Could not complete a payment; it will be tried again: ${describeError(error)}`)
      return undefined
    }
  }
  for (let at = 0; at < intents.length; at += LOOKED_FOR_AT_ONCE) {
    const some = intents.slice(at, at + LOOKED_FOR_AT_ONCE)
    const looks = await Promise.all(some.map(intent => unlessFailed(lookFor(spender, intent))))
    const sends: Send[] = []
    let isNews = false
    for (const look of looks) {
      // What fails may have noted something before.
      if (look !== undefined && (await unlessFailed(applyFinding(spender, look, sends))) !== false)
        isNews = true
    }
    if (isNews) await paymentsChanged(spender)
    for (const send of sends) if ((await unlessFailed(send())) !== false) await paymentsChanged(spender)
  }
}

/** Sends the bytes of a payment again. Returns true if open payments are others now, or stand otherwise. */
type Send = () => Promise<boolean>

/** The result of looking for one payment. */
interface Finding {
  readonly intent: SpendIntent
  /** Its row in the history, of one that was sent and saved. */
  readonly row?: Transaction | undefined
  /** Left out where nothing hangs on it. */
  readonly sight?: PaymentSight
}

/** Looks for a payment as it is now: what came before it took its time. Undefined if it is busy or gone. */
const lookFor = async (spender: Spender, { correlationId }: SpendIntent): Promise<Finding | undefined> => {
  const { journal, history } = spender
  if (isInProgress(spender, correlationId)) return undefined
  const unfinished = journal.find(correlationId)
  const intent = unfinished ?? journal.findSent(correlationId)
  if (intent === undefined) return undefined
  if (unfinished === undefined) {
    const row = await history.find(intent.tx.txid, intent.tx.tokenId)
    if (row?.confirmations === 'confirmed') return { intent, row }
    return { intent, row, sight: await sightOf(spender, intent, row) }
  }
  if (intent.stage === 'intended' || intent.stage === 'broadcast') return { intent }
  const sight = await sightOf(spender, intent).catch((error: unknown) => {
    if (isSentByItself(intent)) return UNKNOWN
    throw error
  })
  return { intent, sight }
}

/** Does what follows from a look, but for sending. Returns true if open payments are others now, or stand otherwise. */
const applyFinding = async (spender: Spender, look: Finding, sends: Send[]): Promise<boolean> => {
  if (!isAsItWas(spender, look.intent)) return false
  const isUnfinished = spender.journal.find(look.intent.correlationId) !== undefined
  return isUnfinished ? continueSpend(spender, look, sends) : watchSent(spender, look, sends)
}

/**
 * Sends the bytes of a signed payment once more, and saves it.
 *
 * @throws TX_NOT_FOUND, BROADCAST_REFUSED, BROADCAST_UNKNOWN
 */
export const resendTx = async (spender: Spender, txid: Txid): Promise<Transaction> => {
  const intent = spender.journal.findSigned(txid)
  if (intent === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
  // Until it is saved: a payment that is forgotten in between would be watched again.
  return spender.whileInProgress(intent.correlationId, async () => {
    const tx = await spender.broadcastTx(intent.tx)
    await spender.finish(tx)
    return tx
  })
}

/** After a resync: rows of payments that the network does not show are put back, with what they spend. */
export const keepSentRows = async ({ journal, history, engine, txChanged }: Spender): Promise<void> => {
  for (const { tx, sight } of journal.sent()) {
    if ((await history.find(tx.txid, tx.tokenId)) !== undefined) continue
    const isOver = sight?.isFinal === true
    await history.applyReports([isOver ? { ...tx, blockHeight: -1 } : { ...tx, blockHeight: 0 }])
    if (!isOver) await engine.call('saving a payment', live => live.saveTx(engineCopyOf(tx)))
    txChanged(tx.txid)
  }
}

const continueSpend = async (
  spender: Spender,
  { intent, sight = UNKNOWN }: Finding,
  sends: Send[]
): Promise<boolean> => {
  const { correlationId, stage } = intent
  if (stage === 'intended') {
    spender.services
      .logOf(spender.info.pluginId)
      .warn('Removed a payment that was interrupted before signing; nothing was sent.')
    await spender.journal.remove(correlationId)
    return false
  }
  if (stage === 'broadcast' || sight.state === 'seen') {
    await spender.whileInProgress(correlationId, () => spender.finish(intent.tx))
    if (stage === 'broadcast') return false
    // It may be confirmed already, and then no report may follow for long.
    const look = await lookFor(spender, intent)
    return look !== undefined && applyFinding(spender, look, sends)
  }
  if (isSentByItself(intent) && !sight.isFinal) {
    sends.push(async () => {
      if (isAsItWas(spender, intent) && isDue(spender, correlationId))
        await spender.whileInProgress(correlationId, async () => spender.finish(await spender.send(intent)))
      return false
    })
    return false
  }
  if (isSameJson(sight, intent.sight)) return false
  const seen = { ...intent, sight }
  await (sight.isFinal ? spender.journal.watch(seen) : spender.journal.put(seen))
  return true
}

const isSentByItself = ({ stage, refusal }: SpendIntent): boolean =>
  stage === 'sending' && refusal === undefined

/** Returns true if a payment was not sent, saved or forgotten while it was looked for. */
const isAsItWas = (spender: Spender, intent: SpendIntent): boolean => {
  const { journal } = spender
  const { correlationId } = intent
  const now = journal.find(correlationId) ?? journal.findSent(correlationId)
  return !isInProgress(spender, correlationId) && isSameJson(now, intent)
}

/** Returns true for a payment that is left alone for now, and looked for once its call is over. */
const isInProgress = ({ inProgress, leftAlone }: Spender, correlationId: string): boolean => {
  if (!inProgress.has(correlationId)) return false
  leftAlone.add(correlationId)
  return true
}

const watchSent = async (
  spender: Spender,
  { intent, row, sight = UNKNOWN }: Finding,
  sends: Send[]
): Promise<boolean> => {
  const { journal } = spender
  const { correlationId } = intent
  const { confirmedAt: before, ...rest } = intent
  if (row?.confirmations === 'confirmed') {
    const now = spender.rules.now()
    if (before === undefined) return update(spender, intent, { ...rest, confirmedAt: now })
    if (now - before <= KEPT_MS) return false
    await journal.retire(intent)
    return true
  }
  // One that was recorded here and sent elsewhere is sent again from here, too, once the network has had it.
  const stage = rest.stage === 'signed' && sight.state === 'seen' ? 'broadcast' : rest.stage
  const seen = { ...rest, stage, sight }
  const isNews = await update(spender, intent, seen)
  const isLost = sight.state === 'notInMempool' && sight.isFinal !== true && stage !== 'signed'
  if (isLost)
    sends.push(async () => {
      if (!isAsItWas(spender, seen) || !isDue(spender, correlationId)) return false
      return spender.whileInProgress(correlationId, () => sendAgain(spender, seen))
    })
  return isNews
}

const sendAgain = async (spender: Spender, intent: SpendIntent): Promise<boolean> => {
  const { refusal: _, ...rest } = intent
  try {
    const tx = await spender.sendBytes(intent.tx)
    await spender.engine.call('saving a payment', live => live.saveTx(engineCopyOf(tx)))
    return await update(spender, intent, { ...rest, sight: { state: 'notSeen' } })
  } catch (error) {
    if (!isWalletError(error, 'BROADCAST_REFUSED')) throw error
    return update(spender, intent, { ...intent, refusal: error.details.reason })
  }
}

const update = async (spender: Spender, before: SpendIntent, after: SpendIntent): Promise<boolean> => {
  if (isSameJson(before, after)) return false
  await spender.journal.watch(after)
  spender.txChanged(after.tx.txid)
  return true
}

/** Asks the engine for the state of a payment; without an answer the history decides. */
const sightOf = async (
  { engine, info, history }: Spender,
  { tx }: SpendIntent,
  row?: Transaction
): Promise<PaymentSight> => {
  const found = await engine.call('looking for a payment', async live => {
    const answer: unknown = await live.findPayment?.(engineCopyOf(tx))
    return answer === undefined ? undefined : checkPaymentSight(info.pluginId, answer)
  })
  if (found !== undefined) return found
  if (row === undefined) return { state: (await history.has(tx.txid)) ? 'seen' : 'notSeen' }
  if (row.confirmations === 'dropped') return { state: 'dropped' }
  return { state: row.blockHeight > 0 ? 'seen' : 'notSeen' }
}

/** Returns true if bytes may be sent again: at once after a start, and then at growing intervals. */
const isDue = ({ services, attempts }: Spender, correlationId: string, fixedMs?: number): boolean => {
  const now = services.io.clock.monotonic()
  const { count, at } = attempts.get(correlationId) ?? { count: 0, at: Number.NEGATIVE_INFINITY }
  const waitMs = fixedMs ?? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - 1))
  if (count > 0 && now - at < waitMs) return false
  attempts.set(correlationId, { count: count + 1, at: now })
  return true
}

const UNKNOWN: PaymentSight = { state: 'notSeen' }

/** More would keep a server from what else it is asked. */
const LOOKED_FOR_AT_ONCE = 20
const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 30 * 60_000
const ROUND = 'round'
const ROUND_MS = 60 * 60_000
/**
 * The time for which the coins of a confirmed payment stay reserved, by the clock of the account, as budgets count it until
 * then: a server can show a block that never was, and the
 * bytes still exist when that is found out. It is the time for which nodes keep unconfirmed transactions (Bitcoin Core,
 * `-mempoolexpiry`).
 */
const KEPT_MS = 14 * 24 * 60 * 60_000
