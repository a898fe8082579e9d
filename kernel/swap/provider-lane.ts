import { describeError, isWalletError, type WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { SwapPlugin } from '../plugins/plugin.ts'
import type { QuoteSnapshot } from '../types/snapshots.ts'
import type { QuoteContext } from '../types/swap.ts'
import type { SwapQuote } from './swap-quote.ts'

/** A provider that is asked in a round. */
export interface AskedProvider {
  readonly plugin: SwapPlugin
  readonly userSettings: JsonObject
  readonly promoCode: string | undefined
}

/** Where one provider of a round stands. */
export interface ProviderLane extends AskedProvider {
  readonly desk: QuoteContext
  state: QuoteSnapshot['state']
  /** How many of its taps run; it may have several. */
  running: number
  quote: SwapQuote | undefined
  /** What was wrong with an offer, or how it failed. */
  error: WalletError | undefined
  /** From the beginning of the round to its answer. */
  durationMs: number | undefined
}

/** What a round tells of a provider. */
export const laneSnapshot = (
  { roundId, request }: Pick<QuoteSnapshot, 'roundId' | 'request'>,
  { plugin, promoCode, state, quote, error, durationMs }: ProviderLane
): QuoteSnapshot =>
  Object.freeze({
    roundId,
    request,
    pluginId: plugin.id,
    displayName: plugin.displayName,
    isDex: plugin.isDex === true,
    state,
    hasPromoCode: promoCode !== undefined,
    ...(quote === undefined ? {} : quoteFields(quote)),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(quote !== undefined || error === undefined ? {} : errorFields(error))
  })

type QuoteFields = Omit<QuoteSnapshot, 'roundId' | 'request' | 'pluginId' | 'displayName' | 'isDex' | 'state'>

const quoteFields = (quote: SwapQuote): QuoteFields => {
  const { minReceiveAmount, expirationDate, maxFulfillmentSeconds, fate, rank, rankReason } = quote
  return {
    quoteId: quote.quoteId,
    fromNativeAmount: quote.fromNativeAmount,
    toNativeAmount: quote.toNativeAmount,
    ...(minReceiveAmount === undefined ? {} : { minReceiveAmount }),
    networkFee: quote.networkFee.nativeAmount,
    isEstimate: quote.isEstimate,
    canBePartial: quote.canBePartial,
    ...(expirationDate === undefined ? {} : { expiresAt: expirationDate.getTime() }),
    ...(maxFulfillmentSeconds === undefined ? {} : { maxFulfillmentSeconds }),
    ...(fate === undefined ? {} : { fate }),
    ...(rank === undefined ? {} : { rank }),
    ...(rankReason === undefined ? {} : { rankReason })
  }
}

const errorFields = (error: WalletError): QuoteFields => {
  const message = isWalletError(error) ? error.message : describeError(error)
  const fields = { errorCode: error.code, message }
  if (isWalletError(error, 'SWAP_PERMISSION')) return { ...fields, message: `${message}: ${error.hint}` }
  if (isWalletError(error, 'SWAP_BELOW_LIMIT'))
    return { ...fields, ...limitOf(error.details.nativeMin, error.details) }
  if (isWalletError(error, 'SWAP_ABOVE_LIMIT'))
    return { ...fields, ...limitOf(error.details.nativeMax, error.details) }
  return fields
}

const limitOf = (limit: string, { direction }: { readonly direction: 'from' | 'to' }): QuoteFields => ({
  ...(limit === '' ? {} : { limit }),
  direction
})
