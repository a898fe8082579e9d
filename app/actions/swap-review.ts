import {
  type CurrencyWallet,
  compact,
  nativeAmount,
  type SwapQuote,
  type SwapReview,
  sum
} from '../../kernel/index.ts'
import { chainNotesOf, costOf, tokenFeesOf } from './open-payment-checks.ts'
import type { SwapDraft } from './services.ts'
import type { SpendReview } from './spend-review.ts'

/** Declines an approval if what has to come before it fails. @throws what that throws */
export const orDecline = async <T>(
  { answer, result }: Pick<SwapDraft, 'answer' | 'result'>,
  check: () => Promise<T>
): Promise<T> => {
  try {
    return await check()
  } catch (error) {
    answer(false)
    await result.catch(() => {})
    throw error
  }
}

/** The limits of an order, in native units; what is left out is not limited. */
interface SwapLimits {
  /** Of what arrives. */
  readonly minReceive?: string
  /** Of what the network takes: as much as this is allowed, unusual or not. */
  readonly maxNetworkFee?: string
}

/** Begins to approve a quote, up to the question whether to. @throws what the order and its drafts can meet */
export const beginApproval = (
  quote: SwapQuote,
  { minReceive, maxNetworkFee }: SwapLimits
): Promise<{ readonly review: SwapReview } & Pick<SwapDraft, 'answer' | 'result'>> =>
  new Promise((resolve, reject) => {
    const result = quote.approve({
      ...compact({
        minReceive: minReceive === undefined ? undefined : nativeAmount(minReceive),
        maxNetworkFee: maxNetworkFee === undefined ? undefined : nativeAmount(maxNetworkFee)
      }),
      metadata: {
        name: quote.swapInfo.displayName,
        category: `exchange:${quote.request.toCurrencyCode}`
      },
      confirm: review =>
        new Promise<Parameters<SwapDraft['answer']>[0]>(answer => resolve({ review, answer, result }))
    })
    // The caller of `answer` receives a failure after the question.
    result.catch(reject)
  })

/** Reviews the order of a swap before its payment is signed. */
export const reviewSwap = (
  wallet: CurrencyWallet,
  request: Pick<
    SwapQuote['request'],
    'fromCurrencyCode' | 'fromTokenId' | 'fromWalletId' | 'toCurrencyCode' | 'toTokenId' | 'toWalletId'
  >,
  review: SwapReview
): SpendReview => {
  const { allowances, drafts, spends, toNativeAmount, isEstimate, unusualFees } = review
  // Below its own limit nothing is signed, and of an estimate still less may arrive.
  const minReceive = isEstimate ? review.minReceiveAmount : toNativeAmount
  return {
    provider: review.swapInfo.pluginId,
    walletId: request.fromWalletId,
    ...compact({ tokenId: request.fromTokenId ?? undefined }),
    currencyCode: request.fromCurrencyCode,
    nativeAmount: review.fromNativeAmount,
    networkFee: review.networkFee.nativeAmount,
    ...tokenFeesOf(wallet, drafts),
    ...compact({
      usualNetworkFee:
        unusualFees.length === 0 ? undefined : sum(unusualFees.map(({ usualNetworkFee }) => usualNetworkFee))
    }),
    targets: drafts.flatMap(({ spendTargets = [] }) =>
      spendTargets.map(({ publicAddress, nativeAmount: paid }) => ({ publicAddress, nativeAmount: paid }))
    ),
    ...costOf(wallet, drafts, request.fromTokenId),
    ...chainNotesOf(drafts, spends),
    ...compact({
      allowances:
        allowances.length === 0
          ? undefined
          : allowances.map(({ spender, nativeAmount: most }) => ({ spender, nativeAmount: most }))
    }),
    isOwnCheckComplete: review.isOwnCheckComplete,
    toWalletId: request.toWalletId,
    ...compact({ toTokenId: request.toTokenId ?? undefined }),
    toCurrencyCode: request.toCurrencyCode,
    toNativeAmount,
    ...compact({ minReceive }),
    payoutAddress: review.payoutAddress,
    isEstimate,
    ...compact({ expiresAt: review.expirationDate?.getTime(), orderId: review.orderId })
  }
}
