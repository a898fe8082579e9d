import type { SpendReview } from '../../app/actions/spend-review.ts'
import { swapActions } from '../../app/actions/swaps.ts'
import { type Asset, amountIn, amountJson } from '../../app/format/amounts.ts'
import { OWN_CHECK_TEXT, tokenFeeText } from '../../app/format/payment-texts.ts'
import { shellWord } from '../../app/format/safe-text.ts'
import {
  amountText,
  compact,
  compare,
  type JsonObject,
  nativeAmount,
  type SpendInfo,
  type SwapQuote,
  type SwapResult,
  type SwapReview
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { localTime } from '../output/texts.ts'
import { txDetailsJson } from '../output/transaction-texts.ts'
import type { CommandResult } from '../output/view.ts'
import type { QuoteChoice } from '../screens/quote-screen.tsx'
import { coinOf } from '../session/assets.ts'
import type { Session } from '../session/session.ts'
import {
  allowUnusualFees,
  approveSpend,
  sentBy,
  syncAfterPayment,
  unusualFeeWarnings
} from '../spend/approve-spend.ts'
import { withRules } from '../spend/rule-texts.ts'
import { type SpendSummary, summaryOf, withWarnings } from '../spend/summary.ts'
import { safeText } from '../terminal/safe-text.ts'
import { canPrompt } from '../terminal/terminal.ts'
import { keptResult, requestQuotes } from './collect-quotes.ts'
import { quoteLines } from './quote-texts.ts'
import { type SwapLimits, type SwapQuery, type SwapSides, sideName } from './read-swap.ts'

/** Shows quotes as they arrive until the user chooses one, which is then reviewed and approved, or none. */
export const chooseAndApprove = async (session: Session, query: SwapQuery): Promise<CommandResult> => {
  for (;;) {
    const result = await oneRound(session, query)
    if (result !== undefined) return result
  }
}

/** Runs one round; undefined if the user requests another. */
const oneRound = async (session: Session, query: SwapQuery): Promise<CommandResult | undefined> => {
  const [{ chooseQuote }, { io }] = await Promise.all([
    import('../screens/quote-screen.tsx'),
    session.world()
  ])
  const { clock } = io
  const running = await requestQuotes(session, query)
  const { round } = running
  const until = clock.monotonic() + query.options.waitMs
  try {
    const choice: QuoteChoice = await chooseQuote(session.terminal, {
      title: titleOf(query),
      isAscii: session.globals.ascii,
      signal: session.signal,
      getRound() {
        const { providers, isOver } = round.getSnapshot()
        return { isOver, rows: providers.map(quote => quoteLines(quote, query.sides, clock.now())) }
      },
      subscribe: round.subscribe,
      waitLeftMs: () => until - clock.monotonic(),
      stopWaiting: () => round.stop()
    })
    if (choice.kind === 'again') return undefined
    if (choice.kind === 'chosen') {
      const quote = round.quotes.find(({ quoteId }) => quoteId === choice.quoteId)
      if (quote === undefined) throw new CliError('NOT_FOUND', 'That quote has ended')
      return await approveOnTerminal(session, query, quote)
    }
    return await keptResult(session, query, round.getSnapshot().providers)
  } finally {
    running.close()
  }
}

/** Describes the requested swap in a line. */
const titleOf = ({ sides, request }: SwapQuery): string => {
  const { quoteFor, nativeAmount } = request
  if (quoteFor === 'max') return `All ${sides.from.asset.currencyCode} ${wayOf(sides)}`
  const asset = quoteFor === 'to' ? sides.to.asset : sides.from.asset
  return `${amountText(nativeAmount, asset)} ${wayOf(sides)}`
}

const wayOf = ({ from, to }: SwapSides): string => `from ${sideName(from)} to ${sideName(to)}`

/** The first of the ranked quotes that is within the limits. @throws CliError MIN_RECEIVE if none is */
export const bestWithin = ({ sides, limits }: SwapQuery, quotes: readonly SwapQuote[]): SwapQuote => {
  const best = quotes.find(quote => isWithin(quote, limits))
  if (best !== undefined) return best
  const [first] = quotes
  throw new CliError('MIN_RECEIVE', 'No quote is within --min-receive, --max-pay and --max-fee', {
    details: first === undefined ? {} : { best: quoteFacts(sides, first) },
    hint:
      first === undefined
        ? 'Get new quotes.'
        : `The best is ${amountText(first.minReceiveAmount ?? first.toNativeAmount, sides.to.asset)} for ${amountText(first.fromNativeAmount, sides.from.asset)} from ${first.swapInfo.displayName}, for a fee of ${amountText(first.networkFee.nativeAmount, coinOf(sides.from.wallet))}.`
  })
}

const isWithin = (
  { fromNativeAmount, toNativeAmount, minReceiveAmount, networkFee }: SwapQuote,
  { minReceive, maxPay, maxNetworkFee }: SwapLimits
): boolean =>
  (minReceive === undefined || compare(minReceiveAmount ?? toNativeAmount, minReceive) >= 0) &&
  (maxPay === undefined || compare(fromNativeAmount, maxPay) <= 0) &&
  (maxNetworkFee === undefined || compare(networkFee.nativeAmount, maxNetworkFee) <= 0)

/** The further steps of approving a kept quote. */
export interface KeptApproval {
  /** Called before the review. @throws SWAP_CHANGED if the order is worse than the kept terms */
  checkOrder(review: SwapReview): void
  /** Called at the last moment before signing. @throws QUOTE_ENDED if another process has approved or closed it */
  claim(): void
  /** Called with the error if it was not paid, or may not have been. */
  failed(error: unknown): void
}

/**
 * Orders, reviews, signs and sends a swap. Until the review is approved nothing is sent, and Ctrl-C ends it; afterwards
 * the payment is in the journal before it is sent.
 *
 * @throws CliError CONFIRMATION_REQUIRED, DECLINED, INTERRUPTED; QUOTE_ENDED, SWAP_CHANGED and the errors of a spend
 */
export const approveOnTerminal = async (
  session: Session,
  { sides, limits }: SwapQuery,
  quote: SwapQuote,
  kept?: KeptApproval
): Promise<CommandResult> => {
  checkCanConfirm(session, sides, quote, kept === undefined)
  session.statusLine.step(`ordering from ${quote.swapInfo.displayName}…`)
  const { minReceive, maxNetworkFee } = limits
  const { quoteId } = quote
  const { draftId, review: shown } = await session.run(swapActions['swap.review'], {
    quoteId,
    ...compact({ minReceive, maxNetworkFee })
  })
  const { swaps } = await session.actionServices()
  // It was put there just now.
  const { review, result } = swaps.find(draftId) ?? swaps.take(draftId)
  const summed = withWarnings(
    reviewSummary(sides, review, shown),
    unusualFeeWarnings(sides.from.wallet, review.unusualFees)
  )
  const payment = review.drafts.at(-1)
  const summary = payment === undefined ? summed : await withRules(await session.account(), payment, summed)
  try {
    const allowed = await orDiscard(session, draftId, async () => {
      kept?.checkOrder(review)
      session.statusLine.clear()
      await approveSpend(session, summary, 'Sign and send it?')
      const unusual = maxNetworkFee === undefined ? review.unusualFees : []
      const fee = await allowUnusualFees(session, sides.from.wallet, unusual)
      session.signal.throwIfAborted()
      return fee === undefined ? undefined : review.networkFee.nativeAmount
    })
    await sentBy(session, summary, approval =>
      session.run(
        swapActions['swap.approve'],
        { draftId, again: summary.similar, ...compact({ maxNetworkFee: allowed }) },
        {
          approval: {
            ...approval,
            onStart() {
              session.signal.throwIfAborted()
              kept?.claim()
              approval.onStart()
            }
          }
        }
      )
    )
  } catch (error) {
    kept?.failed(error)
    throw error
  }
  const warnings = await syncAfterPayment(session, sides.from.wallet)
  return sentResult(sides, quote, { result: await result, warnings })
}

/** Gives up a swap that is not approved. @throws what the approval throws */
const orDiscard = async <T>(session: Session, draftId: string, approve: () => Promise<T>): Promise<T> => {
  try {
    return await approve()
  } catch (error) {
    // After ten minutes it has ended by itself.
    await session.run(swapActions['swap.discard'], { draftId }).catch(() => {})
    throw error
  }
}

/** Checks before anything is ordered that the swap can be confirmed; a script gets the command that confirms it. */
const checkCanConfirm = (
  session: Session,
  sides: SwapSides,
  quote: SwapQuote,
  needsLimits: boolean
): void => {
  const { globals, terminal, commandLine } = session
  if (globals.yes || (globals.input && canPrompt(terminal))) return
  const least = amountText(quote.minReceiveAmount ?? quote.toNativeAmount, sides.to.asset)
  const most = amountText(quote.fromNativeAmount, sides.from.asset)
  const limits = [
    ...(needsLimits && session.text('minReceive') === undefined
      ? [` --min-receive ${shellWord(least)}`]
      : []),
    ...(needsLimits && quote.request.quoteFor === 'to' && session.text('maxPay') === undefined
      ? [` --max-pay ${shellWord(most)}`]
      : [])
  ].join('')
  throw new CliError(
    'CONFIRMATION_REQUIRED',
    'This needs a confirmation, but there is no terminal for a prompt',
    {
      details: { summary: quoteFacts(sides, quote) },
      hint: `Read details.summary, then run the command with --yes${needsLimits ? ' and the least that must arrive' : ''}.`,
      next: [{ command: `${commandLine}${limits} --yes`, why: 'confirm it' }]
    }
  )
}

/** The result of `--dry-run`: the quote that would be approved. Nothing was ordered. */
export const quoteResult = (sides: SwapSides, quote: SwapQuote): CommandResult => ({
  data: { dryRun: true, quote: quoteFacts(sides, quote) },
  view: {
    kind: 'record',
    fields: [
      ['provider', quote.swapInfo.displayName],
      ['pay', amountText(quote.fromNativeAmount, sides.from.asset)],
      ['receive', `${quote.isEstimate ? '~' : ''}${amountText(quote.toNativeAmount, sides.to.asset)}`],
      ['network fee', amountText(quote.networkFee.nativeAmount, coinOf(sides.from.wallet))],
      ['state', { text: 'not ordered', tone: 'warn' }]
    ]
  }
})

const quoteFacts = ({ from, to }: SwapSides, quote: SwapQuote): JsonObject => ({
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

const sentResult = (sides: SwapSides, quote: SwapQuote, { result, warnings }: Sent): CommandResult => {
  const { transaction, orderId, orderUri, destinationAddress } = result
  const payout = transaction.swapData?.payoutNativeAmount ?? quote.toNativeAmount
  return {
    data: {
      dryRun: false,
      txid: transaction.txid,
      orderId: orderId ?? null,
      orderUri: orderUri ?? null,
      destinationAddress,
      quote: quoteFacts(sides, quote),
      tx: txDetailsJson(transaction, sides.from.asset)
    },
    warnings,
    view: {
      kind: 'record',
      fields: [
        ['txid', transaction.txid],
        ['provider', quote.swapInfo.displayName],
        ['receive', `${quote.isEstimate ? '~' : ''}${amountText(payout, sides.to.asset)}`],
        ['order', orderId ?? ''],
        ['watch it at', orderUri ?? ''],
        ['state', { text: 'sent', tone: 'good' }]
      ]
    },
    advice: ['See it again with: holdfast swap history']
  }
}

/** Sums up a swap before it is signed: the payment as of `send`, and the payout with its provider and address. */
export const reviewSummary = (sides: SwapSides, review: SwapReview, shown: SpendReview): SpendSummary => {
  const { from, to } = sides
  const { drafts, spends, swapInfo } = review
  const payment = drafts.at(-1)
  if (payment === undefined) throw new TypeError('A swap without payment')
  const spend = summaryOf(from.wallet, payment, from.asset)
  const { isEstimate, toNativeAmount: arriving = '', minReceive: least, allowances = [], expiresAt } = shown
  const receive = amountIn(arriving, to.asset)
  const promise =
    least === undefined ? 'an estimate: less may arrive' : `at least ${amountIn(least, to.asset)}`
  const approvals = spends.slice(0, -1)
  const params = paramsText(spends.at(-1))
  const coin = coinOf(from.wallet)
  const jsonIn = (native: string, asset: Asset) => amountJson(nativeAmount(native), asset)
  return {
    lines: [
      ['swap with', `${safeText(swapInfo.displayName)} (${swapInfo.isDex ? 'DEX' : 'CEX'})`],
      ['receive', isEstimate ? `~${receive}, ${promise}` : receive],
      ['into', sideName(to)],
      ...approvals.map((approval, at) => [`approval ${at + 1}`, approvalText(approval)] as const),
      ...allowances.map(
        ({ spender, nativeAmount: most }) =>
          ['allows', `${spender} to take ${amountIn(most, from.asset)}`] as const
      ),
      ...spend.lines,
      ...(params === '' ? [] : [['calls with', params] as const]),
      ...(approvals.length === 0
        ? []
        : [['all fees', [amountIn(shown.networkFee, coin), ...tokenFeeTexts(shown)].join(', ')] as const]),
      ...(shown.isOwnCheckComplete ? [] : [['careful', OWN_CHECK_TEXT] as const]),
      ...(expiresAt === undefined ? [] : [['pay before', localTime(new Date(expiresAt))] as const])
    ],
    recipients: spend.recipients,
    similar: spend.similar,
    tokenFees: shown.tokenFees ?? [],
    json: {
      ...spend.json,
      swap: {
        plugin: { id: swapInfo.pluginId, name: swapInfo.displayName, type: swapInfo.isDex ? 'DEX' : 'CEX' },
        receive: jsonIn(arriving, to.asset),
        minReceive: least === undefined ? null : jsonIn(least, to.asset),
        estimate: isEstimate === true,
        toWalletId: to.wallet.id,
        payoutAddress: shown.payoutAddress ?? null,
        approvals: approvals.map(spendJson),
        allowances: allowances.map(({ spender, nativeAmount: most }) => ({
          spender,
          amount: jsonIn(most, from.asset)
        })),
        ownAddressesDerived: shown.isOwnCheckComplete === true,
        params: spends.at(-1)?.otherParams ?? null,
        networkFee: jsonIn(shown.networkFee, coin),
        orderId: shown.orderId ?? null,
        expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString()
      }
    }
  }
}

/** Describes the call of a token approval: only its data shows what it allows. */
const approvalText = (spend: SpendInfo): string => {
  const { spendTargets, memos = [] } = spend
  const calls = spendTargets.map(({ publicAddress = '' }) => publicAddress).join(', ')
  const said = memos.map(({ type, value }) => `${type}:${safeText(value)}`)
  return ['calls', calls, ...said, paramsText(spend)].filter(text => text !== '').join(' ')
}

/** Formats the parameters of a spend; cut if they would push the rest off the screen. */
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

const tokenFeeTexts = ({ tokenFees = [] }: SpendReview): readonly string[] =>
  tokenFees.map(paid => safeText(tokenFeeText(paid)))
