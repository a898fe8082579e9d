import { isWalletError, WalletError } from '../errors/wallet-error.ts'
import { describeError } from '../log.ts'
import type { PaymentSight } from '../types/engine.ts'
import { isSameJson } from '../types/json.ts'
import type { Transaction } from '../types/transaction.ts'
import { checkPaymentSight } from './engine/engine-data.ts'
import { isOpen, paymentsChanged } from './open-payments.ts'
import { engineCopyOf } from './reviewed-transaction.ts'
import { broadcastTx, finish, type SpendParts, send, sendBytes, whileBusy } from './spend.ts'
import type { SpendIntent } from './spend-journal.ts'

/**
 * Goes on with every payment that is not over: what a crash, a full disk or a dead network interrupted is sent again
 * and saved; an intent without a signature is dropped, for nothing has left; bytes that nobody asked to send, or that a
 * server refused, wait for a person, and are only looked for. What was sent is looked for until it is long confirmed,
 * and sent again while no server has it.
 *
 * @param changed - of these something was heard; confirmed ones are looked at only then, and now and then
 */
export const watchPayments = async (parts: SpendParts, changed: ReadonlySet<string>): Promise<void> => {
  const { journal, services, busy } = parts
  const onDamaged = (error: unknown): void => services.report('spend journal', error)
  const isRound = isDue(parts, ROUND, ROUND_MS)
  const sent = journal.sent(onDamaged)
  const intents = [
    ...journal.list(onDamaged),
    ...sent.filter(intent => isRound || isOpen(intent) || changed.has(intent.tx.txid))
  ]
  for (const { correlationId } of intents) {
    // Earlier ones took their time: what counts is how far this one has come by now.
    if (busy.has(correlationId)) continue
    const unfinished = journal.find(correlationId)
    const intent = unfinished ?? findSent(parts, correlationId)
    if (intent === undefined) continue
    try {
      await (unfinished === undefined ? watchSent(parts, intent) : goOn(parts, intent))
    } catch (error) {
      services.logOf(parts.info.pluginId).warn(`A payment is not finished yet: ${describeError(error)}`)
    }
  }
}

/**
 * Sends the bytes of a signed payment once more, and saves it.
 *
 * @throws TX_NOT_FOUND, BROADCAST_REFUSED, BROADCAST_UNKNOWN
 */
export const resendTx = async (parts: SpendParts, txid: string): Promise<Transaction> => {
  const intent = parts.journal.findSigned(txid)
  if (intent === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
  const tx = await broadcastTx(parts, intent.tx)
  await finish(parts, tx)
  return tx
}

/** After the engine began anew: rows of payments that the network does not show are put back, with what they spend. */
export const keepSentRows = async ({ journal, table, engine, told }: SpendParts): Promise<void> => {
  for (const { tx, sight } of journal.sent()) {
    if ((await table.find(tx.txid, tx.tokenId)) !== undefined) continue
    const isOver = sight?.isFinal === true
    await table.take([isOver ? { ...tx, blockHeight: -1 } : { ...tx, blockHeight: 0 }])
    if (!isOver) await engine.call('saving a payment', live => live.saveTx(engineCopyOf(tx)))
    told(tx.txid)
  }
}

const goOn = async (parts: SpendParts, intent: SpendIntent): Promise<void> => {
  const { correlationId, stage, refusal } = intent
  if (stage === 'intended') {
    parts.services
      .logOf(parts.info.pluginId)
      .warn('A payment was not signed before it was interrupted; nothing was sent.')
    await parts.journal.remove(correlationId)
    return
  }
  const save = (): Promise<void> => whileBusy(parts, correlationId, () => finish(parts, intent.tx))
  if (stage === 'broadcast') return save()
  const isSentByItself = stage === 'sending' && refusal === undefined
  const sight = await sightOf(parts, intent).catch((error: unknown) => {
    if (isSentByItself) return UNKNOWN
    throw error
  })
  if (!isAsItWas(parts, intent)) return
  if (sight.state === 'seen') {
    await save()
    // It may be confirmed already, and then nothing more may be heard of it for long.
    const sent = findSent(parts, correlationId)
    return sent && watchSent(parts, sent)
  }
  if (isSentByItself && !sight.isFinal) {
    if (!isDue(parts, correlationId)) return
    return whileBusy(parts, correlationId, async () => finish(parts, await send(parts, intent)))
  }
  if (isSameJson(sight, intent.sight)) return
  const seen = { ...intent, sight }
  await (sight.isFinal ? parts.journal.watch(seen) : parts.journal.put(seen))
  await paymentsChanged(parts)
}

const findSent = ({ journal }: SpendParts, correlationId: string): SpendIntent | undefined =>
  journal.sent().find(sent => sent.correlationId === correlationId)

/** Whether nobody has sent, saved or forgotten it while it was looked for. */
const isAsItWas = (parts: SpendParts, intent: SpendIntent): boolean => {
  const { journal, busy } = parts
  const { correlationId } = intent
  const now = journal.find(correlationId) ?? findSent(parts, correlationId)
  return !busy.has(correlationId) && isSameJson(now, intent)
}

const watchSent = async (parts: SpendParts, intent: SpendIntent): Promise<void> => {
  const { table, services, journal } = parts
  const { tx, correlationId } = intent
  const { confirmedAt: before, ...rest } = intent
  const row = await table.find(tx.txid, tx.tokenId)
  if (!isAsItWas(parts, intent)) return
  if (row?.confirmations === 'confirmed') {
    const now = services.io.clock.now()
    if (before === undefined) await update(parts, intent, { ...rest, confirmedAt: now })
    else if (now - before > KEPT_MS) {
      await journal.remove(correlationId)
      await paymentsChanged(parts)
    }
    return
  }
  const sight = await sightOf(parts, intent, row)
  if (!isAsItWas(parts, intent)) return
  await update(parts, intent, { ...rest, sight })
  const isLost = sight.state === 'notInMempool' && sight.isFinal !== true
  if (!isLost || !isDue(parts, correlationId)) return
  await whileBusy(parts, correlationId, () => sendAgain(parts, { ...rest, sight }))
}

const sendAgain = async (parts: SpendParts, intent: SpendIntent): Promise<void> => {
  const { refusal: _, ...rest } = intent
  try {
    const tx = await sendBytes(parts, intent.tx)
    await parts.engine.call('saving a payment', live => live.saveTx(engineCopyOf(tx)))
    await update(parts, intent, { ...rest, sight: { state: 'notSeen' } })
  } catch (error) {
    if (!isWalletError(error, 'BROADCAST_REFUSED')) throw error
    await update(parts, intent, { ...intent, refusal: error.details.reason })
  }
}

const update = async (parts: SpendParts, before: SpendIntent, after: SpendIntent): Promise<void> => {
  if (isSameJson(before, after)) return
  await parts.journal.watch(after)
  await paymentsChanged(parts)
  parts.told(after.tx.txid)
}

/** What the engine finds out; of one that cannot tell, what its history says. */
const sightOf = async (
  { engine, info, table }: SpendParts,
  { tx, stage }: SpendIntent,
  row?: Transaction
): Promise<PaymentSight> => {
  const found = await engine.call('looking for a payment', async live => {
    const said: unknown = await live.findPayment?.(engineCopyOf(tx))
    return said === undefined ? undefined : checkPaymentSight(info.pluginId, said)
  })
  if (found !== undefined) return found
  if (row === undefined || stage !== 'broadcast')
    return { state: (await table.has(tx.txid)) ? 'seen' : 'notSeen' }
  if (row.confirmations === 'dropped') return { state: 'dropped' }
  return { state: row.blockHeight > 0 ? 'seen' : 'notSeen' }
}

/** Whether bytes may be sent again: at once after a start, and then at growing distances. */
const isDue = ({ services, sends }: SpendParts, correlationId: string, fixedMs?: number): boolean => {
  const now = services.io.clock.monotonic()
  const { count, at } = sends.get(correlationId) ?? { count: 0, at: Number.NEGATIVE_INFINITY }
  const waitMs = fixedMs ?? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - 1))
  if (count > 0 && now - at < waitMs) return false
  sends.set(correlationId, { count: count + 1, at: now })
  return true
}

const UNKNOWN: PaymentSight = { state: 'notSeen' }

const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 30 * 60_000
const ROUND = 'round'
const ROUND_MS = 60 * 60_000
/**
 * How long the coins of a confirmed payment stay reserved: a server can show a block that never was, and the bytes are
 * still about when it is found out. As long as nodes keep what waits (Bitcoin Core, `-mempoolexpiry`).
 */
const KEPT_MS = 14 * 24 * 60 * 60_000
