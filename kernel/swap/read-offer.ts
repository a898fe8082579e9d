import { compare, type NativeAmount, ZERO } from '../base/amount.ts'
import { WalletError } from '../base/errors.ts'
import { isRecord, isShortText } from '../base/json.ts'
import type { QuoteRequest, SwapOrder } from '../types/swap.ts'
import type { SpendInfo } from '../types/transaction.ts'
import { isAmount, readSpends } from './read-spends.ts'

/** An offer that was checked and copied. */
export interface ReadOffer {
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  readonly isEstimate: boolean
  readonly canBePartial: boolean
  readonly minReceiveAmount?: NativeAmount
  /** Unix milliseconds. */
  readonly expiresAt?: number
  readonly maxFulfillmentSeconds?: number
  readonly networkFee: NativeAmount
  /** What is paid, or how it is ordered. */
  readonly payment: readonly SpendInfo[] | (() => Promise<SwapOrder>)
}

/** What an offer is held against. */
export interface OfferPlace {
  readonly pluginId: string
  readonly request: QuoteRequest
  /** What the paying wallet has of the asset. */
  readonly balance: NativeAmount
  readonly now: number
}

/** An order that was checked and copied, as far as it can be without a wallet. */
export interface ReadOrder {
  readonly spends: readonly SpendInfo[]
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  readonly expiresAt?: number
  readonly orderId?: string
  readonly orderUri?: string
}

/**
 * Checks and copies what a provider offers. The amount that was asked for is fixed: of `from` exactly, of `to` at least,
 * unless the offer is an estimate.
 *
 * @throws BOGUS_DATA naming the field; INSUFFICIENT_FUNDS if the wallet has less than it costs
 */
export const readOffer = (place: OfferPlace, value: unknown): ReadOffer => {
  const bogus = (path: string): WalletError =>
    new WalletError('BOGUS_DATA', { pluginId: place.pluginId, what: 'swap offer', path })
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
  if (expiresAt !== undefined && expiresAt <= place.now) throw bogus('expirationDate')
  checkAsked(place, { fromNativeAmount, toNativeAmount, isFirm, bogus })
  return Object.freeze({
    fromNativeAmount,
    toNativeAmount,
    isEstimate: !isFirm,
    canBePartial: canBePartial === true,
    ...(least === undefined ? {} : { minReceiveAmount: least }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(seconds === undefined ? {} : { maxFulfillmentSeconds: seconds }),
    networkFee,
    payment: readPayment(place, fromNativeAmount, payment)
  })
}

/** Checks and copies what a provider has ordered. @throws SWAP_CHANGED */
export const readOrder = (
  { pluginId, request }: Pick<OfferPlace, 'pluginId' | 'request'>,
  value: unknown
): ReadOrder => {
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
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(orderId === undefined ? {} : { orderId }),
    ...(orderUri === undefined ? {} : { orderUri })
  })
}

interface Asked {
  readonly fromNativeAmount: NativeAmount
  readonly toNativeAmount: NativeAmount
  readonly isFirm: boolean
  bogus(path: string): WalletError
}

const checkAsked = ({ request, balance }: OfferPlace, asked: Asked): void => {
  const { fromNativeAmount, toNativeAmount, isFirm, bogus } = asked
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
  { pluginId, request }: OfferPlace,
  fromNativeAmount: NativeAmount,
  payment: unknown
): ReadOffer['payment'] => {
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
