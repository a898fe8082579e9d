import { requireFlags, requireObject, requireTextList, requireTexts } from '../base/arguments.ts'
import { compact } from '../base/compact.ts'
import { type Abort, makeAbort } from '../base/deadline.ts'
import { describeError, isWalletError, WalletError } from '../base/errors.ts'
import { isRecord, isShortText, type JsonObject, tryParseJson } from '../base/json.ts'
import { Observable, type Readable } from '../base/observable.ts'
import type { PauseSnapshot } from '../base/pause-switch.ts'
import type { Services } from '../plugins/services.ts'
import type { EngineStore } from '../types/engine.ts'
import type { PluginId, Txid, WalletId } from '../types/ids.ts'
import type { OrderSnapshot } from '../types/snapshots.ts'
import type { OrderReport, OrderState, WatchedOrder } from '../types/swap.ts'
import type { SwapData, Transaction } from '../types/transaction.ts'

/** The parts of an account that following its orders takes. */
export interface SwapOrdersOptions {
  readonly services: Pick<Services, 'hooks' | 'inBackground' | 'io' | 'plugins' | 'report'>
  /** On this device, and holds nothing else. */
  readonly store: EngineStore
  /** No exchange is asked while the account is paused, unless somebody wants to know. */
  readonly pause: Readable<PauseSnapshot>
  /** The currency plugin of a wallet; undefined for one that the account does not have. */
  pluginIdOf(walletId: WalletId): PluginId | undefined
  /** The user's settings of a swap plugin. */
  userSettingsOf(pluginId: PluginId): JsonObject
}

/** The payment of a swap, as its wallet has it. */
export type SwapPayment = Pick<Transaction, 'date' | 'swapData' | 'txid' | 'walletId'>

/**
 * Follows the orders of an account's swaps until they are paid out or sent back.
 *
 * An order is followed from the moment in which its payment is signed, or in which its wallet has read the file of a payment of
 * another device, and again whenever the account opens. Its exchange is
 * asked with growing pauses; what it says is checked and kept on this device. What has ended stays ended, whatever is said
 * later.
 *
 * @example
 * ```ts
 * const { swapOrders } = account
 * swapOrders.subscribe(() => {
 *   for (const { txid, state, payoutTxid } of swapOrders.getSnapshot()) console.log(txid, state, payoutTxid)
 * })
 * await swapOrders.refresh()
 * ```
 */
export class SwapOrders implements Readable<readonly OrderSnapshot[]> {
  readonly #options: SwapOrdersOptions
  readonly #orders = new Map<Txid, Order>()
  readonly #state: Observable<readonly OrderSnapshot[]>
  readonly #requests = new Map<Txid, Promise<void>>()
  readonly #writes = new Set<Promise<void>>()
  readonly #closed: Abort = makeAbort()
  readonly #unsubscribe: () => void
  #cancelWait: () => void = () => {}

  constructor(options: SwapOrdersOptions) {
    const { services, store, pause } = options
    this.#options = options
    const now = services.io.clock.now()
    for (const [key, text] of store.entries('')) {
      const record = readRecord(key, text)
      // What cannot be read is left to a later version.
      if (record !== undefined)
        this.#orders.set(record.txid, { record, failures: 0, dueAt: this.#dueAfter(restOf(record, now)) })
    }
    this.#state = new Observable<readonly OrderSnapshot[]>(this.#snapshots(), undefined, error =>
      services.report('swap orders', error)
    )
    // An observer sees what is known, as it sees wallets that open.
    for (const order of this.#orders.values()) services.hooks.orderChanged.call(this.#snapshotOf(order))
    this.#unsubscribe = pause.subscribe(() => this.#schedule())
    this.#schedule()
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#state.subscribe(listener)

  /** All orders that are known on this device, the newest payment first. */
  readonly getSnapshot = (): readonly OrderSnapshot[] => this.#state.getSnapshot()

  /** Returns the order that a transaction paid for, if it is known here. */
  find(txid: Txid): OrderSnapshot | undefined {
    requireTexts({ txid })
    return this.getSnapshot().find(order => order.txid === txid)
  }

  /**
   * Follows the order of a swap that was paid elsewhere, such as on another device, or before it could be followed. Open wallets do
   * so for each payment that a sync brings. Returns what
   * is known of it; undefined if the transaction pays for no swap, if it is older than 30 days and was never followed here, or if
   * the plugin of its exchange cannot follow orders.
   *
   * @throws OPTION_INVALID, STORAGE_FULL, STORAGE_FAILED
   */
  async follow(payment: SwapPayment): Promise<OrderSnapshot | undefined> {
    checkPayment(payment)
    const { txid, swapData, date } = payment
    if (!this.#orders.has(txid) && swapData !== undefined) {
      const paidAt = Math.round(date * 1000)
      const isRecent = paidAt > this.#options.services.io.clock.now() - FOLLOW_MS
      if (isRecent) await this.#add(payment, swapData, paidAt)
    }
    return this.find(txid)
  }

  /**
   * Asks the exchanges now: for some orders, or for all that are followed. Resolves when all have answered or failed, which each
   * order says in `failure`.
   *
   * @throws OPTION_INVALID
   */
  async refresh(txids?: readonly Txid[]): Promise<void> {
    if (txids !== undefined) requireTextList('txids', txids)
    const wanted = [...this.#orders.values()].filter(
      order => (txids === undefined || txids.includes(order.record.txid)) && this.#isFollowed(order)
    )
    const next = async (): Promise<void> => {
      for (let order = wanted.pop(); order !== undefined; order = wanted.pop()) await this.#query(order)
    }
    await Promise.all(Array.from({ length: MAX_AT_ONCE }, next))
  }

  /** Follows an order whose payment was signed; durable when it resolves. @throws STORAGE_FULL, STORAGE_FAILED */
  async begin(payment: SwapPayment): Promise<void> {
    const { swapData } = payment
    if (swapData !== undefined) await this.#add(payment, swapData, this.#options.services.io.clock.now())
  }

  /** Forgets an order whose payment was not sent after all; durable when it resolves. @throws STORAGE_FULL, STORAGE_FAILED */
  async forget(txid: Txid): Promise<void> {
    if (!this.#orders.delete(txid)) return
    this.#state.set(this.#snapshots())
    this.#schedule()
    await this.#writeAll(new Map([[txid, null]]))
  }

  /** Asks nothing more; resolves when all that was written is durable. */
  async close(): Promise<void> {
    this.#closed.abort()
    this.#cancelWait()
    this.#unsubscribe()
    await Promise.allSettled(this.#writes)
  }

  async #add({ txid, walletId }: SwapPayment, swapData: SwapData, paidAt: number): Promise<void> {
    const { pluginIdOf } = this.#options
    const fromPluginId = pluginIdOf(walletId)
    const { plugin, isEstimate: _, orderId, orderUri, refundAddress, ...swap } = swapData
    const { pluginId, displayName } = plugin
    if (this.#closed.signal.aborted || fromPluginId === undefined) return
    if (this.#orders.has(txid) || !this.#canWatch(pluginId)) return
    const record: OrderRecord = {
      ...{ ...swap, txid, walletId, fromPluginId, pluginId, displayName, paidAt },
      ...{ state: 'waiting', since: paidAt },
      // Deployed apps write null for what an exchange does not name.
      ...compact({
        orderId: orderId ?? undefined,
        orderUri: orderUri ?? undefined,
        refundAddress: refundAddress ?? undefined
      })
    }
    const order: Order = { record, failures: 0, dueAt: this.#dueAfter(FIRST_MS) }
    this.#orders.set(txid, order)
    const removed = this.#forgetOldest()
    this.#changed(order, true)
    this.#schedule()
    await this.#write(order, removed)
  }

  /** Forgets the oldest that are over, beyond the most of these that are kept. One that is not over is never forgotten. */
  #forgetOldest(): readonly Txid[] {
    const now = this.#options.services.io.clock.now()
    // Also of an exchange whose plugin is not there at the moment.
    const over = [...this.#orders.values()].filter(({ record }) => isOver(record, now))
    const surplus = over.length - MAX_OVER
    if (surplus <= 0) return []
    const oldest = over.sort((a, b) => a.record.paidAt - b.record.paidAt)
    const left = oldest.slice(0, surplus).map(({ record: { txid } }) => txid)
    for (const txid of left) this.#orders.delete(txid)
    return left
  }

  #schedule(): void {
    this.#cancelWait()
    this.#cancelWait = () => {}
    const { pause, services } = this.#options
    if (this.#closed.signal.aborted || pause.getSnapshot().isPaused || this.#requests.size >= MAX_AT_ONCE)
      return
    const waiting = [...this.#orders.values()].filter(
      order => !this.#requests.has(order.record.txid) && this.#isFollowed(order)
    )
    if (waiting.length === 0) return
    const { clock } = services.io
    const first = waiting.reduce((soonest, order) => (order.dueAt < soonest.dueAt ? order : soonest))
    this.#cancelWait = clock.after(Math.max(0, first.dueAt - clock.monotonic()), () => {
      services.inBackground('swap orders', this.#query(first))
      this.#schedule()
    })
  }

  /** Asks for one order, or joins who does. Never rejects for what the exchange does. */
  #query(order: Order): Promise<void> {
    const { txid } = order.record
    const known = this.#requests.get(txid)
    if (known !== undefined) return known
    const request = this.#request(order).finally(() => {
      this.#requests.delete(txid)
      this.#schedule()
    })
    this.#requests.set(txid, request)
    return request
  }

  async #request(order: Order): Promise<void> {
    const { services } = this.#options
    const { pluginId } = order.record
    let report: OrderReport | undefined
    let failure: string | undefined
    try {
      const { hooks } = services
      const answer: unknown = await hooks.watchOrder.for(pluginId).promise(this.#questionOf(order.record))
      report = readReport(order.record, answer)
    } catch (error) {
      if (this.#closed.signal.aborted) return
      failure = describeError(error)
      // An exchange that is not there, or does not answer, is no fault of its plugin.
      if (isFault(error)) services.report(pluginId, error)
    }
    if (this.#closed.signal.aborted || this.#orders.get(order.record.txid) !== order) return
    const before = order.record
    const now = services.io.clock.now()
    const isNews = failure !== order.failure
    order.failure = failure
    order.failures = failure === undefined ? 0 : order.failures + 1
    if (report !== undefined) order.record = nextRecord(before, report, now)
    order.dueAt = this.#dueAfter(gapOf(order.record, order.failures, now))
    const { state, payoutTxid, refundTxid } = order.record
    const isOther =
      state !== before.state || payoutTxid !== before.payoutTxid || refundTxid !== before.refundTxid
    this.#changed(order, isNews || isOther || !this.#isFollowed(order))
    if (report !== undefined)
      await this.#write(order, []).catch(error => services.report('swap orders', error))
  }

  #questionOf(record: OrderRecord): WatchedOrder {
    const { txid, orderId, fromPluginId, paidAt, payoutAddress, refundAddress, pluginId } = record
    const { signal } = this.#closed
    return Object.freeze({
      ...{ txid, fromPluginId, paidAt, payoutAddress, signal },
      userSettings: this.#options.userSettingsOf(pluginId),
      ...compact({ orderId, refundAddress })
    })
  }

  #changed(order: Order, isAnnounced: boolean): void {
    const { hooks } = this.#options.services
    this.#state.set(this.#snapshots())
    if (isAnnounced) hooks.orderChanged.call(this.#snapshotOf(order))
  }

  #snapshots(): readonly OrderSnapshot[] {
    return [...this.#orders.values()]
      .sort((a, b) => b.record.paidAt - a.record.paidAt)
      .map(order => this.#snapshotOf(order))
  }

  #snapshotOf(order: Order): OrderSnapshot {
    const { fromPluginId: _f, payoutAddress: _p, refundAddress: _r, ...shown } = order.record
    const { failure } = order
    return Object.freeze({ ...shown, isFollowed: this.#isFollowed(order), ...compact({ failure }) })
  }

  #isFollowed({ record }: Order): boolean {
    return !isOver(record, this.#options.services.io.clock.now()) && this.#canWatch(record.pluginId)
  }

  #canWatch(pluginId: PluginId): boolean {
    const { hooks, plugins } = this.#options.services
    return (
      plugins.swapPlugins.some(({ id }) => id === pluginId) && hooks.watchOrder.for(pluginId).taps.length > 0
    )
  }

  /** By the monotonic clock. */
  #dueAfter(milliseconds: number): number {
    return this.#options.services.io.clock.monotonic() + milliseconds
  }

  #write({ record }: Order, removed: readonly Txid[]): Promise<void> {
    const changes = new Map<string, string | null>(removed.map(txid => [txid, null]))
    return this.#writeAll(changes.set(record.txid, JSON.stringify(record)))
  }

  #writeAll(changes: ReadonlyMap<string, string | null>): Promise<void> {
    const writing = this.#options.store.write(changes)
    this.#writes.add(writing)
    const end = (): void => void this.#writes.delete(writing)
    writing.then(end, end)
    return writing
  }
}

/** @throws OPTION_INVALID for what is no payment, or has swap data of another shape */
const checkPayment = (payment: SwapPayment): void => {
  requireObject('payment', payment)
  const { txid, walletId, date, swapData } = payment
  requireTexts({ txid, walletId })
  if (!Number.isFinite(date))
    throw new WalletError('OPTION_INVALID', { option: 'date', rule: 'must be a number' })
  if (swapData === undefined) return
  requireObject('swapData', swapData)
  requireObject('plugin', swapData.plugin)
  const { plugin, isEstimate, orderId, orderUri, refundAddress } = swapData
  const { payoutAddress, payoutCurrencyCode, payoutNativeAmount, payoutWalletId } = swapData
  requireTexts({ displayName: plugin.displayName })
  requireTexts({ payoutAddress, payoutCurrencyCode, payoutNativeAmount, payoutWalletId })
  requireFlags({ isEstimate })
  for (const [option, value] of Object.entries({
    pluginId: plugin.pluginId,
    orderId,
    orderUri,
    refundAddress
  }))
    requireTexts({ [option]: value ?? '' })
}

/** One order, as it is kept: by the txid of its payment. */
interface OrderRecord extends Omit<OrderSnapshot, 'failure' | 'isFollowed'> {
  readonly fromPluginId: PluginId
  readonly payoutAddress: string
  readonly refundAddress?: string
}

/** An order with what is not kept. */
interface Order {
  record: OrderRecord
  failure?: string | undefined
  /** In a row. */
  failures: number
  /** When the exchange is asked next, by the monotonic clock. */
  dueAt: number
}

/** @throws BOGUS_DATA for an answer of another shape, or one that contradicts itself */
const readReport = ({ pluginId, txid }: OrderRecord, answer: unknown): OrderReport => {
  const refuse = (path: string): WalletError =>
    new WalletError('BOGUS_DATA', { pluginId, what: 'state of an order', path })
  if (!isRecord(answer)) throw refuse('')
  const { state, payoutTxid, refundTxid } = answer
  if (typeof state !== 'string' || !STATES.has(state)) throw refuse('state')
  for (const [name, value] of Object.entries({ payoutTxid, refundTxid })) {
    // The payment to the exchange is neither.
    const isTxid = value === undefined || (typeof value === 'string' && TXID.test(value) && value !== txid)
    if (!isTxid) throw refuse(name)
  }
  return {
    state: state as OrderState,
    ...compact({
      payoutTxid: state === 'paidOut' || state === 'sending' ? (payoutTxid as Txid) : undefined,
      refundTxid: state === 'refunded' ? (refundTxid as Txid) : undefined
    })
  }
}

/** What is known of an order after an answer: an end stays, and takes only the txid that it lacked (pure). */
const nextRecord = (before: OrderRecord, report: OrderReport, now: number): OrderRecord => {
  const { payoutTxid, refundTxid, ...rest } = before
  const isSame = report.state === before.state
  const isOver = ENDS.has(before.state)
  if (isOver && !isSame) return { ...before, checkedAt: now }
  const { state } = report
  return {
    ...{ ...rest, state, since: isSame ? before.since : now, checkedAt: now },
    ...compact(
      isOver
        ? {
            payoutTxid: payoutTxid ?? report.payoutTxid,
            refundTxid: refundTxid ?? report.refundTxid
          }
        : { payoutTxid: report.payoutTxid, refundTxid: report.refundTxid }
    )
  }
}

/** True once nothing more is expected (pure). */
const isOver = ({ state, since, paidAt, payoutTxid, refundTxid }: OrderRecord, now: number): boolean => {
  if (ENDS.has(state)) return payoutTxid !== undefined || refundTxid !== undefined || now - since > DAY_MS
  // A person at the exchange may still send the money back.
  return STUCK.has(state) ? now - since > 7 * DAY_MS : now - paidAt > FOLLOW_MS
}

/** Milliseconds until an order is asked for again: the longer nothing has changed, the more (pure). */
const gapOf = ({ state, since }: OrderRecord, failures: number, now: number): number => {
  const most = STUCK.has(state) ? 6 * HOUR_MS : HOUR_MS / 6
  const gap = Math.min(Math.max((now - since) / 8, FIRST_MS), most)
  return failures === 0 ? gap : Math.min(gap * 2 ** Math.min(failures, 10), HOUR_MS)
}

/** Milliseconds until an order is asked for after a restart (pure). */
const restOf = (record: OrderRecord, now: number): number => {
  const gap = gapOf(record, 0, now)
  const { checkedAt } = record
  return checkedAt === undefined ? 0 : Math.min(Math.max(checkedAt + gap - now, 0), gap)
}

const isFault = (error: unknown): boolean => {
  const thrown: unknown = isWalletError(error, 'PLUGIN_FAILED') ? error.cause : error
  return !(isWalletError(thrown) && EXPECTED.has(thrown.code))
}

const readRecord = (key: string, text: string): OrderRecord | undefined => {
  const value = tryParseJson(text)
  if (!isRecord(value) || value.txid !== key || !STATES.has(String(value.state))) return undefined
  const isTexts = REQUIRED.every(name => isShortText(value[name]))
  const isOptional = OPTIONAL.every(name => value[name] === undefined || isShortText(value[name]))
  const isTimes =
    [value.paidAt, value.since].every(Number.isFinite) &&
    (value.checkedAt === undefined || Number.isFinite(value.checkedAt))
  return isTexts && isOptional && isTimes ? (value as unknown as OrderRecord) : undefined
}

const STATES: ReadonlySet<string> = new Set<OrderState>([
  ...(['waiting', 'seen', 'exchanging', 'sending', 'paidOut', 'refunded'] as const),
  ...(['failed', 'late', 'unknown'] as const)
])
const ENDS: ReadonlySet<OrderState> = new Set(['paidOut', 'refunded'])
const STUCK: ReadonlySet<OrderState> = new Set(['failed', 'late', 'unknown'])
const REQUIRED = [
  ...['txid', 'walletId', 'fromPluginId', 'pluginId', 'displayName', 'payoutWalletId'],
  ...['payoutAddress', 'payoutCurrencyCode', 'payoutNativeAmount']
]
const OPTIONAL = ['orderId', 'orderUri', 'refundAddress', 'payoutTxid', 'refundTxid']
const EXPECTED: ReadonlySet<string> = new Set(['DEADLINE', 'NETWORK', 'SERVER', 'SWAP_PERMISSION'])
const TXID = /^[\x21-\x7e]{1,200}$/
/** Orders that are over; those that are not are no more than the payments of 30 days. */
const MAX_OVER = 500
const MAX_AT_ONCE = 4
const FIRST_MS = 15_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** As long as an order that nobody has ended is asked for. */
const FOLLOW_MS = 30 * DAY_MS
