import type { SwapReview } from '../../kernel/index.ts'
import { amountJson, amountText } from '../output/amounts.ts'
import { localTime } from '../output/times.ts'
import { coinOf } from '../session/wallet-assets.ts'
import { type SpendSummary, summaryOf } from '../spend/spend-summary.ts'
import { placeName, type SwapPlaces } from './swap-place.ts'

/** Sums up a swap that is about to be signed: as `send` does, and what arrives for it, from whom and where. */
export const reviewSummary = (places: SwapPlaces, review: SwapReview): SpendSummary => {
  const { from, to } = places
  const { drafts, swapInfo, isEstimate, toNativeAmount, minReceive, expirationDate } = review
  const payment = drafts.at(-1)
  if (payment === undefined) throw new TypeError('A swap without a payment')
  const spend = summaryOf(from.wallet, payment, from.asset)
  const receive = amountText(toNativeAmount, to.asset)
  const least = amountText(minReceive, to.asset)
  return {
    lines: [
      ['swap with', `${swapInfo.displayName} (${swapInfo.isDex ? 'DEX' : 'CEX'})`],
      ['receive', isEstimate ? `~${receive}, at least ${least}` : receive],
      ['into', placeName(to)],
      ...(drafts.length > 1 ? [['before it', `${drafts.length - 1} approval of the token`] as const] : []),
      ...spend.lines,
      ...(expirationDate === undefined ? [] : [['pay before', localTime(expirationDate)] as const])
    ],
    recipients: spend.recipients,
    json: {
      ...spend.json,
      swap: {
        plugin: { id: swapInfo.pluginId, name: swapInfo.displayName, type: swapInfo.isDex ? 'DEX' : 'CEX' },
        receive: amountJson(toNativeAmount, to.asset),
        minReceive: amountJson(minReceive, to.asset),
        estimate: isEstimate,
        toWalletId: to.wallet.id,
        payoutAddress: review.payoutAddress,
        networkFee: amountJson(review.networkFee.nativeAmount, coinOf(from.wallet)),
        orderId: review.orderId ?? null,
        expiresAt: expirationDate?.toISOString() ?? null
      }
    }
  }
}
