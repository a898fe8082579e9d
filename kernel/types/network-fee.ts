import { compare, multiply, type NativeAmount, nativeAmount, sum, ZERO } from '../base/amount.ts'
import { WalletError } from '../base/errors.ts'
import type { CurrencyInfo } from './currency.ts'
import type { NetworkFee, NetworkFeeOption, Transaction } from './transaction.ts'

/** A network fee so high that the user should review it before paying; native units of the chain's own coin. */
export interface UnusualFee {
  readonly networkFee: NativeAmount
  /** The fee of the same payment by the engine's other sources. */
  readonly usualNetworkFee: NativeAmount
}

/**
 * Returns the network fee of a draft if it is unusual: above ten times the usual fee and above a tenth of the payment. For a
 * token, whose amounts cannot be compared with the fee, ten times the usual fee is enough. Undefined if the fee is
 * ordinary, or if the engine does not know what is usual (pure).
 *
 * @example
 * ```ts
 * import { unusualFeeOf } from 'holdfast'
 *
 * const draft = await wallet.makeSpend({ tokenId: null, spendTargets: [{ publicAddress: 'bcrt1q…' }] })
 * const unusual = unusualFeeOf(draft)
 * if (unusual !== undefined) console.log(`${unusual.networkFee} instead of ${unusual.usualNetworkFee}`)
 * ```
 */
export const unusualFeeOf = (tx: Transaction): UnusualFee | undefined => {
  const { usualNetworkFee, tokenId, spendTargets = [] } = tx
  const networkFee = coinFeeOf(tx)
  if (usualNetworkFee === undefined || compare(networkFee, multiply(usualNetworkFee, FACTOR)) <= 0)
    return undefined
  const paid = tokenId === null ? sum(spendTargets.map(target => target.nativeAmount)) : ZERO
  if (compare(multiply(networkFee, SHARE), paid) <= 0) return undefined
  return { networkFee, usualNetworkFee }
}

/**
 * Holds the network fee of what is about to be signed against what the user allows: the limit of the call, or the one
 * that the payment was drafted with. A limit is one of the coin, and allows no fee in a token. Without a limit an unusual
 * fee is refused.
 *
 * @throws MAX_FEE, FEE_UNUSUAL
 */
export const checkNetworkFee = (
  { currencyCode }: CurrencyInfo,
  tx: Transaction,
  maxNetworkFee: NativeAmount | undefined = tx.maxNetworkFee
): void => {
  if (maxNetworkFee !== undefined) {
    const networkFee = coinFeeOf(tx)
    if (compare(networkFee, maxNetworkFee) > 0)
      throw new WalletError('MAX_FEE', { networkFee, maxFee: maxNetworkFee, currencyCode })
    checkNoTokenFee([tx])
    return
  }
  const unusual = unusualFeeOf(tx)
  if (unusual !== undefined) throw new WalletError('FEE_UNUSUAL', { ...unusual, currencyCode })
}

/**
 * Refuses payments that the network takes a token for, where nobody has allowed that (pure).
 *
 * @throws MAX_FEE naming the token
 *
 * @example
 * ```ts
 * import { checkNoTokenFee } from 'holdfast'
 *
 * const draft = await wallet.makeSpend({ tokenId: 'usdx', spendTargets: [{ publicAddress: '0x…' }] })
 * checkNoTokenFee([draft])
 * ```
 */
export const checkNoTokenFee = (txs: readonly FeesOfTransaction[]): void => {
  for (const { tokenId, nativeAmount: networkFee } of txs.flatMap(networkFeesOf))
    if (tokenId !== null)
      throw new WalletError('MAX_FEE', { networkFee, maxFee: ZERO, currencyCode: tokenId })
}

/** Returns true for the name of a way to choose a network fee. */
export const isFeeOption = (value: unknown): value is NetworkFeeOption => FEE_OPTIONS.has(value)

/** Checks a limit that a caller gave. @throws OPTION_INVALID */
export const requireFeeLimit = (maxNetworkFee: string | undefined): void => {
  if (maxNetworkFee !== undefined && !/^\d{1,100}$/.test(maxNetworkFee))
    throw new WalletError('OPTION_INVALID', { option: 'maxNetworkFee', rule: 'must be a native amount' })
}

/**
 * Returns the network fee of a payment in the chain's own coin, which also a token's payment costs (pure).
 *
 * @example
 * ```ts
 * import { coinFeeOf } from 'holdfast'
 *
 * const draft = await wallet.makeSpend({ tokenId: null, spendTargets: [{ publicAddress: 'bcrt1q…' }] })
 * console.log(`costs ${coinFeeOf(draft)}`)
 * ```
 */
export const coinFeeOf = ({
  tokenId,
  parentNetworkFee,
  networkFee,
  networkFees
}: FeesOfTransaction): NativeAmount => {
  if (tokenId === null) return networkFee
  if (networkFees === undefined) return parentNetworkFee ?? networkFee
  return networkFees.find(fee => fee.tokenId === null)?.nativeAmount ?? ZERO
}

/**
 * Returns every network fee of a payment, one for each asset: that of its own asset, that in the coin of the chain, and those in other
 * tokens; fees of nothing are left out (pure).
 *
 * @example
 * ```ts
 * import { networkFeesOf } from 'holdfast'
 *
 * const draft = await wallet.makeSpend({ tokenId: 'usdx', spendTargets: [{ publicAddress: '0x…' }] })
 * for (const { tokenId, nativeAmount } of networkFeesOf(draft)) console.log(tokenId ?? 'coin', nativeAmount)
 * ```
 */
export const networkFeesOf = (tx: FeesOfTransaction): readonly NetworkFee[] => {
  const { tokenId, networkFee, parentNetworkFee, networkFees } = tx
  const coin = { tokenId: null, nativeAmount: coinFeeOf(tx) }
  const hasOwn = tokenId !== null && parentNetworkFee !== undefined
  const fees = networkFees ?? (hasOwn ? [{ tokenId, nativeAmount: networkFee }, coin] : [coin])
  return fees.filter(({ nativeAmount }) => compare(nativeAmount, ZERO) > 0)
}

/** Returns the network fees of a payment in assets that are neither its own nor the coin of the chain (pure). */
export const otherFeesOf = (tx: FeesOfTransaction): readonly NetworkFee[] =>
  tx.networkFees === undefined
    ? NO_FEES
    : networkFeesOf(tx).filter(({ tokenId }) => tokenId !== null && tokenId !== tx.tokenId)

const NO_FEES: readonly NetworkFee[] = []

/** The fields of a transaction that say what it costs. */
export type FeesOfTransaction = Pick<
  Transaction,
  'networkFee' | 'networkFees' | 'parentNetworkFee' | 'tokenId'
>

const FEE_OPTIONS: ReadonlySet<unknown> = new Set([
  'high',
  'standard',
  'low',
  'custom'
] satisfies NetworkFeeOption[])
const FACTOR = nativeAmount('10')
const SHARE = nativeAmount('10')
