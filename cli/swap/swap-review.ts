import { OWN_CHECK_TEXT } from '../../devtools/core/review-texts.ts'
import { amountText, type JsonObject, type SpendInfo, type SwapReview } from '../../kernel/index.ts'
import { amountJson } from '../output/amounts.ts'
import { safeText } from '../output/safe-text.ts'
import { localTime } from '../output/times.ts'
import { coinOf } from '../session/wallet-assets.ts'
import { type SpendSummary, summaryOf } from '../spend/spend-summary.ts'
import { placeName, type SwapPlaces } from './swap-place.ts'

/** Sums up a swap that is about to be signed: as `send` does, and what arrives for it, from whom and where. */
export const reviewSummary = (places: SwapPlaces, review: SwapReview): SpendSummary => {
  const { from, to } = places
  const { drafts, spends, swapInfo, isEstimate, toNativeAmount, minReceiveAmount, expirationDate } = review
  const payment = drafts.at(-1)
  if (payment === undefined) throw new TypeError('A swap without a payment')
  const spend = summaryOf(from.wallet, payment, from.asset)
  const receive = amountText(toNativeAmount, to.asset)
  const least = isEstimate ? minReceiveAmount : toNativeAmount
  const promise =
    least === undefined ? 'an estimate: less may arrive' : `at least ${amountText(least, to.asset)}`
  const approvals = spends.slice(0, -1)
  const params = paramsText(spends.at(-1))
  const fees = amountText(review.networkFee.nativeAmount, coinOf(from.wallet))
  return {
    lines: [
      ['swap with', `${safeText(swapInfo.displayName)} (${swapInfo.isDex ? 'DEX' : 'CEX'})`],
      ['receive', isEstimate ? `~${receive}, ${promise}` : receive],
      ['into', placeName(to)],
      ...approvals.map((approval, at) => [`approval ${at + 1}`, approvalText(approval)] as const),
      ...review.allowances.map(
        ({ spender, nativeAmount }) =>
          ['allows', `${spender} to take ${amountText(nativeAmount, from.asset)}`] as const
      ),
      ...spend.lines,
      ...(params === '' ? [] : [['calls with', params] as const]),
      ...(approvals.length === 0 ? [] : [['all fees', fees] as const]),
      ...(review.isOwnCheckComplete ? [] : [['careful', OWN_CHECK_TEXT] as const]),
      ...(expirationDate === undefined ? [] : [['pay before', localTime(expirationDate)] as const])
    ],
    recipients: spend.recipients,
    similar: spend.similar,
    json: {
      ...spend.json,
      swap: {
        plugin: { id: swapInfo.pluginId, name: swapInfo.displayName, type: swapInfo.isDex ? 'DEX' : 'CEX' },
        receive: amountJson(toNativeAmount, to.asset),
        minReceive: least === undefined ? null : amountJson(least, to.asset),
        estimate: isEstimate,
        toWalletId: to.wallet.id,
        payoutAddress: review.payoutAddress,
        approvals: approvals.map(spendJson),
        allowances: review.allowances.map(({ spender, nativeAmount }) => ({
          spender,
          amount: amountJson(nativeAmount, from.asset)
        })),
        ownAddressesDerived: review.isOwnCheckComplete,
        params: spends.at(-1)?.otherParams ?? null,
        networkFee: amountJson(review.networkFee.nativeAmount, coinOf(from.wallet)),
        orderId: review.orderId ?? null,
        expiresAt: expirationDate?.toISOString() ?? null
      }
    }
  }
}

/** Whom an approval calls and what it says there: nothing else tells what it allows. */
const approvalText = (spend: SpendInfo): string => {
  const { spendTargets, memos = [] } = spend
  const calls = spendTargets.map(({ publicAddress = '' }) => publicAddress).join(', ')
  const said = memos.map(({ type, value }) => `${type}:${safeText(value)}`)
  return ['calls', calls, ...said, paramsText(spend)].filter(text => text !== '').join(' ')
}

/** What a spend says to the chain in its own words; cut where it would push the rest off the screen. */
const paramsText = (spend: SpendInfo | undefined): string => {
  const parts = [spend?.otherParams, ...(spend?.spendTargets ?? []).map(({ otherParams }) => otherParams)]
  const text = parts.flatMap(part => (part === undefined ? [] : safeText(JSON.stringify(part)))).join(' ')
  return text.length <= MAX_PARAMS ? text : `${text.slice(0, MAX_PARAMS)}… (${text.length} characters)`
}

const spendJson = ({ tokenId, spendTargets, memos = [], otherParams }: SpendInfo): JsonObject => ({
  tokenId,
  calls: spendTargets.map(({ publicAddress, otherParams: params }) => ({
    publicAddress: publicAddress ?? '',
    params: params ?? null
  })),
  memos: memos.map(({ type, value }) => ({ type, value })),
  params: otherParams ?? null
})

const MAX_PARAMS = 200
