import { isNativeAmount, nativeAmount } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { isWalletError, scrub, WalletError } from '../base/errors.ts'
import { isRecord, isShortText } from '../base/json.ts'
import type { PluginId } from '../types/ids.ts'
import type { QuoteRequest } from '../types/swap.ts'

/** The provider that threw, and the request. */
export interface ErrorSource {
  readonly pluginId: PluginId
  readonly displayName: string
  readonly request: QuoteRequest
  /** The request that the provider failed to answer. */
  readonly hook: 'fetchQuotes' | 'order'
}

/**
 * Turns what a provider has thrown into an error of the catalogue. Errors of the deployed system are known by their names;
 * the provider that they blame is always the one that threw.
 */
export const swapErrorOf = (source: ErrorSource, error: unknown): WalletError => {
  try {
    return readError(source, error)
  } catch {
    // What was thrown throws itself when it is looked at.
    const { pluginId, hook } = source
    return new WalletError('PLUGIN_FAILED', { pluginId, hook, reason: 'it threw' })
  }
}

const readError = (source: ErrorSource, error: unknown): WalletError => {
  const code = swapCodeOf(error)
  if (code !== undefined) return makers[code](source, error)
  if (isWalletError(error) && PASSED_ON.has(error.code) && isRecord(error.details)) return error
  const reason = error instanceof Error ? scrub(`${error.name}: ${error.message}`) : 'it threw'
  return new WalletError('PLUGIN_FAILED', { pluginId: source.pluginId, hook: source.hook, reason }, error)
}

/** Returns true for an error of {@link swapErrorOf} that is no fault of the plugin. */
export const isExpected = ({ code }: WalletError): boolean => !FAULTS.has(code)

/** The one error worth showing of those of all providers, as {@link bestFailureOf} chooses it. */
export const bestErrorOf = (errors: readonly WalletError[]): WalletError | undefined =>
  bestFailureOf(errors.map(error => ({ error, errorCode: error.code, limit: limitIn(error) })))?.error

const limitIn = (error: WalletError): string => {
  if (isWalletError(error, 'SWAP_BELOW_LIMIT')) return error.details.nativeMin
  return isWalletError(error, 'SWAP_ABOVE_LIMIT') ? error.details.nativeMax : ''
}

type SwapCode = keyof typeof makers

const CODE_BY_NAME: ReadonlyMap<unknown, SwapCode> = new Map<unknown, SwapCode>([
  ['InsufficientFundsError', 'INSUFFICIENT_FUNDS'],
  ['PendingFundsError', 'PENDING_FUNDS'],
  ['SwapBelowLimitError', 'SWAP_BELOW_LIMIT'],
  ['SwapAboveLimitError', 'SWAP_ABOVE_LIMIT'],
  ['SwapPermissionError', 'SWAP_PERMISSION'],
  ['SwapCurrencyError', 'SWAP_CURRENCY']
])

const swapCodeOf = (error: unknown): SwapCode | undefined =>
  isRecord(error) ? CODE_BY_NAME.get(error.name) : undefined

/** Reads a field of an error of the catalogue, or of the deployed system, which has none of its own details. */
const fieldOf = (error: unknown, name: string): unknown => {
  if (!isRecord(error)) return undefined
  return isRecord(error.details) ? error.details[name] : error[name]
}

const amountIn = (error: unknown, name: string): string => {
  const amount = fieldOf(error, name)
  return isNativeAmount(amount) && !amount.startsWith('-') ? nativeAmount(amount) : ''
}

const directionIn = (error: unknown): 'from' | 'to' => (fieldOf(error, 'direction') === 'to' ? 'to' : 'from')

const REASONS = ['geoRestriction', 'noVerification', 'needsActivation'] as const

const makers = {
  INSUFFICIENT_FUNDS({ request }: ErrorSource, error: unknown): WalletError {
    if (isWalletError(error, 'INSUFFICIENT_FUNDS')) return error
    const code = fieldOf(error, 'currencyCode')
    const networkFee = amountIn(error, 'networkFee')
    return new WalletError(
      'INSUFFICIENT_FUNDS',
      {
        currencyCode: isShortText(code) ? code : request.from.currencyCode,
        ...compact({ networkFee: networkFee || undefined })
      },
      error
    )
  },
  PENDING_FUNDS: (_source: ErrorSource, error: unknown): WalletError =>
    isWalletError(error, 'PENDING_FUNDS') ? error : new WalletError('PENDING_FUNDS', {}, error),
  SWAP_BELOW_LIMIT: ({ pluginId }: ErrorSource, error: unknown): WalletError =>
    new WalletError(
      'SWAP_BELOW_LIMIT',
      { pluginId, nativeMin: amountIn(error, 'nativeMin'), direction: directionIn(error) },
      error
    ),
  SWAP_ABOVE_LIMIT: ({ pluginId }: ErrorSource, error: unknown): WalletError =>
    new WalletError(
      'SWAP_ABOVE_LIMIT',
      { pluginId, nativeMax: amountIn(error, 'nativeMax'), direction: directionIn(error) },
      error
    ),
  SWAP_PERMISSION({ pluginId }: ErrorSource, error: unknown): WalletError {
    const reason = REASONS.find(known => known === fieldOf(error, 'reason'))
    return new WalletError('SWAP_PERMISSION', { pluginId, ...compact({ reason }) }, error)
  },
  SWAP_CURRENCY: ({ pluginId, displayName, request }: ErrorSource, error: unknown): WalletError =>
    new WalletError(
      'SWAP_CURRENCY',
      { displayName, pluginId, from: request.from.currencyCode, to: request.to.currencyCode },
      error
    )
} as const

const FAULTS: ReadonlySet<string> = new Set(['BOGUS_DATA', 'PLUGIN_FAILED'])

/**
 * The errors that a quote context or a provider's server may throw. Errors of other rooms, such as the login, and those that tell what became of
 * a payment are no provider's to say: an application would take them at their word.
 */
const PASSED_ON: ReadonlySet<string> = new Set([
  ...FAULTS,
  'ADDRESS_INVALID',
  'AMOUNT_INVALID',
  'BAD_REPLY',
  'DEADLINE',
  'DUST_SPEND',
  'ENGINE_FAILED',
  'FEE_INVALID',
  'INSUFFICIENT_FUNDS',
  'LOGGED_OUT',
  'MEMO_INVALID',
  'NETWORK',
  'NOT_SUPPORTED',
  'NO_AMOUNT_SPECIFIED',
  'PENDING_FUNDS',
  'QUOTE_ENDED',
  'REPLY_TOO_LARGE',
  'SERVER',
  'SPEND_TO_SELF',
  'SWAP_CHANGED'
])

/** The fields by which one of several failures is chosen. `limit`: the one that an error names, in native units. */
export interface SwapFailure {
  readonly errorCode?: string
  readonly limit?: string
}

/**
 * Returns the one failure worth showing of those of all providers; the first of equals (specification §8): insufficient
 * funds, the smallest minimum, the largest maximum, a missing permission, an unknown pair, anything else (pure).
 *
 * @returns undefined for an empty list
 *
 * @example
 * ```ts
 * import { bestFailureOf } from 'holdfast'
 *
 * bestFailureOf([{ errorCode: 'SWAP_CURRENCY' }, { errorCode: 'SWAP_BELOW_LIMIT', limit: '10000' }])
 * // { errorCode: 'SWAP_BELOW_LIMIT', limit: '10000' }
 * ```
 */
export const bestFailureOf = <F extends SwapFailure>(failures: readonly F[]): F | undefined => {
  let best: F | undefined
  for (const failure of failures) if (best === undefined || isBetter(failure, best)) best = failure
  return best
}

const isBetter = (failure: SwapFailure, than: SwapFailure): boolean => {
  const [rank, other] = [rankOf(failure), rankOf(than)]
  if (rank !== other) return rank > other
  if (failure.errorCode === 'SWAP_BELOW_LIMIT' && than.errorCode === 'SWAP_BELOW_LIMIT')
    return isLess(failure.limit ?? '', than.limit ?? '')
  if (failure.errorCode === 'SWAP_ABOVE_LIMIT' && than.errorCode === 'SWAP_ABOVE_LIMIT')
    return isMore(failure.limit ?? '', than.limit ?? '')
  return false
}

// A limit without a figure says less than any with one.
const isLess = (text: string, than: string): boolean =>
  text !== '' && (than === '' || BigInt(text) < BigInt(than))
const isMore = (text: string, than: string): boolean =>
  text !== '' && (than === '' || BigInt(text) > BigInt(than))

const RANKS: ReadonlyMap<string, number> = new Map([
  ['INSUFFICIENT_FUNDS', 6],
  ['PENDING_FUNDS', 6],
  ['SWAP_BELOW_LIMIT', 5],
  ['SWAP_ABOVE_LIMIT', 4],
  ['SWAP_PERMISSION', 3],
  ['SWAP_CURRENCY', 2]
])

const rankOf = ({ errorCode = '' }: SwapFailure): number => RANKS.get(errorCode) ?? 1
