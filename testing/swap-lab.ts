import {
  compact,
  type ErrorCode,
  type JsonObject,
  makeAbort,
  nativeAmount,
  type OrderReport,
  type QuoteContext,
  type QuoteRequest,
  type SpendInfo,
  type SwapAsset,
  type SwapOffer,
  type SwapOrder,
  type WatchedOrder
} from '../kernel/plugin-api.ts'
import type { Replies } from './fake-network.ts'
import type { NetworkSubject, RoundHandle } from './network-checks.ts'
import { callTaps, type PluginLab } from './plugin-lab.ts'

/** Assets as a kernel describes them: two coins, two of another chain, and one that no exchange has. */
export const swapAssets: Readonly<Record<'btc' | 'ltc' | 'eth' | 'usdc' | 'ufo', SwapAsset>> = {
  btc: { pluginId: 'bitcoin', tokenId: null, currencyCode: 'BTC', multiplier: '100000000' },
  ltc: { pluginId: 'litecoin', tokenId: null, currencyCode: 'LTC', multiplier: '100000000' },
  eth: { pluginId: 'ethereum', tokenId: null, currencyCode: 'ETH', multiplier: '1000000000000000000' },
  usdc: {
    pluginId: 'ethereum',
    tokenId: 'a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    currencyCode: 'USDC',
    multiplier: '1000000',
    networkLocation: { contractAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' }
  },
  ufo: { pluginId: 'ufo', tokenId: null, currencyCode: 'UFO', multiplier: '100000000' }
}

/** A request for a quote. */
export interface SwapQuestion {
  /** Names the case in reports; the request in words if left out. */
  readonly name?: string
  /** {@link swapAssets} has some. */
  readonly from: SwapAsset
  readonly to: SwapAsset
  /** In native units: of `from`, or of `to` where `quoteFor` is `to`. */
  readonly amount: string
  /** `from` if left out. */
  readonly quoteFor?: QuoteRequest['quoteFor']
  /** What the exchange answers; left out for one that sends no request. */
  readonly replies?: Replies
  /** As an application gives them in `pluginOptions`; those of the suite if left out. */
  readonly options?: JsonObject
  readonly userSettings?: JsonObject
  readonly promoCode?: string
}

/** A request that the exchange answers with an offer. */
export interface ValidSwapCase extends SwapQuestion {
  readonly fromNativeAmount: string
  readonly toNativeAmount: string
  readonly isEstimate?: boolean
}

/** A request that the exchange refuses. */
export interface InvalidSwapCase extends SwapQuestion {
  readonly code: ErrorCode
  /** The limit that the error names, in native units: the least or the most. */
  readonly limit?: string
}

/** What a case leaves open, set by a check. */
export interface QuoteConditions {
  /** What asking for a fee throws. */
  readonly feeError?: Error
  /** What a wallet says it can pay at most. */
  readonly most?: string
}

/** How a request for a quote ended. */
export interface QuoteRound {
  readonly offers: readonly SwapOffer[]
  readonly error: unknown
  readonly isLate: boolean
  /** How often a fee was requested. */
  readonly feeCount: number
  readonly maxCount: number
}

/** What an exchange said of an order. */
export interface WatchedRound {
  readonly report?: OrderReport | undefined
  readonly error?: unknown
  readonly isLate: boolean
}

/** An exchange with its cases, for the checks. */
export interface SwapSubject extends NetworkSubject {
  readonly pluginId: string
  /** The first valid case. */
  readonly sample: ValidSwapCase
  /** Requests a quote: of the first valid case, with changes. */
  quote(
    lab: PluginLab,
    change?: Partial<SwapQuestion> & QuoteConditions,
    handle?: RoundHandle
  ): Promise<QuoteRound>
  /** Places the order of an offer, and lets up to 30 seconds pass for it. */
  order(lab: PluginLab, offer: SwapOffer): Promise<{ readonly order?: SwapOrder; readonly error?: unknown }>
  /** Requests the state of an order that was just paid for; undefined if the plugin follows none. */
  watch(lab: PluginLab, order: Pick<SwapOrder, 'orderId'>): Promise<WatchedRound | undefined>
}

/** The addresses of the two wallets of a swap, by plugin id. */
export const walletAddresses: Readonly<Record<string, string>> = {
  bitcoin: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
  litecoin: 'rltc1qw508d6qejxtdg4y5r3zarvary0c5xw7k693xs3',
  ethereum: '0x52908400098527886E0F7030069857D2E4169EE7'
}

/** The fee of every payment, in native units. */
const FEE = nativeAmount('321')
/** The time that the kernel gives a provider. */
const QUOTE_MS = 60_000
const ORDER_MS = 30_000

/** Requests a quote as the kernel does, and lets up to a minute pass for it. */
export const requestQuote = async (
  lab: PluginLab,
  question: SwapQuestion & QuoteConditions,
  handle: RoundHandle = {}
): Promise<QuoteRound> => {
  const { from, to, amount, quoteFor = 'from', userSettings = {}, promoCode, feeError, most } = question
  const offers: SwapOffer[] = []
  const { signal, abort } = makeAbort()
  handle.abort = abort
  let [feeCount, maxCount] = [0, 0]
  const context: QuoteContext = {
    request: { from, to, quoteFor, nativeAmount: nativeAmount(amount) },
    userSettings,
    ...compact({ promoCode }),
    signal,
    depositTo: async () => addressOf(to),
    refundTo: async () => addressOf(from),
    async feeFor(_spends: readonly SpendInfo[]) {
      feeCount += 1
      if (feeError !== undefined) throw feeError
      return FEE
    },
    async maxFrom() {
      maxCount += 1
      return nativeAmount(most ?? amount)
    },
    offer: offer => void offers.push(offer)
  }
  const work = callTaps(lab, lab.hooks.fetchQuotes, [context])
  const { error, isLate } = await (handle.isLive ? lab.waitLive(work) : lab.wait(work, QUOTE_MS))
  return { offers, error, isLate, feeCount, maxCount }
}

/** Orders as the kernel does once the user has approved. */
export const placeOrder: SwapSubject['order'] = async (lab, offer) => {
  const { payment, fromNativeAmount, toNativeAmount } = offer
  if (!('order' in payment)) return { order: { spends: payment.spends, fromNativeAmount, toNativeAmount } }
  const { answer, error, isLate } = await lab.wait(
    lab.call(async () => payment.order()),
    ORDER_MS
  )
  if (isLate) return { error: new Error('It has not ordered after 30 seconds') }
  return answer === undefined ? { error } : { order: answer }
}

/** Requests the state of an order as the kernel does, and lets up to a minute pass for it. */
export const watchOrder = async (
  lab: PluginLab,
  { from, to, userSettings = {} }: SwapQuestion,
  { pluginId, orderId }: { readonly pluginId: string; readonly orderId?: string | undefined }
): Promise<WatchedRound | undefined> => {
  const hook = lab.hooks.watchOrder.for(pluginId)
  if (hook.taps.length === 0) return undefined
  const order: WatchedOrder = {
    ...{ txid: 'ab'.repeat(32), fromPluginId: from.pluginId, paidAt: lab.clock.now(), userSettings },
    ...{ payoutAddress: addressOf(to), refundAddress: addressOf(from), signal: makeAbort().signal },
    ...compact({ orderId })
  }
  const { answer, error, isLate } = await lab.wait(callTaps(lab, hook, [order]), QUOTE_MS)
  return { report: answer?.[0] as OrderReport | undefined, error, isLate }
}

const addressOf = ({ pluginId }: SwapAsset): string => walletAddresses[pluginId] ?? `address-of-${pluginId}`
