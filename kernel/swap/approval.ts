import { abs, compare, type NativeAmount, nativeAmount, subtract, sum, ZERO } from '../base/amount.ts'
import { WalletError } from '../base/errors.ts'
import { compact } from '../base/json.ts'
import type { Clock } from '../io/io.ts'
import type { PluginCalls } from '../plugins/plugin-calls.ts'
import { type UnusualFee, unusualFeeOf } from '../types/network-fee.ts'
import type { QuoteRequest } from '../types/swap.ts'
import type { Metadata, SpendInfo, SwapData, Transaction } from '../types/transaction.ts'
import { coinFeeOf, type RoundAddresses } from './context.ts'
import { swapErrorOf } from './errors.ts'
import { type CheckedOffer, type CheckedOrder, isAmount, readOrder } from './offer.ts'
import { type Allowance, checkPayees, type OwnAddresses, readAllowances } from './payees.ts'
import type { SwapWallet } from './request.ts'

/** The provider of a quote. */
export interface SwapInfo {
  readonly pluginId: string
  readonly displayName: string
  readonly isDex: boolean
  readonly supportEmail?: string
}

/** The payment that is about to be signed, for a person to confirm. Amounts are native. */
export interface SwapReview {
  readonly swapInfo: SwapInfo
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  /** The order gives no less, or nothing is signed. */
  readonly minReceive: NativeAmount
  readonly isEstimate: boolean
  /** The least that arrives of an estimate, where the provider promises it; else less than `minReceive` may arrive. */
  readonly minReceiveAmount?: NativeAmount
  /** Of all drafts together, in the paying chain's own coin. */
  readonly networkFee: { readonly currencyCode: string; readonly nativeAmount: NativeAmount }
  /**
   * Of the drafts whose fee is above ten times the usual one and, of a coin, above a tenth of what is paid: nothing is
   * signed unless `maxNetworkFee` allows it, or `confirm` answers with it.
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

/** The options of an approval. */
export interface ApproveOptions {
  /** Noted on the transaction that pays. */
  readonly metadata?: Metadata
  /**
   * Nothing is signed for an order of less, nor for an estimate of which the provider promises less. If left out: what
   * was quoted, and of an estimate one percent less, whatever is promised.
   */
  readonly minReceive?: NativeAmount
  /** The most that the network may take of all drafts together, in native units of the chain's own coin. */
  readonly maxNetworkFee?: NativeAmount
  /**
   * Asked with the exact drafts; nothing is signed unless it says true. An answer with a fee says true and allows the
   * network that much, which an unusual fee needs.
   */
  readonly confirm?: (review: SwapReview) => Promise<boolean | { readonly maxNetworkFee: NativeAmount }>
}

/** A swap that was paid for. */
export interface SwapResult {
  readonly transaction: Transaction
  readonly orderId?: string
  readonly orderUri?: string
  /** The address that the transaction pays. */
  readonly destinationAddress: string
}

/** The quote, the wallets and the round of an approval. */
export interface ApprovalContext {
  readonly clock: Clock
  readonly calls: Pick<PluginCalls, 'call'>
  readonly request: QuoteRequest
  readonly swapInfo: SwapInfo
  readonly offer: CheckedOffer
  readonly fromWallet: SwapWallet
  readonly toWallet: SwapWallet
  readonly addresses: RoundAddresses
  /** Which of some addresses of a currency are in wallets of the user. */
  findOwn(currencyPluginId: string, addresses: ReadonlySet<string>): Promise<OwnAddresses>
  /** Keeps the id of a new order. @throws SWAP_CHANGED if it repeats one that was made before */
  keepOrderId(pluginId: string, orderId: string): Promise<void>
  /** @throws QUOTE_ENDED once the quote is closed */
  checkOpen(): void
  /** Called right before the first signature. */
  onSend(): void
}

/**
 * Orders, checks, reviews and pays a swap. Up to the first signature everything can be refused and nothing has left.
 *
 * @throws QUOTE_ENDED, SWAP_CHANGED, MAX_FEE, OPTION_INVALID, the swap errors of the provider, the spend errors of the
 *   wallet
 */
export const approveQuote = async (
  context: ApprovalContext,
  options: ApproveOptions
): Promise<SwapResult> => {
  const { swapInfo, fromWallet } = context
  const minReceive = minReceiveOf(context, options)
  const order = await orderOf(context)
  checkOrder(context, order, minReceive)
  const deposit = await context.addresses.depositTo()
  const { spends, isComplete } = await checkPayees(
    {
      pluginId: swapInfo.pluginId,
      fromWallet,
      deposit: context.request.from.pluginId === context.request.to.pluginId ? deposit : undefined,
      findOwn: addresses => context.findOwn(context.request.from.pluginId, addresses)
    },
    order.spends
  )
  const { fromNativeAmount } = order
  const allowances = readAllowances({ pluginId: swapInfo.pluginId, fromNativeAmount }, spends)
  const swapData = await swapDataOf(context, order, deposit)
  const drafts = await draftsOf(context, { order, spends, metadata: options.metadata })
  const review = reviewOf(context, { order, spends, drafts, minReceive, deposit, allowances, isComplete })
  checkFee(review, options.maxNetworkFee)
  context.checkOpen()
  const maxNetworkFee = await confirmedFee(context, options, review)
  checkFee(review, maxNetworkFee)
  context.checkOpen()
  checkTime(context, order)
  context.onSend()
  const transaction = await pay(fromWallet, drafts, {
    swapData,
    maxNetworkFee,
    checkTime: () => checkTime(context, order)
  })
  const { orderId, orderUri } = order
  return {
    transaction,
    ...compact({ orderId, orderUri }),
    destinationAddress: review.destinationAddress
  }
}

/** Returns true if a time, in Unix milliseconds, has passed. */
export const hasPassed = (expiresAt: number | undefined, clock: Clock): boolean =>
  expiresAt !== undefined && expiresAt <= clock.now()

/** @throws QUOTE_ENDED */
const checkTime = ({ clock, swapInfo: { pluginId } }: ApprovalContext, { expiresAt }: CheckedOrder): void => {
  if (hasPassed(expiresAt, clock)) throw new WalletError('QUOTE_ENDED', { pluginId, reason: 'expired' })
}

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

/** The least that an order may give for a quoted amount, unless the user says otherwise: of an estimate one percent less (pure). */
export const minimumOf = (quoted: NativeAmount, isEstimate: boolean): NativeAmount =>
  isEstimate ? subtract(quoted, nativeAmount(String(BigInt(quoted) / ESTIMATE_SHARE))) : quoted

const orderOf = async ({
  calls,
  request,
  swapInfo,
  offer,
  keepOrderId
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
  const answer: unknown = await calls.call(call, payment).catch((error: unknown) => {
    throw swapErrorOf({ pluginId, displayName, request, hook: 'order' }, error)
  })
  const order = readOrder({ pluginId, request }, answer)
  if (order.orderId !== undefined) await keepOrderId(pluginId, order.orderId)
  // No order stands longer than the quote that it was made of.
  const until = Math.min(expiresAt ?? Number.POSITIVE_INFINITY, order.expiresAt ?? Number.POSITIVE_INFINITY)
  return Number.isFinite(until) ? { ...order, expiresAt: until } : order
}

const checkOrder = (
  { clock, swapInfo, offer }: ApprovalContext,
  { fromNativeAmount, toNativeAmount, expiresAt }: CheckedOrder,
  minReceive: NativeAmount
): void => {
  const { pluginId } = swapInfo
  const refuse = (rule: string): WalletError => new WalletError('SWAP_CHANGED', { pluginId, rule })
  if (compare(fromNativeAmount, offer.fromNativeAmount) > 0)
    throw refuse(`costs ${fromNativeAmount} native units instead of ${offer.fromNativeAmount}`)
  if (compare(toNativeAmount, minReceive) < 0)
    throw refuse(`gives ${toNativeAmount} native units, less than the limit of ${minReceive}`)
  if (hasPassed(expiresAt, clock)) throw refuse('has expired already')
}

const swapDataOf = async (
  { request, swapInfo, offer, toWallet, addresses }: ApprovalContext,
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
  { fromWallet }: ApprovalContext,
  { order, spends, metadata }: Checked & { readonly metadata: Metadata | undefined }
): Promise<readonly Transaction[]> => {
  const drafts: Transaction[] = []
  for (const [at, spend] of spends.entries()) {
    const isLast = at === spends.length - 1
    const draft = await fromWallet.makeSpend(
      isLast && metadata !== undefined ? { ...spend, metadata } : spend
    )
    checkDraft(fromWallet, draft, { spend, most: isLast ? order.fromNativeAmount : ZERO })
    drafts.push(draft)
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
  { swapInfo, offer, fromWallet }: ApprovalContext,
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
    ...compact({ orderId, orderUri }),
    ...(expiresAt === undefined ? {} : { expirationDate: new Date(expiresAt) })
  })
}

/** Returns the limit of the network fees of all drafts; undefined without one. @throws QUOTE_ENDED, OPTION_INVALID */
const confirmedFee = async (
  { swapInfo: { pluginId } }: ApprovalContext,
  { confirm, maxNetworkFee }: ApproveOptions,
  review: SwapReview
): Promise<NativeAmount | undefined> => {
  const answer = confirm === undefined ? true : await confirm(review)
  if (answer === true) return maxNetworkFee
  if (typeof answer !== 'object') throw new WalletError('QUOTE_ENDED', { pluginId, reason: 'declined' })
  if (isAmount(answer.maxNetworkFee)) return answer.maxNetworkFee
  throw new WalletError('OPTION_INVALID', { option: 'maxNetworkFee', rule: 'must be a native amount' })
}

const checkFee = ({ networkFee }: SwapReview, maxFee: NativeAmount | undefined): void => {
  const { currencyCode, nativeAmount: fee } = networkFee
  if (maxFee !== undefined && compare(fee, maxFee) > 0)
    throw new WalletError('MAX_FEE', { networkFee: fee, maxFee, currencyCode })
}

/** The record of the swap goes with the payment into the journal, so that no crash after it loses it. */
const pay = async (
  wallet: SwapWallet,
  drafts: readonly Transaction[],
  { swapData, maxNetworkFee, checkTime }: PayOptions
): Promise<Transaction> => {
  for (const draft of drafts.slice(0, -1)) {
    await wallet.spend(draft, { maxNetworkFee })
    // An approval takes its time; it pays nothing.
    checkTime()
  }
  const last = drafts.at(-1)
  if (last === undefined) throw new TypeError('A swap without a payment')
  return wallet.spend({ ...last, swapData }, { maxNetworkFee })
}

interface PayOptions {
  readonly swapData: SwapData
  readonly maxNetworkFee: NativeAmount | undefined
  checkTime(): void
}

const ORDER_MS = 30_000
/** The share of an estimate that may be lost unless the caller says otherwise: one part in a hundred. */
const ESTIMATE_SHARE = 100n
