import { type NativeAmount, type QuoteRequest, WalletError } from '../../../kernel/plugin-api.ts'

/** Who speaks: the id and the name of a swap plugin. */
export interface Provider {
  readonly pluginId: string
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

/** SERVER: the provider has a trouble of its own. */
export const troubled = ({ displayName }: Provider, trouble: string): WalletError =>
  new WalletError('SERVER', { message: `${displayName} ${trouble}` })

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
