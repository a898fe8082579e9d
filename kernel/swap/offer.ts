import { compare, type NativeAmount, nativeAmount, sum, ZERO } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import { copyJson, isRecord, isShortText, type JsonObject } from '../base/json.ts'
import type { PluginId, TokenId } from '../types/ids.ts'
import type { QuoteRequest, SwapOrder } from '../types/swap.ts'
import type { Memo, SpendInfo, SpendTarget } from '../types/transaction.ts'

/** An offer that was checked and copied. */
export interface CheckedOffer {
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  readonly isEstimate: boolean
  readonly canBePartial: boolean
  readonly minReceiveAmount?: NativeAmount
  /** Unix milliseconds. */
  readonly expiresAt?: number
  readonly maxFulfillmentSeconds?: number
  readonly networkFee: NativeAmount
  /** The spends to pay, or the function that orders them. */
  readonly payment: readonly SpendInfo[] | (() => Promise<SwapOrder>)
}

/** The request and the wallet's state that an offer must satisfy. */
export interface OfferCheck {
  readonly pluginId: PluginId
  readonly request: QuoteRequest
  /** The paying wallet's balance of the asset. */
  readonly balance: NativeAmount
  readonly now: number
}

/** An order that was checked and copied, as far as it can be without a wallet. */
export interface CheckedOrder {
  readonly spends: readonly SpendInfo[]
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  readonly expiresAt?: number
  readonly orderId?: string
  readonly orderUri?: string
}

/**
 * Checks and copies what a provider offers. The requested amount is fixed: of `from` exactly, of `to` at least,
 * unless the offer is an estimate.
 *
 * @throws BOGUS_DATA naming the field; INSUFFICIENT_FUNDS if the wallet has less than it costs
 */
export const readOffer = (check: OfferCheck, value: unknown): CheckedOffer => {
  const bogus = (path: string): WalletError =>
    new WalletError('BOGUS_DATA', { pluginId: check.pluginId, what: 'swap offer', path })
  if (!isRecord(value)) throw bogus('')
  const { fromNativeAmount, toNativeAmount, isEstimate, canBePartial, minReceiveAmount } = value
  const { expirationDate, maxFulfillmentSeconds, networkFee, payment } = value
  if (!isAmount(fromNativeAmount) || fromNativeAmount === ZERO) throw bogus('fromNativeAmount')
  if (!isAmount(toNativeAmount) || toNativeAmount === ZERO) throw bogus('toNativeAmount')
  // Only a clear no makes it firm.
  const isFirm = isEstimate === false
  const least = minReceiveAmount === undefined ? undefined : minReceiveAmount
  if (least !== undefined && (!isAmount(least) || compare(least, toNativeAmount) > 0))
    throw bogus('minReceiveAmount')
  const seconds = maxFulfillmentSeconds
  if (seconds !== undefined && !(typeof seconds === 'number' && seconds >= 0 && seconds < MAX_SECONDS))
    throw bogus('maxFulfillmentSeconds')
  if (!isAmount(networkFee)) throw bogus('networkFee')
  const expiresAt = timeOf(expirationDate, () => bogus('expirationDate'))
  if (expiresAt !== undefined && expiresAt <= check.now) throw bogus('expirationDate')
  checkAmounts(check, { fromNativeAmount, toNativeAmount, isFirm, bogus })
  return Object.freeze({
    fromNativeAmount,
    toNativeAmount,
    isEstimate: !isFirm,
    canBePartial: canBePartial === true,
    ...compact({ minReceiveAmount: least, expiresAt, maxFulfillmentSeconds: seconds }),
    networkFee,
    payment: readPayment(check, fromNativeAmount, payment)
  })
}

/** Checks and copies what a provider has ordered. @throws SWAP_CHANGED */
export const readOrder = (
  { pluginId, request }: Pick<OfferCheck, 'pluginId' | 'request'>,
  value: unknown
): CheckedOrder => {
  const refuse = (rule: string): WalletError => new WalletError('SWAP_CHANGED', { pluginId, rule })
  if (!isRecord(value)) throw refuse('is no data')
  const { spends, fromNativeAmount, toNativeAmount, expirationDate, orderId, orderUri } = value
  if (!isAmount(fromNativeAmount) || !isAmount(toNativeAmount)) throw refuse('has amounts that make no sense')
  const expiresAt = timeOf(expirationDate, () => refuse('has a date that makes no sense'))
  if (orderId !== undefined && !isShortText(orderId)) throw refuse('has a name that makes no sense')
  if (orderUri !== undefined && !(isShortText(orderUri) && LINK.test(orderUri)))
    throw refuse('has a link that is none')
  return Object.freeze({
    spends: readSpends(spends, { tokenId: request.from.tokenId, fromNativeAmount, refuse }),
    fromNativeAmount,
    toNativeAmount,
    ...compact({ expiresAt, orderId, orderUri })
  })
}

interface OfferedAmounts {
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  readonly isFirm: boolean
  bogus(path: string): WalletError
}

const checkAmounts = ({ request, balance }: OfferCheck, offered: OfferedAmounts): void => {
  const { fromNativeAmount, toNativeAmount, isFirm, bogus } = offered
  const { quoteFor, nativeAmount, from } = request
  if (quoteFor === 'from' && fromNativeAmount !== nativeAmount) throw bogus('fromNativeAmount')
  if (quoteFor === 'to' && isFirm && compare(toNativeAmount, nativeAmount) < 0) throw bogus('toNativeAmount')
  if (compare(fromNativeAmount, balance) > 0) {
    throw new WalletError('INSUFFICIENT_FUNDS', {
      currencyCode: from.currencyCode,
      tokenId: from.tokenId,
      needed: fromNativeAmount,
      available: balance
    })
  }
}

const readPayment = (
  { pluginId, request }: OfferCheck,
  fromNativeAmount: NativeAmount,
  payment: unknown
): CheckedOffer['payment'] => {
  const refuse = (): WalletError =>
    new WalletError('BOGUS_DATA', { pluginId, what: 'swap offer', path: 'payment' })
  if (!isRecord(payment)) throw refuse()
  const { order, spends } = payment
  if (order === undefined)
    return readSpends(spends, { tokenId: request.from.tokenId, fromNativeAmount, refuse })
  if (typeof order !== 'function') throw refuse()
  return () => order.call(payment) as Promise<SwapOrder>
}

const timeOf = (value: unknown, refuse: () => Error): number | undefined => {
  if (value === undefined) return undefined
  if (!(value instanceof Date)) throw refuse()
  // Not by its own method: a date of another kind could say another time each time.
  const time = Date.prototype.getTime.call(value)
  if (!Number.isFinite(time)) throw refuse()
  return time
}

const LINK = /^https?:\/\/\S+$/
/** About three years. */
const MAX_SECONDS = 100_000_000

/** The payment that the spends of a provider must make. */
export interface SpendsCheck {
  /** The asset that the user pays with. */
  readonly tokenId: TokenId | null
  readonly fromNativeAmount: NativeAmount
  /** Makes the error; `rule` continues a sentence about the order. */
  refuse(rule: string): Error
}

/** Checks if a value is an amount in its one form: digits, no sign. */
export const isAmount = (value: unknown): value is NativeAmount =>
  typeof value === 'string' && /^(0|[1-9]\d{0,99})$/.test(value)

/**
 * Copies what a provider wants to be paid: only this module holds the copy, and it has only the fields of a spend.
 *
 * The last spend pays the swap, in the user's asset and no more than was said; those before it approve a token and
 * pay nothing. Every target has an address.
 *
 * @throws what `rule.refuse` makes
 */
const readSpends = (value: unknown, rule: SpendsCheck): readonly SpendInfo[] => {
  const { refuse, tokenId, fromNativeAmount } = rule
  const spends = copyOf(value, rule)
  if (!Array.isArray(spends) || spends.length === 0 || spends.length > MAX_SPENDS)
    throw refuse('has no payment that makes sense')
  const read = spends.map((spend: unknown) => readSpend(spend, rule))
  const approvals = read.slice(0, -1)
  if (approvals.length > 0 && tokenId === null) throw refuse('asks for more than one payment')
  if (approvals.some(spend => totalOf(spend) !== ZERO)) throw refuse('pays something with an approval')
  const last = read.at(-1)
  if (last?.tokenId !== tokenId) throw refuse('is to be paid in another asset')
  if (compare(totalOf(last), fromNativeAmount) > 0) throw refuse('pays out more than it says')
  return Object.freeze(read)
}

/** Copies spends that a provider asks about only, of the asset that is paid or of the chain; a target may be without an address. */
export const readFeeQuestion = (
  value: unknown,
  { refuse, tokenId }: Pick<SpendsCheck, 'refuse' | 'tokenId'>
): readonly SpendInfo[] => {
  const spends = copyOf(value, { refuse })
  if (!Array.isArray(spends) || spends.length === 0 || spends.length > MAX_SPENDS)
    throw refuse('is no list of spends')
  for (const spend of spends as readonly unknown[]) {
    const isSpend =
      isRecord(spend) &&
      (spend.tokenId === null || spend.tokenId === tokenId) &&
      Array.isArray(spend.spendTargets) &&
      spend.spendTargets.length <= MAX_TARGETS &&
      spend.spendTargets.every(isRecord)
    if (!isSpend) throw refuse('is no list of spends')
  }
  return spends as readonly SpendInfo[]
}

const copyOf = (value: unknown, { refuse }: Pick<SpendsCheck, 'refuse'>): unknown => {
  try {
    return copyJson(value, 'swap payment', MAX_LENGTH)
  } catch {
    throw refuse('is no data')
  }
}

const readSpend = (value: unknown, { refuse, tokenId: own }: SpendsCheck): SpendInfo => {
  if (!isRecord(value)) throw refuse('has no payment that makes sense')
  const { tokenId, spendTargets, memos, networkFeeOption, customNetworkFee, otherParams } = value
  // An approval is a call of the chain itself, or of the token.
  if (tokenId !== null && tokenId !== own) throw refuse('is to be paid in another asset')
  const isTargets =
    Array.isArray(spendTargets) && spendTargets.length > 0 && spendTargets.length <= MAX_TARGETS
  if (!isTargets || !spendTargets.every(isTarget)) throw refuse('pays nobody that can be paid')
  const isMemos =
    memos === undefined || (Array.isArray(memos) && memos.length <= MAX_MEMOS && memos.every(isMemo))
  if (!isMemos) throw refuse('has a memo that makes no sense')
  // Figures of its own could burn the rest of the wallet.
  if (customNetworkFee !== undefined || !(networkFeeOption === undefined || FEE_LEVELS.has(networkFeeOption)))
    throw refuse('sets a network fee of its own')
  if (otherParams !== undefined && !isRecord(otherParams)) throw refuse('has no payment that makes sense')
  return {
    tokenId: tokenId === null ? null : own,
    spendTargets: spendTargets.map(copyTarget),
    ...compact({
      memos: memos?.map(({ type, value: text }) => ({ type, value: text })),
      networkFeeOption: networkFeeOption as 'standard' | undefined,
      otherParams: otherParams as JsonObject | undefined
    })
  }
}

const isTarget = (value: unknown): value is SpendTarget =>
  isRecord(value) &&
  isShortText(value.publicAddress) &&
  value.publicAddress !== '' &&
  isAmount(value.nativeAmount) &&
  [value.memo, value.uniqueIdentifier].every(text => text === undefined || isShortText(text)) &&
  (value.otherParams === undefined || isRecord(value.otherParams))

const copyTarget = (target: SpendTarget): SpendTarget => {
  const { publicAddress, nativeAmount: amount, memo, uniqueIdentifier, otherParams } = target
  return compact({ publicAddress, nativeAmount: amount, memo, uniqueIdentifier, otherParams })
}

const isMemo = (value: unknown): value is Memo =>
  isRecord(value) && isShortText(value.value) && MEMO_TYPES.has(value.type)

const totalOf = ({ spendTargets }: SpendInfo): NativeAmount =>
  sum(spendTargets.map(target => nativeAmount(target.nativeAmount ?? ZERO)))

const FEE_LEVELS: ReadonlySet<unknown> = new Set(['high', 'standard', 'low'])
const MEMO_TYPES: ReadonlySet<unknown> = new Set(['hex', 'number', 'text'])
const MAX_SPENDS = 10
const MAX_TARGETS = 100
const MAX_MEMOS = 10
const MAX_LENGTH = 100_000
