import {
  type JsonObject,
  type NativeAmount,
  type PluginId,
  type QuoteContext,
  type QuoteRequest,
  type SpendInfo,
  WalletError
} from '../../../kernel/plugin-api.ts'

/** The id and the name of a swap plugin. */
export interface Provider {
  readonly pluginId: PluginId
  readonly displayName: string
}

/** The smallest and largest amount that a provider swaps, of one side. */
export interface Limits {
  readonly direction: 'from' | 'to'
  readonly min?: NativeAmount | undefined
  readonly max?: NativeAmount | undefined
}

/** SWAP_CURRENCY: the provider does not swap this pair, or not now. */
export const unsupported = ({ pluginId, displayName }: Provider, { from, to }: QuoteRequest): WalletError =>
  new WalletError('SWAP_CURRENCY', {
    displayName,
    pluginId,
    from: from.currencyCode,
    to: to.currencyCode
  })

/** SWAP_PERMISSION: the provider does not serve this place, or wants a key first. */
export const forbidden = (
  { pluginId }: Provider,
  reason: 'geoRestriction' | 'needsActivation'
): WalletError => new WalletError('SWAP_PERMISSION', { pluginId, reason })

/** SWAP_CHANGED: the provider does not take the order that its quote was for, such as one whose rate has run out. */
export const orderRefused = ({ pluginId }: Provider): WalletError =>
  new WalletError('SWAP_CHANGED', { pluginId, rule: 'was refused' })

/** SERVER: the provider has failed; `failure` follows its name in the message. */
export const providerFailed = ({ displayName }: Provider, failure: string): WalletError =>
  new WalletError('SERVER', { message: `${displayName} ${failure}` })

/** SWAP_BELOW_LIMIT with the smallest amount. */
export const belowLimit = (
  { pluginId }: Provider,
  direction: 'from' | 'to',
  nativeMin: NativeAmount
): WalletError => new WalletError('SWAP_BELOW_LIMIT', { pluginId, nativeMin, direction })

/** SWAP_ABOVE_LIMIT with the largest amount. */
export const aboveLimit = (
  { pluginId }: Provider,
  direction: 'from' | 'to',
  nativeMax: NativeAmount
): WalletError => new WalletError('SWAP_ABOVE_LIMIT', { pluginId, nativeMax, direction })

/** @throws SWAP_BELOW_LIMIT, SWAP_ABOVE_LIMIT */
export const checkLimits = (
  provider: Provider,
  amount: NativeAmount,
  { direction, min, max }: Limits
): void => {
  if (min !== undefined && BigInt(amount) < BigInt(min)) throw belowLimit(provider, direction, min)
  if (max !== undefined && BigInt(amount) > BigInt(max)) throw aboveLimit(provider, direction, max)
}

/** The amount that a request asks for, to pay or to receive; `max` has become an amount. */
export interface WantedAmount {
  readonly direction: 'from' | 'to'
  readonly nativeAmount: NativeAmount
}

/**
 * Reads the request of a context, and asks for the most that can be paid where that is wanted.
 *
 * @param extras - fields of the payment besides its target, such as a memo, which costs
 */
export const wantedAmountOf = async (
  context: QuoteContext,
  extras: Partial<SpendInfo> = {}
): Promise<WantedAmount> => {
  const { quoteFor, nativeAmount, from } = context.request
  if (quoteFor !== 'max') return { direction: quoteFor, nativeAmount }
  return {
    direction: 'from',
    nativeAmount: await context.maxFrom({ ...extras, tokenId: from.tokenId, spendTargets: [{}] })
  }
}

/** A payment to an address that is not known yet, to ask for its fee. */
export const spendWithoutAddress = (
  { request }: QuoteContext,
  nativeAmount: NativeAmount
): readonly SpendInfo[] => [{ tokenId: request.from.tokenId, spendTargets: [{ nativeAmount }] }]

// Anything but visible ASCII would be no header, or a second one.
const VISIBLE = /^[\x21-\x7e]{1,500}$/

/** A setting as text: the user's own goes before that of the application; undefined if there is none that fits. */
export const settingOf = (
  name: string,
  userSettings: JsonObject,
  options: JsonObject
): string | undefined => {
  for (const settings of [userSettings, options]) {
    const value = Object.hasOwn(settings, name) ? settings[name] : undefined
    if (typeof value === 'string' && VISIBLE.test(value)) return value
  }
  return undefined
}
