import { abs, compare, type NativeAmount, nativeAmount, subtract, sum, ZERO } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import type { Clock } from '../io/io.ts'
import type { Services } from '../plugins/services.ts'
import type { EngineStore } from '../types/engine.ts'
import type { PluginId, Txid } from '../types/ids.ts'
import { checkNoTokenFee, coinFeeOf, type UnusualFee, unusualFeeOf } from '../types/network-fee.ts'
import type { PaymentApproval } from '../types/policy.ts'
import type { Metadata, SpendInfo, SwapData, Transaction } from '../types/transaction.ts'
import type { SignOptions } from '../wallet/spend/sign.ts'
import type { RoundAddresses } from './context.ts'
import { swapErrorOf } from './errors.ts'
import { type CheckedOffer, type CheckedOrder, isAmount, readOrder } from './offer.ts'
import type { SwapOrders } from './orders.ts'
import { type Allowance, checkPayees, type PayeeCheck, readAllowances } from './payees.ts'
import type { CheckedRequest, SwapWallet } from './request.ts'

/** The provider of a quote. */
export interface SwapInfo {
  readonly pluginId: PluginId
  readonly displayName: string
  readonly isDex: boolean
  readonly supportEmail?: string
}

/** The payment that is about to be signed, for a person to confirm. Amounts are native. */
export interface SwapReview {
  readonly swapInfo: SwapInfo
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  /** Nothing is signed if the order pays out less. */
  readonly minReceive: NativeAmount
  readonly isEstimate: boolean
  /**
   * The least that arrives of an estimate, if the provider promises it; otherwise less than `minReceive` may arrive.
   */
  readonly minReceiveAmount?: NativeAmount
  /** The sum of all drafts, in the paying chain's own coin. */
  readonly networkFee: { readonly currencyCode: string; readonly nativeAmount: NativeAmount }
  /**
   * The fees of drafts that are above ten times the usual one and, for a coin, above a tenth of the payment: nothing is
   * signed unless `maxNetworkFee` allows them, or `confirm` returns that much.
   */
  readonly unusualFees: readonly UnusualFee[]
  /** Exactly what is signed, in this order; the last one pays the swap. */
  readonly drafts: readonly Transaction[]
  /** The spends from which the drafts were made: the payee or contract of each, and its parameters. */
  readonly spends: readonly SpendInfo[]
  /** The allowances that the approvals give to the payee, as read from their calls on the chain. */
  readonly allowances: readonly Allowance[]
  /** False if payees were compared only with own addresses that were shown, saved or paid. */
  readonly isOwnCheckComplete: boolean
  /** The address that the last draft pays. */
  readonly destinationAddress: string
  /** The address to which the provider pays. */
  readonly payoutAddress: string
  readonly orderId?: string
  readonly orderUri?: string
  readonly expirationDate?: Date
}

/**
 * The options of an approval.
 *
 * @example
 * ```ts
 * import { nativeAmount, type SwapQuote } from 'holdfast'
 *
 * declare const quote: SwapQuote
 * await quote.approve({
 *   maxNetworkFee: nativeAmount('2000'),
 *   confirm: async ({ drafts, minReceive }) => {
 *     console.log(drafts.length, minReceive)
 *     return true
 *   }
 * })
 * ```
 */
export interface ApproveOptions {
  /** Saved with the paying transaction. */
  readonly metadata?: Metadata
  /**
   * The least that an order, or the promise for an estimate, must pay out; otherwise nothing is signed. If left out: the quoted
   * amount, and for an estimate one percent less, whatever is promised.
   */
  readonly minReceive?: NativeAmount
  /** The most that the network may take of all drafts together, in native units of the chain's own coin. */
  readonly maxNetworkFee?: NativeAmount
  /** The name of the program that asks for the swap; left out: a person does. */
  readonly requestedBy?: string | undefined
  /**
   * Receives the exact drafts; nothing is signed unless it returns true, or what a person allows, which also means true.
   */
  readonly confirm?: (review: SwapReview) => Promise<boolean | SwapConfirmation>
}

/** A yes to a swap that allows more than usual. */
export interface SwapConfirmation {
  /** Allows the network that much, which an unusual fee needs. */
  readonly maxNetworkFee?: NativeAmount | undefined
  /** The approvals of a second device, in the order of the drafts: see `account.policies.requestApproval`. */
  readonly approvals?: readonly (PaymentApproval | undefined)[] | undefined
}

/** A swap that was paid for. */
export interface SwapResult {
  readonly transaction: Transaction
  readonly orderId?: string
  readonly orderUri?: string
  /** The address that the transaction pays. */
  readonly destinationAddress: string
}

/** The ids of the newest orders that this device made for an account; a new order may repeat none of them. */
export class OrderIds {
  readonly #store: EngineStore
  readonly #clock: Pick<Clock, 'now'>

  /** @param store - holds nothing else */
  constructor(store: EngineStore, clock: Pick<Clock, 'now'>) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Keeps the id of an order, durable when it resolves.
   *
   * @throws SWAP_CHANGED if an earlier order of the provider had it; STORAGE_FULL, STORAGE_FAILED
   */
  async keep(pluginId: PluginId, orderId: string): Promise<void> {
    const key = `${pluginId}/${orderId}`
    if (this.#store.get(key) !== undefined)
      throw new WalletError('SWAP_CHANGED', { pluginId, rule: 'repeats the id of an earlier order' })
    const writes = new Map<string, string | null>([[key, String(this.#clock.now())]])
    const known = [...this.#store.entries('')].sort(([, left], [, right]) => Number(right) - Number(left))
    for (const [old] of known.slice(MAX_ORDERS - 1)) writes.set(old, null)
    await this.#store.write(writes)
  }
}

const MAX_ORDERS = 1000

/** The parts of an account that approvals use. */
export interface SwapAccount extends Pick<PayeeCheck, 'findOwn'> {
  readonly orderIds: OrderIds
  readonly orders: Pick<SwapOrders, 'begin' | 'forget'>
}

/** The quote, and the round and account that it belongs to. */
export interface ApprovalContext {
  readonly services: Pick<Services, 'io' | 'calls' | 'report'>
  readonly swap: CheckedRequest
  readonly swapInfo: SwapInfo
  readonly offer: CheckedOffer
  readonly addresses: RoundAddresses
  readonly account: SwapAccount
}

/** A payment that is ordered, checked and drafted. */
export interface PreparedPayment {
  readonly review: SwapReview
  /** Unix milliseconds; nothing is signed later. */
  readonly expiresAt?: number
}

/**
 * Orders a swap, checks the order and drafts its payment. Everything can be refused, and nothing is signed.
 *
 * @throws SWAP_CHANGED, MAX_FEE, OPTION_INVALID, the swap errors of the provider, the spend errors of the wallet
 */
export const preparePayment = async (
  context: ApprovalContext,
  options: ApproveOptions
): Promise<PreparedPayment> => {
  const { swapInfo, account } = context
  const { fromWallet, request } = context.swap
  const minReceive = minReceiveOf(context, options)
  const order = await orderOf(context)
  checkOrder(context, order, minReceive)
  const deposit = await context.addresses.depositTo()
  const { spends, isComplete } = await checkPayees(
    {
      pluginId: swapInfo.pluginId,
      fromWallet,
      deposit: request.from.pluginId === request.to.pluginId ? deposit : undefined,
      findOwn: account.findOwn
    },
    order.spends
  )
  const { fromNativeAmount, expiresAt } = order
  const allowances = readAllowances({ pluginId: swapInfo.pluginId, fromNativeAmount }, spends)
  const swapData = await swapDataOf(context, order, deposit)
  const drafts = await draftsOf(fromWallet, { order, spends, swapData, metadata: options.metadata })
  const review = reviewOf(context, { order, spends, drafts, minReceive, deposit, allowances, isComplete })
  checkFee(review, options.maxNetworkFee)
  return { review, ...compact({ expiresAt }) }
}

/**
 * Asks whether the payment may be made, if the caller wants to be asked.
 *
 * @returns the limit of the network fees of all drafts, if there is one, and the approvals of a second device
 * @throws QUOTE_ENDED without a yes; MAX_FEE, OPTION_INVALID
 */
export const confirmPayment = async (
  { review }: PreparedPayment,
  options: ApproveOptions
): Promise<SwapConfirmation> => {
  const confirmed = await confirmationOf(review, options)
  checkFee(review, confirmed.maxNetworkFee)
  return confirmed
}

/**
 * Signs and sends what was prepared. The record of the swap is part of the last draft, and goes with it into the journal, so
 * that no crash after it loses it.
 *
 * @throws QUOTE_ENDED if the order expires before the payment itself; the spend errors of the wallet
 */
export const pay = async (
  { services, account, swap: { fromWallet } }: Pick<ApprovalContext, 'account' | 'services' | 'swap'>,
  { review, expiresAt }: PreparedPayment,
  { approvals = [], ...options }: Pick<SignOptions, 'maxNetworkFee' | 'requestedBy'> & SwapConfirmation
): Promise<SwapResult> => {
  const { swapInfo, drafts, destinationAddress, orderId, orderUri } = review
  for (const [at, draft] of drafts.slice(0, -1).entries()) {
    await fromWallet.spend(draft, { ...options, approval: approvals[at] })
    // An approval takes its time; it pays nothing.
    if (hasPassed(expiresAt, services.io.clock))
      throw new WalletError('QUOTE_ENDED', { pluginId: swapInfo.pluginId, reason: 'expired' })
  }
  const last = drafts.at(-1)
  if (last === undefined) throw new TypeError('A swap without a payment')
  let begun: Txid | undefined
  const onSigned = (tx: Transaction): Promise<void> => {
    begun = tx.txid
    return account.orders.begin(tx)
  }
  const approval = approvals[drafts.length - 1]
  const spending = fromWallet.spend(last, { ...options, approval, onSigned })
  const transaction = await spending.catch(async (error: unknown) => {
    // Forgotten before it left: nobody will pay the order.
    const isUnpaid = isWalletError(error, 'COIN_FROZEN') && error.details.isKept !== true
    if (isUnpaid && begun !== undefined)
      await account.orders.forget(begun).catch(failure => services.report('swap orders', failure))
    throw error
  })
  return { transaction, ...compact({ orderId, orderUri }), destinationAddress }
}

/** Returns true if a time, in Unix milliseconds, has passed. */
export const hasPassed = (expiresAt: number | undefined, clock: Clock): boolean =>
  expiresAt !== undefined && expiresAt <= clock.now()

const minReceiveOf = (
  { swapInfo: { pluginId }, offer }: ApprovalContext,
  { minReceive, maxNetworkFee }: ApproveOptions
): NativeAmount => {
  const { toNativeAmount, minReceiveAmount: promised, isEstimate } = offer
  for (const [option, value] of Object.entries({ minReceive, maxNetworkFee })) {
    if (value !== undefined && !isAmount(value))
      throw new WalletError('OPTION_INVALID', { option, rule: 'must be a native amount' })
  }
  if (minReceive !== undefined && promised !== undefined && compare(promised, minReceive) < 0)
    throw new WalletError('SWAP_CHANGED', {
      pluginId,
      rule: `promises ${promised} native units, less than the limit of ${minReceive}`
    })
  return minReceive ?? minimumOf(toNativeAmount, isEstimate)
}

/**
 * Returns the least that an order must pay out for a quoted amount by default: for an estimate one percent less (pure).
 *
 * @example
 * ```ts
 * import { minimumOf, nativeAmount } from 'holdfast'
 *
 * minimumOf(nativeAmount('1000000'), true) // '990000'
 * ```
 */
export const minimumOf = (quoted: NativeAmount, isEstimate: boolean): NativeAmount =>
  isEstimate ? subtract(quoted, nativeAmount(String(BigInt(quoted) / ESTIMATE_SHARE))) : quoted

const orderOf = async ({
  services,
  swap: { request },
  swapInfo,
  offer,
  account
}: ApprovalContext): Promise<CheckedOrder> => {
  const { payment, fromNativeAmount, toNativeAmount, expiresAt } = offer
  if (typeof payment !== 'function')
    return {
      spends: payment,
      fromNativeAmount,
      toNativeAmount,
      ...compact({ expiresAt })
    }
  const { pluginId, displayName } = swapInfo
  const call = { pluginId, kind: 'order', what: `The order of ${displayName}`, milliseconds: ORDER_MS }
  const answer: unknown = await services.calls.call(call, payment).catch((error: unknown) => {
    throw swapErrorOf({ pluginId, displayName, request, hook: 'order' }, error)
  })
  const order = readOrder({ pluginId, request }, answer)
  if (order.orderId !== undefined) await account.orderIds.keep(pluginId, order.orderId)
  // No order stands longer than the quote that it was made of.
  const until = Math.min(expiresAt ?? Number.POSITIVE_INFINITY, order.expiresAt ?? Number.POSITIVE_INFINITY)
  return Number.isFinite(until) ? { ...order, expiresAt: until } : order
}

const checkOrder = (
  { services, swapInfo, offer }: ApprovalContext,
  { fromNativeAmount, toNativeAmount, expiresAt }: CheckedOrder,
  minReceive: NativeAmount
): void => {
  const { pluginId } = swapInfo
  const refuse = (rule: string): WalletError => new WalletError('SWAP_CHANGED', { pluginId, rule })
  if (compare(fromNativeAmount, offer.fromNativeAmount) > 0)
    throw refuse(`costs ${fromNativeAmount} native units instead of ${offer.fromNativeAmount}`)
  if (compare(toNativeAmount, minReceive) < 0)
    throw refuse(`gives ${toNativeAmount} native units, less than the limit of ${minReceive}`)
  if (hasPassed(expiresAt, services.io.clock)) throw refuse('has expired already')
}

const swapDataOf = async (
  { swap: { request, toWallet }, swapInfo, offer, addresses }: ApprovalContext,
  { orderId, orderUri, toNativeAmount }: CheckedOrder,
  payoutAddress: string
): Promise<SwapData> => {
  const { pluginId, displayName, supportEmail } = swapInfo
  const refundAddress = await addresses.refundGivenTo(pluginId)
  return {
    ...compact({ orderId, orderUri }),
    isEstimate: offer.isEstimate,
    plugin: { pluginId, displayName, ...compact({ supportEmail }) },
    payoutAddress,
    payoutCurrencyCode: request.to.currencyCode,
    payoutNativeAmount: toNativeAmount,
    payoutWalletId: toWallet.id,
    ...compact({ refundAddress })
  }
}

interface Checked {
  readonly order: CheckedOrder
  readonly spends: readonly SpendInfo[]
}

const draftsOf = async (
  fromWallet: SwapWallet,
  {
    order,
    spends,
    swapData,
    metadata
  }: Checked & { readonly metadata: Metadata | undefined; readonly swapData: SwapData }
): Promise<readonly Transaction[]> => {
  const drafts: Transaction[] = []
  for (const [at, spend] of spends.entries()) {
    const isLast = at === spends.length - 1
    const draft = await fromWallet.makeSpend(
      isLast && metadata !== undefined ? { ...spend, metadata } : spend
    )
    checkDraft(fromWallet, draft, { spend, most: isLast ? order.fromNativeAmount : ZERO })
    drafts.push(isLast ? { ...draft, swapData } : draft)
  }
  return Object.freeze(drafts)
}

/** Checks that the amount which leaves besides the fee is no more than the order says. @throws BOGUS_TX */
const checkDraft = (
  { currencyInfo }: SwapWallet,
  draft: Transaction,
  { spend, most }: { readonly spend: SpendInfo; readonly most: NativeAmount }
): void => {
  const { pluginId } = currencyInfo
  if (draft.tokenId !== spend.tokenId) throw new WalletError('BOGUS_TX', { pluginId, path: 'tokenId' })
  const fee = draft.tokenId === null ? draft.networkFee : ZERO
  if (compare(subtract(abs(draft.nativeAmount), fee), most) > 0)
    throw new WalletError('BOGUS_TX', { pluginId, path: 'nativeAmount' })
}

const reviewOf = (
  { swapInfo, offer, swap: { fromWallet } }: ApprovalContext,
  parts: Checked & {
    readonly drafts: readonly Transaction[]
    readonly minReceive: NativeAmount
    readonly deposit: string
    readonly allowances: readonly Allowance[]
    readonly isComplete: boolean
  }
): SwapReview => {
  const { order, spends, drafts, minReceive, deposit, allowances, isComplete } = parts
  const { fromNativeAmount, toNativeAmount, expiresAt, orderId, orderUri } = order
  return Object.freeze({
    swapInfo,
    fromNativeAmount,
    toNativeAmount,
    minReceive,
    isEstimate: offer.isEstimate,
    ...compact({ minReceiveAmount: offer.minReceiveAmount }),
    networkFee: Object.freeze({
      currencyCode: fromWallet.currencyInfo.currencyCode,
      nativeAmount: sum(drafts.map(coinFeeOf))
    }),
    unusualFees: Object.freeze(drafts.flatMap(draft => unusualFeeOf(draft) ?? [])),
    drafts,
    spends,
    allowances,
    isOwnCheckComplete: isComplete,
    destinationAddress: spends.at(-1)?.spendTargets[0]?.publicAddress ?? '',
    payoutAddress: deposit,
    ...compact({
      orderId,
      orderUri,
      expirationDate: expiresAt === undefined ? undefined : new Date(expiresAt)
    })
  })
}

const confirmationOf = async (
  review: SwapReview,
  { confirm, maxNetworkFee }: ApproveOptions
): Promise<SwapConfirmation> => {
  const answer = confirm === undefined ? true : await confirm(review)
  if (answer === true) return { maxNetworkFee }
  if (typeof answer !== 'object')
    throw new WalletError('QUOTE_ENDED', { pluginId: review.swapInfo.pluginId, reason: 'declined' })
  const { maxNetworkFee: allowed = maxNetworkFee, approvals } = answer
  if (allowed === undefined || isAmount(allowed)) return { maxNetworkFee: allowed, approvals }
  throw new WalletError('OPTION_INVALID', { option: 'maxNetworkFee', rule: 'must be a native amount' })
}

const checkFee = ({ networkFee, drafts }: SwapReview, maxFee: NativeAmount | undefined): void => {
  if (maxFee === undefined) return
  const { currencyCode, nativeAmount: fee } = networkFee
  if (compare(fee, maxFee) > 0) throw new WalletError('MAX_FEE', { networkFee: fee, maxFee, currencyCode })
  checkNoTokenFee(drafts)
}

const ORDER_MS = 30_000
/** The share of an estimate that may be lost unless the caller says otherwise: one part in a hundred. */
const ESTIMATE_SHARE = 100n
