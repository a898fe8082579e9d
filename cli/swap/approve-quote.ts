import { shellWord } from '../../devtools/core/shell-word.ts'
import {
  amountText,
  compare,
  type JsonObject,
  type SwapQuote,
  type SwapResult,
  type SwapReview
} from '../../kernel/index.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { amountJson } from '../output/amounts.ts'
import { txDetailsJson } from '../output/tx-facts.ts'
import { coinOf } from '../session/wallet-assets.ts'
import type { Session } from '../session.ts'
import { allowUnusualFees, approveSpend, unusualFeeWarnings } from '../spend/approve-spend.ts'
import { saveEverywhere } from '../spend/save-everywhere.ts'
import { withWarnings } from '../spend/spend-summary.ts'
import { canAsk } from '../terminal.ts'
import type { SwapPlaces } from './swap-place.ts'
import { reviewSummary } from './swap-review.ts'
import type { AskedSwap, SwapLimits } from './swap-wish.ts'

/** The first of the ranked quotes that is within the limits. @throws CliError MIN_RECEIVE if none is */
export const bestWithin = ({ places, limits }: AskedSwap, quotes: readonly SwapQuote[]): SwapQuote => {
  const best = quotes.find(quote => isWithin(quote, limits))
  if (best !== undefined) return best
  const [first] = quotes
  throw new CliError('MIN_RECEIVE', 'No quote is within --min-receive, --max-pay and --max-fee', {
    details: first === undefined ? {} : { best: quoteFacts(places, first) },
    hint:
      first === undefined
        ? 'Ask for quotes again.'
        : `The best is ${amountText(first.minReceiveAmount ?? first.toNativeAmount, places.to.asset)} for ${amountText(first.fromNativeAmount, places.from.asset)} from ${first.swapInfo.displayName}, for a fee of ${amountText(first.networkFee.nativeAmount, coinOf(places.from.wallet))}.`
  })
}

const isWithin = (
  { fromNativeAmount, toNativeAmount, minReceiveAmount, networkFee }: SwapQuote,
  { minReceive, maxPay, maxNetworkFee }: SwapLimits
): boolean =>
  (minReceive === undefined || compare(minReceiveAmount ?? toNativeAmount, minReceive) >= 0) &&
  (maxPay === undefined || compare(fromNativeAmount, maxPay) <= 0) &&
  (maxNetworkFee === undefined || compare(networkFee.nativeAmount, maxNetworkFee) <= 0)

/** What is different for a quote that an earlier command showed. */
export interface KeptApproval {
  /** Before anybody is asked. @throws SWAP_CHANGED if the order is worse than what was shown */
  checkOrder(review: SwapReview): void
  /** At the last moment before it is signed. @throws QUOTE_ENDED if another process has approved or closed it */
  claim(): void
  /** Told why it was not paid, or may not have been. */
  failed(error: unknown): void
}

/**
 * Orders, reviews, signs and sends. Until the review is approved nothing has left, and Ctrl-C ends it; what is sent is
 * in the journal before.
 *
 * @throws CliError CONFIRMATION_REQUIRED, DECLINED, INTERRUPTED; QUOTE_ENDED, SWAP_CHANGED and what a spend can meet
 */
export const approveQuote = async (
  session: Session,
  { places, limits }: AskedSwap,
  quote: SwapQuote,
  kept?: KeptApproval
): Promise<CommandResult> => {
  checkCanConfirm(session, places, quote, kept === undefined)
  const { displayName } = quote.swapInfo
  session.talk.step(`ordering from ${displayName}…`)
  const { minReceive, maxNetworkFee } = limits
  const approving = quote.approve({
    ...(minReceive === undefined ? {} : { minReceive }),
    ...(maxNetworkFee === undefined ? {} : { maxNetworkFee }),
    metadata: { name: displayName, category: `exchange:${quote.request.toCurrencyCode}` },
    confirm: async review => {
      kept?.checkOrder(review)
      await places.from.wallet.lookAtOpenPayments()
      const unusual = maxNetworkFee === undefined ? review.unusualFees : []
      await confirmReview(session, places, review)
      const allowed = await allowUnusualFees(session, places.from.wallet, unusual)
      session.signal.throwIfAborted()
      kept?.claim()
      session.paying()
      return allowed === undefined ? true : { maxNetworkFee: review.networkFee.nativeAmount }
    }
  })
  const result = await approving.catch((error: unknown) => {
    kept?.failed(error)
    throw error
  })
  const warnings = await saveEverywhere(session, places.from.wallet)
  return sentResult(places, quote, { result, warnings })
}

/** Before anything is ordered: where nobody can be asked, a script is told what it would have to say yes to. */
const checkCanConfirm = (
  session: Session,
  places: SwapPlaces,
  quote: SwapQuote,
  needsLimits: boolean
): void => {
  const { globals, terminal, commandLine } = session
  if (globals.yes || (globals.input && canAsk(terminal))) return
  const least = amountText(quote.minReceiveAmount ?? quote.toNativeAmount, places.to.asset)
  const most = amountText(quote.fromNativeAmount, places.from.asset)
  const limits = [
    ...(needsLimits && session.text('minReceive') === undefined
      ? [` --min-receive ${shellWord(least)}`]
      : []),
    ...(needsLimits && quote.request.quoteFor === 'to' && session.text('maxPay') === undefined
      ? [` --max-pay ${shellWord(most)}`]
      : [])
  ].join('')
  throw new CliError('CONFIRMATION_REQUIRED', 'This needs a confirmation, and nobody can be asked', {
    details: { summary: quoteFacts(places, quote) },
    hint: `Read details.summary, then run the command with --yes${needsLimits ? ' and the least that is to arrive' : ''}.`,
    next: [{ command: `${commandLine}${limits} --yes`, why: 'confirm it' }]
  })
}

const confirmReview = async (session: Session, places: SwapPlaces, review: SwapReview): Promise<void> => {
  const warnings = unusualFeeWarnings(places.from.wallet, review.unusualFees)
  const summary = withWarnings(reviewSummary(places, review), warnings)
  session.talk.clear()
  await approveSpend(session, summary, 'Sign and send it?')
}

/** The quote that would be approved, for `--dry-run`. Nothing was ordered. */
export const quoteResult = (places: SwapPlaces, quote: SwapQuote): CommandResult => ({
  data: { dryRun: true, quote: quoteFacts(places, quote) },
  view: {
    kind: 'record',
    fields: [
      ['provider', quote.swapInfo.displayName],
      ['pay', amountText(quote.fromNativeAmount, places.from.asset)],
      ['receive', `${quote.isEstimate ? '~' : ''}${amountText(quote.toNativeAmount, places.to.asset)}`],
      ['network fee', amountText(quote.networkFee.nativeAmount, coinOf(places.from.wallet))],
      ['state', { text: 'not ordered', tone: 'warn' }]
    ]
  }
})

const quoteFacts = ({ from, to }: SwapPlaces, quote: SwapQuote): JsonObject => ({
  plugin: {
    id: quote.pluginId,
    name: quote.swapInfo.displayName,
    type: quote.isDex ? 'DEX' : 'CEX'
  },
  from: amountJson(quote.fromNativeAmount, from.asset),
  to: amountJson(quote.toNativeAmount, to.asset),
  minReceive: quote.minReceiveAmount === undefined ? null : amountJson(quote.minReceiveAmount, to.asset),
  networkFee: amountJson(quote.networkFee.nativeAmount, coinOf(from.wallet)),
  estimate: quote.isEstimate,
  expiresAt: quote.expirationDate?.toISOString() ?? null,
  rankReasons: quote.rankReason === undefined ? [] : [quote.rankReason]
})

interface Sent {
  readonly result: SwapResult
  readonly warnings: readonly string[]
}

const sentResult = (places: SwapPlaces, quote: SwapQuote, { result, warnings }: Sent): CommandResult => {
  const { transaction, orderId, orderUri, destinationAddress } = result
  const payout = transaction.swapData?.payoutNativeAmount ?? quote.toNativeAmount
  return {
    data: {
      dryRun: false,
      txid: transaction.txid,
      orderId: orderId ?? null,
      orderUri: orderUri ?? null,
      destinationAddress,
      quote: quoteFacts(places, quote),
      tx: txDetailsJson(transaction, places.from.asset)
    },
    warnings,
    view: {
      kind: 'record',
      fields: [
        ['txid', transaction.txid],
        ['provider', quote.swapInfo.displayName],
        ['receive', `${quote.isEstimate ? '~' : ''}${amountText(payout, places.to.asset)}`],
        ['order', orderId ?? ''],
        ['watch it at', orderUri ?? ''],
        ['state', { text: 'sent', tone: 'good' }]
      ]
    },
    advice: ['See it again with: holdfast swap history']
  }
}
