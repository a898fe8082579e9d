import {
  type Account,
  compact,
  nativeAmount,
  type OpenPaymentSnapshot,
  type PluginId,
  type QuoteRound,
  type QuoteSnapshot,
  type Transaction,
  type Txid
} from '../../kernel/index.ts'
import { approve, giveUp, swapFlags, takeQuote } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import { DraftApprovals } from './draft-approvals.ts'
import { openPaymentsOfReview, payOnce } from './open-payment-checks.ts'
import { refusalOf } from './payments.ts'
import {
  about,
  amount,
  code,
  flag,
  id,
  list,
  type Nothing,
  nothing,
  number,
  object,
  oneOf,
  optional,
  pluginId,
  shortText,
  signedAmount,
  time,
  txid,
  untrusted,
  untrustedMessage
} from './schema.ts'
import { type ActionServices, accountOf, openWalletIn, walletOf } from './services.ts'
import { IN_TABLES } from './shared-fields.ts'
import {
  type ApprovedDraft,
  approvedDraft,
  type DraftedPayment,
  type DraftRef,
  draftedPayment,
  draftRef,
  type QuotesRequest,
  quotesRequest,
  type RuleRefusal
} from './spend-review.ts'
import { beginApproval, orDecline, reviewSwap } from './swap-review.ts'

interface RoundRef {
  readonly roundId: string
}

interface QuoteRef {
  readonly quoteId: string
}

interface ReviewRequest extends QuoteRef {
  readonly minReceive?: string
  readonly maxNetworkFee?: string
}

interface PaidSwap {
  readonly txid: Txid
  readonly orderId?: string
}

interface ProviderSwitch {
  readonly accountId: string
  readonly pluginId: PluginId
  readonly isEnabled: boolean
}

/** What a provider answered in a round. Amounts are native units. */
interface QuoteRow {
  readonly pluginId: PluginId
  readonly state: 'failed' | 'pending' | 'resolved' | 'timed out'
  readonly isDex: boolean
  readonly quoteId?: string
  readonly fromNativeAmount?: string
  readonly toNativeAmount?: string
  readonly minReceiveAmount?: string
  readonly networkFee?: string
  readonly isEstimate?: boolean
  readonly canBePartial?: boolean
  readonly expiresAt?: number
  readonly maxFulfillmentSeconds?: number
  readonly fate?: 'approved' | 'closed' | 'expired'
  readonly rank?: number
  readonly rankReason?: string
  readonly errorCode?: string
  readonly limit?: string
  readonly direction?: 'from' | 'to'
  readonly untrusted: { readonly displayName: string; readonly message?: string }
}

interface QuotePage {
  readonly isOver: boolean
  readonly quotes: readonly QuoteRow[]
}

/** Actions about swaps: a quote is ordered and reviewed, then approved once. */
export interface SwapActions {
  readonly 'swap.ask': { readonly in: QuotesRequest; readonly out: RoundRef }
  readonly 'swap.quotes': { readonly in: RoundRef; readonly out: QuotePage }
  readonly 'swap.compare': { readonly in: QuotesRequest; readonly out: QuotePage }
  readonly 'swap.close': { readonly in: RoundRef; readonly out: Nothing }
  readonly 'swap.review': { readonly in: ReviewRequest; readonly out: DraftedPayment }
  readonly 'swap.approve': { readonly in: ApprovedDraft; readonly out: PaidSwap }
  readonly 'swap.discard': { readonly in: DraftRef; readonly out: Nothing }
  readonly 'swap.enable': { readonly in: ProviderSwitch; readonly out: Nothing }
}

const quoteRow = object<QuoteRow>({
  pluginId,
  state: oneOf('failed', 'pending', 'resolved', 'timed out'),
  isDex: flag,
  quoteId: optional(about(id, 'Names the quote as long as its round is open')),
  fromNativeAmount: optional(signedAmount),
  toNativeAmount: optional(signedAmount),
  minReceiveAmount: optional(about(signedAmount, 'The least that arrives')),
  networkFee: optional(about(signedAmount, 'In the coin of the paying chain')),
  isEstimate: optional(about(flag, 'True if another amount may arrive')),
  canBePartial: optional(flag),
  expiresAt: optional(time),
  maxFulfillmentSeconds: optional(number),
  fate: optional(oneOf('approved', 'closed', 'expired')),
  rank: optional(about(number, '1 is the best')),
  rankReason: optional(shortText(200)),
  errorCode: optional(code(100)),
  limit: optional(about(signedAmount, 'The limit that an error names, of the side of direction')),
  direction: optional(oneOf('from', 'to')),
  untrusted: object<QuoteRow['untrusted']>({
    displayName: untrusted(),
    message: optional(untrustedMessage)
  })
})

const quoteRowOf = ({ displayName, message, ...quote }: QuoteSnapshot): QuoteRow => ({
  ...quote,
  untrusted: { displayName, ...compact({ message }) }
})

const quotePage = object<QuotePage>({
  isOver: about(flag, 'True once no more quotes come'),
  quotes: list(quoteRow, 100)
})

const roundRef = object<RoundRef>({ roundId: about(id, 'The id of a round of quotes') })

const NOT_FOR_PROGRAMS = { none: 'a swap is begun and approved by a person' }

/** Swaps: exactly the order that was reviewed is signed, once. */
export const swapActions: DeclarationsOf<SwapActions> = {
  'swap.ask': {
    title: 'Ask for quotes',
    summary: 'Asks all providers that are on for quotes of a swap between two wallets of one account.',
    effect: 'changes',
    input: quotesRequest,
    output: roundRef,
    async run(services, request) {
      const { accountId, round } = await openRound(services, request)
      services.rounds.add(accountId, round)
      return { roundId: round.id }
    },
    commandLine: (input, names) => ({ words: ['swap', 'quote'], flags: swapFlags(input, names) }),
    faces: {
      cli: 'swap quote',
      panel: 'quotes-panel',
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'swap.quotes': {
    title: 'Show the quotes of a round',
    summary: 'Shows what the providers of a round have answered: quotes first, the best on top.',
    effect: 'reads',
    input: roundRef,
    output: quotePage,
    async run({ rounds }, { roundId }) {
      const { isOver, providers } = rounds.get(roundId).getSnapshot()
      return { isOver, quotes: providers.map(quoteRowOf) }
    },
    commandLine: () => undefined,
    faces: {
      cli: { none: 'swap quote asks for quotes and lists them' },
      panel: IN_TABLES,
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'swap.compare': {
    title: 'Compare quotes of a swap',
    summary:
      'Asks all providers that are on for quotes of a swap, waits for their answers, and lists them: the best on top. They learn the amounts and where it would be paid out. Nothing can be approved.',
    effect: 'reads',
    input: quotesRequest,
    output: quotePage,
    async run(services, request) {
      const { round } = await openRound(services, request)
      let stopWaiting = (): void => {}
      try {
        const longest = new Promise<void>(resolve => {
          stopWaiting = services.io.clock.after(LONGEST_COMPARISON_MS, resolve)
        })
        // Of a round without any quote, the rows say why.
        await Promise.race([round.settled.catch(() => {}), longest])
        const { isOver, providers } = round.getSnapshot()
        return { isOver, quotes: providers.map(({ quoteId, fate, ...each }) => quoteRowOf(each)) }
      } finally {
        stopWaiting()
        round.close()
      }
    },
    commandLine: (input, names) => ({ words: ['swap', 'quote'], flags: swapFlags(input, names) }),
    faces: {
      cli: { command: 'swap quote', own: 'it keeps its round, so that a quote can be approved' },
      panel: { none: 'its rounds stay open' },
      mcp: 'tool'
    }
  },
  'swap.close': {
    title: 'Close a round of quotes',
    summary: 'Ends a round of quotes; none of them can be approved any more.',
    effect: 'changes',
    input: roundRef,
    output: nothing,
    async run({ rounds }, { roundId }) {
      rounds.close(roundId)
      return {}
    },
    commandLine: ({ roundId }, names) => ({ words: ['swap', 'close', names.quoteIdOf(roundId)] }),
    faces: {
      cli: {
        command: 'swap close',
        own: 'its quotes are kept in a file, since their round has ended with its command'
      },
      panel: 'quotes-panel',
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'swap.review': {
    title: 'Review a swap',
    summary:
      'Makes the order of a quote and gives its review. Nothing is signed before the draft is approved.',
    effect: 'changes',
    input: object<ReviewRequest>({
      quoteId: about(id, 'The id of a quote of an open round'),
      minReceive: optional(about(amount, 'The least that must arrive; less is refused')),
      maxNetworkFee: optional(about(amount, 'The most for the network, unusual or not; more is refused'))
    }),
    output: draftedPayment,
    async run(services, { quoteId, ...limits }) {
      const { accountId, round, quote } = services.rounds.find(quoteId)
      const { account, wallet } = await walletOf(services, quote.request.fromWalletId)
      const { review, answer, result } = await beginApproval(quote, limits)
      // What pays is the last: others allow it to.
      const payment = review.drafts.at(-1)
      const similar = (): readonly OpenPaymentSnapshot[] =>
        payment === undefined ? [] : wallet.similarPayments(payment)
      return orDecline({ answer, result }, async () => {
        await wallet.lookAtOpenPayments()
        const open = payment === undefined ? {} : openPaymentsOfReview(wallet, payment)
        const refusal = await firstRefusal(account, review.drafts)
        const shown = { ...reviewSwap(wallet, quote.request, review), ...open, ...compact({ refusal }) }
        const approvals = new DraftApprovals(account, review.drafts)
        const draft = { accountId, roundId: round.id, wallet, review, approvals, answer, similar, result }
        return { draftId: services.swaps.put(draft), review: shown }
      })
    },
    commandLine: ({ quoteId }, names) => takeQuote(quoteId, names),
    faces: {
      cli: 'swap run',
      panel: 'quote-details',
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'swap.approve': {
    title: 'Approve a swap',
    summary: 'Signs and sends the payment of a swap that was reviewed, once.',
    effect: 'pays',
    input: approvedDraft,
    output: object<PaidSwap>({ txid, orderId: optional(code(200)) }),
    async run({ swaps, approval }, { draftId, maxNetworkFee: most, again }) {
      const { wallet, approvals: given, answer, similar, result } = swaps.take(draftId)
      const approvals = await orDecline({ answer, result }, () =>
        given.complete(each => approval?.secondDevice?.(each))
      )
      return orDecline({ answer, result }, () =>
        payOnce({ walletId: wallet.id, similar, again, approval }, async () => {
          approval?.onStart()
          answer({ maxNetworkFee: most === undefined ? undefined : nativeAmount(most), approvals })
          const { transaction, orderId } = await result
          approval?.onSent(transaction)
          return { txid: transaction.txid, ...compact({ orderId }) }
        })
      )
    },
    commandLine: approve,
    faces: {
      cli: 'swap run',
      panel: 'review-dialog',
      mcp: { none: 'a person or a policy approves a proposal, never the program that made it' }
    }
  },
  'swap.discard': {
    title: 'Discard a swap',
    summary: 'Gives up a swap that was reviewed; its quote ends.',
    effect: 'changes',
    input: draftRef,
    output: nothing,
    async run({ swaps }, { draftId }) {
      const { approvals, answer, result } = swaps.take(draftId)
      approvals.cancel()
      answer(false)
      await result.catch(() => {})
      return {}
    },
    commandLine: giveUp,
    faces: {
      cli: 'swap run',
      panel: 'review-state',
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'swap.enable': {
    title: 'Turn a provider on or off',
    summary: 'Turns a provider of swaps on or off for an account.',
    effect: 'changes',
    input: object<ProviderSwitch>({
      accountId: about(id, 'The id of an open account'),
      pluginId: about(pluginId, 'The provider'),
      isEnabled: flag
    }),
    output: nothing,
    async run(services, { accountId, pluginId: provider, isEnabled }) {
      await accountOf(services, accountId).swapConfig(provider).changeEnabled(isEnabled)
      return {}
    },
    commandLine: ({ accountId, pluginId: provider, isEnabled }, names) => ({
      words: ['swap', isEnabled ? 'enable' : 'disable', provider],
      flags: { account: names.accountFlagOf(accountId) }
    }),
    faces: { cli: 'swap enable', panel: 'plugins-panel', mcp: 'tool' }
  }
}

/** The first payment of a swap that the rules refuse says why. */
const firstRefusal = async (
  account: Account,
  drafts: readonly Transaction[]
): Promise<RuleRefusal | undefined> => {
  for (const draft of drafts) {
    const refusal = await refusalOf({ account }, draft)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** The longest that a comparison waits for a first quote. */
const LONGEST_COMPARISON_MS = 30_000

const openRound = async (
  services: ActionServices,
  {
    fromWalletId,
    toWalletId,
    fromTokenId,
    toTokenId,
    nativeAmount: swapped,
    quoteFor,
    ...options
  }: QuotesRequest
): Promise<{ readonly accountId: string; readonly round: QuoteRound }> => {
  const { account, wallet: fromWallet } = await walletOf(services, fromWalletId)
  const toWallet = await openWalletIn(services, account, toWalletId)
  const tokens = { fromTokenId: fromTokenId ?? null, toTokenId: toTokenId ?? null }
  const request = { fromWallet, toWallet, ...tokens, nativeAmount: nativeAmount(swapped), quoteFor }
  return { accountId: account.id, round: account.openQuoteRound(request, options) }
}
