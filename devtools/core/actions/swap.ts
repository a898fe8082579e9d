import {
  type CurrencyWallet,
  compact,
  type NativeAmount,
  nativeAmount,
  type OpenPaymentSnapshot,
  type QuoteRound,
  type SwapQuote,
  type SwapResult,
  type SwapReview,
  sum
} from '../../../kernel/index.ts'
import { ActionError } from '../model/action-error.ts'
import type { SpendReview } from '../model/actions.ts'
import type { DraftStore } from './drafts.ts'
import {
  approveInTurn,
  chainNotesOf,
  checkSecondPayment,
  openPaymentsOfReview
} from './open-payment-checks.ts'
import { type ActionServices, accountOf, type HandlersOf, openWalletIn, walletOf } from './services.ts'

/** A quote that is being approved, and waits for a person to say yes. */
export interface SwapDraft {
  readonly accountId: string
  readonly roundId: string
  /** Says yes or no, once; a no ends the quote. A yes can allow the network a fee that is not usual. */
  answer(said: boolean | { readonly maxNetworkFee: NativeAmount }): void
  /** The wallet that pays. */
  readonly wallet: CurrencyWallet
  /** The open payments that pay the same at present. @throws LOGGED_OUT */
  similar(): readonly OpenPaymentSnapshot[]
  /** The result of the approval. */
  readonly result: Promise<SwapResult>
}

/** Swaps: exactly the order that was reviewed is signed, once. */
export const swapHandlers = (
  services: ActionServices,
  { rounds, drafts }: { readonly rounds: OpenRounds; readonly drafts: DraftStore<SwapDraft> }
): HandlersOf<'swap'> => ({
  async 'swap.ask'({ fromWalletId, toWalletId, nativeAmount: amount, quoteFor }) {
    const { account, wallet: fromWallet } = await walletOf(services, fromWalletId)
    const toWallet = await openWalletIn(services, account, toWalletId)
    const request = { fromWallet, toWallet, nativeAmount: nativeAmount(amount), quoteFor }
    const round = account.openQuoteRound(request)
    rounds.add(account.id, round)
    return { roundId: round.id }
  },
  async 'swap.close'({ roundId }) {
    rounds.close(roundId)
    return {}
  },
  async 'swap.review'({ quoteId }) {
    const { accountId, round, quote } = rounds.find(quoteId)
    const { wallet } = await walletOf(services, quote.request.fromWalletId)
    const { review, answer, result } = await beginApproval(quote)
    // What pays is the last: others allow it to.
    const payment = review.drafts.at(-1)
    const similar = (): readonly OpenPaymentSnapshot[] =>
      payment === undefined ? [] : wallet.similarPayments(payment)
    return orDecline({ answer, result }, async () => {
      await wallet.lookAtOpenPayments()
      const open = payment === undefined ? {} : openPaymentsOfReview(wallet, payment)
      const shown = { ...reviewOf(quote, review), ...open }
      const draft = { accountId, roundId: round.id, wallet, answer, similar, result }
      return { draftId: drafts.put(draft), review: shown }
    })
  },
  async 'swap.approve'({ draftId, maxNetworkFee: most, again }) {
    const { wallet, answer, similar, result } = drafts.take(draftId)
    return approveInTurn(wallet, async () => {
      await orDecline({ answer, result }, async () =>
        checkSecondPayment(similar(), again === undefined ? {} : { again })
      )
      answer(most === undefined ? true : { maxNetworkFee: nativeAmount(most) })
      const { transaction, orderId } = await result
      return { txid: transaction.txid, ...compact({ orderId }) }
    })
  },
  async 'swap.discard'({ draftId }) {
    const { answer, result } = drafts.take(draftId)
    answer(false)
    await result.catch(() => {})
    return {}
  },
  async 'swap.enable'({ accountId, pluginId, isEnabled }) {
    await accountOf(services, accountId).swapConfig(pluginId).changeEnabled(isEnabled)
    return {}
  }
})

/** Declines an approval if what has to come before it fails. @throws what that throws */
const orDecline = async <T>(
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

/** Begins to approve a quote, up to the question whether to. @throws what the order and its drafts can meet */
const beginApproval = (
  quote: SwapQuote
): Promise<{ readonly review: SwapReview } & Pick<SwapDraft, 'answer' | 'result'>> =>
  new Promise((resolve, reject) => {
    const result = quote.approve({
      confirm: review =>
        new Promise<Parameters<SwapDraft['answer']>[0]>(answer => resolve({ review, answer, result }))
    })
    // The caller of `answer` receives a failure after the question.
    result.catch(reject)
  })

const reviewOf = ({ request }: SwapQuote, review: SwapReview): SpendReview => {
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
    ...compact({
      usualNetworkFee:
        unusualFees.length === 0 ? undefined : sum(unusualFees.map(({ usualNetworkFee }) => usualNetworkFee))
    }),
    targets: drafts.flatMap(({ spendTargets = [] }) =>
      spendTargets.map(({ publicAddress, nativeAmount: paid }) => ({ publicAddress, nativeAmount: paid }))
    ),
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

interface OpenRound {
  readonly accountId: string
  readonly round: QuoteRound
}

/** The rounds of quotes that were asked for here and are not closed. */
export class OpenRounds {
  readonly #rounds = new Map<string, OpenRound>()
  readonly #onClose: (roundId: string) => void
  #isClosed = false

  /** `closing` is called for each round before it closes. */
  constructor(closing: (roundId: string) => void) {
    this.#onClose = closing
  }

  /** Keeps a round; the oldest one makes room. @throws ActionError GONE if all are closed, and then so is this one */
  add(accountId: string, round: QuoteRound): void {
    this.#rounds.set(round.id, { accountId, round })
    const [oldest] = this.#rounds.keys()
    if (this.#rounds.size > MAX_ROUNDS && oldest !== undefined) this.close(oldest)
    if (!this.#isClosed) return
    this.close(round.id)
    throw gone('round')
  }

  /** @throws ActionError GONE */
  find(quoteId: string): OpenRound & { readonly quote: SwapQuote } {
    for (const open of this.#rounds.values()) {
      const quote = open.round.quotes.find(one => one.quoteId === quoteId)
      if (quote !== undefined) return { ...open, quote }
    }
    throw gone('quote')
  }

  /** @throws ActionError GONE */
  close(roundId: string): void {
    const open = this.#rounds.get(roundId)
    if (open === undefined) throw gone('round')
    this.#rounds.delete(roundId)
    this.#onClose(roundId)
    open.round.close()
  }

  /** Closes the rounds of an account. */
  closeOfAccount(accountId: string): void {
    for (const [roundId, open] of [...this.#rounds]) if (open.accountId === accountId) this.close(roundId)
  }

  /** Closes all of them, and those to come. */
  closeAll(): void {
    this.#isClosed = true
    for (const roundId of [...this.#rounds.keys()]) this.close(roundId)
  }
}

const gone = (what: 'quote' | 'round'): ActionError =>
  new ActionError({
    code: 'GONE',
    message: `This ${what} no longer exists`,
    details: { what },
    hint: 'It was closed, or belongs to another panel: get new quotes.'
  })

/** Each keeps quotes alive. */
const MAX_ROUNDS = 20
