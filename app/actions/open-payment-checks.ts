import {
  add,
  type CurrencyWallet,
  compact,
  Mutex,
  type NativeAmount,
  nativeAmount,
  negate,
  networkFeesOf,
  type OpenPaymentSnapshot,
  type SpendInfo,
  subtract,
  sum,
  type TokenId,
  type Transaction,
  type Txid,
  WalletError,
  type WalletId,
  ZERO
} from '../../kernel/index.ts'
import { forgetWord, secondPaymentText } from '../format/payment-texts.ts'
import { ActionError } from './action-error.ts'
import type { ApprovalListener } from './services.ts'
import { displayOf, unitsOfAsset } from './shared-fields.ts'
import { openPaymentOf, type SpendReview } from './spend-review.ts'

/** Finds an open payment after a look at the network, with its transaction. @throws TX_NOT_FOUND if no such payment is open */
export const findOpenPayment = async (
  wallet: CurrencyWallet,
  txid: Txid
): Promise<{ readonly payment: OpenPaymentSnapshot; readonly tx: Transaction }> => {
  const payment = (await wallet.lookAtOpenPayments()).find(open => open.txid === txid)
  if (payment === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
  const unfinished = wallet.unfinishedSpends().find(({ tx }) => tx.txid === txid)
  return { payment, tx: unfinished?.tx ?? (await wallet.getTransaction(txid, payment.tokenId)) }
}

/**
 * Lists what is open beside a payment that is about to be approved, except what another of these has replaced. That a
 * payment of which this device does not have the bytes has replaced it is only what a server says.
 */
const otherOpenPayments = (
  wallet: CurrencyWallet,
  own: Pick<Transaction, 'txid'>
): readonly OpenPaymentSnapshot[] => {
  const { openPayments } = wallet.getSnapshot()
  const txids = new Set(openPayments.map(({ txid }) => txid))
  return openPayments.filter(
    ({ txid, state, replacedBy = '' }) =>
      txid !== own.txid && !(state === 'replaced' && txids.has(replacedBy))
  )
}

/** Returns what a review says of open payments: those that pay the same come first. What there is not is left out. */
export const openPaymentsOfReview = (
  wallet: CurrencyWallet,
  draft: Transaction
): Pick<SpendReview, 'openCount' | 'openPayments' | 'replaces' | 'similar'> => {
  // What was signed before is an open payment itself.
  const similar = wallet.similarPayments(draft).filter(({ txid }) => txid !== draft.txid)
  return {
    ...openPaymentsBeside(wallet, draft, similar),
    ...compact({
      similar: similar.length === 0 ? undefined : similar.map(({ txid }) => txid),
      replaces: draft.replaces
    })
  }
}

/** Returns what is open beside a payment; those of `similar` come first. What there is not is left out. */
export const openPaymentsBeside = (
  wallet: CurrencyWallet,
  own: Pick<Transaction, 'txid'>,
  similar: readonly OpenPaymentSnapshot[] = []
): Pick<SpendReview, 'openCount' | 'openPayments'> => {
  const others = otherOpenPayments(wallet, own)
  const txids = new Set(similar.map(({ txid }) => txid))
  const shown = [...similar, ...others.filter(({ txid }) => !txids.has(txid))].slice(0, MAX_SHOWN)
  return compact({
    openPayments: shown.length === 0 ? undefined : shown.map(openPaymentOf),
    openCount: others.length <= shown.length ? undefined : others.length
  })
}

/** An approved payment that takes its turn. */
export interface PaymentInTurn {
  readonly walletId: WalletId
  /** The open payments that pay the same at present. @throws what ends the payment, such as LOGGED_OUT */
  similar(): Promise<readonly OpenPaymentSnapshot[]> | readonly OpenPaymentSnapshot[]
  /** Those that a person has read. */
  readonly again?: readonly string[] | undefined
  readonly approval?: Pick<ApprovalListener, 'allowAgain'> | undefined
}

/**
 * Pays in turn, unless that would pay the same amount to the same payee again. Only a yes to each of these open payments
 * allows it: one that was made after the review has not been read. Where a person waits, they are asked about that one; other
 * payments of the wallet do not wait for the answer, and what they have done by then is looked at once more.
 *
 * @throws ActionError CONFIRMATION_REQUIRED, and what `allowAgain` and `similar` throw
 */
export const payOnce = async <T>(
  { walletId, similar, again = [], approval }: PaymentInTurn,
  pay: () => Promise<T>
): Promise<T> => {
  const allowed = new Set<string>(again)
  for (;;) {
    const turn = await inTurn(walletId, async () => {
      const later = (await similar()).map(({ txid }) => txid).filter(txid => !allowed.has(txid))
      return later.length === 0 ? { paid: await pay() } : { later }
    })
    if ('paid' in turn) return turn.paid
    const { later } = turn
    if (approval === undefined) throw secondPayment(later[0] ?? '')
    await approval.allowAgain(later)
    for (const txid of later) allowed.add(txid)
  }
}

const secondPayment = (txid: Txid): ActionError =>
  new ActionError({
    code: 'CONFIRMATION_REQUIRED',
    message: `${secondPaymentText(txid)}.`,
    details: { txid },
    hint: 'Nothing was signed. It may still be mined, and then you pay twice. Send it again or replace it, or review this payment again.'
  })

/**
 * Makes a call that looks at a wallet and then changes it after those of others, whichever panel or command makes them. Of two
 * payments that were approved at once, the second sees that the first is open and pays the same.
 */
export const inTurn = <T>(walletId: WalletId, call: () => Promise<T>): Promise<T> => {
  const mutex = mutexes.get(walletId) ?? new Mutex()
  mutexes.set(walletId, mutex)
  return mutex.run(call)
}

const mutexes = new Map<WalletId, Mutex>()

/** Refuses to forget a payment unless the start of its txid was typed. @throws ActionError CONFIRMATION_REQUIRED */
export const checkForgetConfirmation = ({
  txid,
  confirm
}: {
  readonly txid: Txid
  readonly confirm: string
}): void => {
  const word = forgetWord(txid)
  if (confirm.trim() === word) return
  throw new ActionError({
    code: 'CONFIRMATION_REQUIRED',
    message: `This cannot be undone: type "${word}" to confirm.`,
    details: { txid }
  })
}

const MAX_SHOWN = 20

/**
 * What payments tell the chain besides whom they pay: a memo can decide where a swap pays out to, and a call has nothing
 * but its parameters. What there is not is left out (pure).
 *
 * @param drafts - what is signed
 * @param spends - what the drafts were made of
 */
export const chainNotesOf = (
  drafts: readonly Transaction[],
  spends: readonly SpendInfo[] = []
): Pick<SpendReview, 'untrusted'> => {
  const memos = drafts.flatMap(draft =>
    draft.memos.map(({ type, value }) => (type === 'text' ? value : `${type}:${value}`))
  )
  const params = spends
    .flatMap(({ otherParams, spendTargets }) => [otherParams, ...spendTargets.map(each => each.otherParams)])
    .flatMap(each => (each === undefined ? [] : JSON.stringify(each)))
  if (memos.length === 0 && params.length === 0) return {}
  return {
    untrusted: compact({
      memos: memos.length === 0 ? undefined : memos,
      params: params.length === 0 ? undefined : params
    })
  }
}

/** Returns what the network takes for payments in tokens, one sum for each token. */
export const tokenFeesOf = (
  wallet: CurrencyWallet,
  txs: readonly Transaction[]
): Pick<SpendReview, 'tokenFees'> => tokenFeesAmong(wallet, txs.flatMap(networkFeesOf))

/** Returns the sums of network fees in tokens, one for each token. */
export const tokenFeesAmong = (
  wallet: CurrencyWallet,
  fees: Required<OpenPaymentSnapshot>['networkFees'] = []
): Pick<SpendReview, 'tokenFees'> => {
  const sums = new Map<TokenId, NativeAmount>()
  for (const { tokenId, nativeAmount: fee } of fees)
    if (tokenId !== null) sums.set(tokenId, add(sums.get(tokenId) ?? ZERO, nativeAmount(fee)))
  if (sums.size === 0) return {}
  const tokenFees = [...sums].map(([tokenId, fee]) => {
    const units = unitsOfAsset(wallet, tokenId)
    const { currencyCode } = units
    return { tokenId, currencyCode, nativeAmount: fee, display: displayOf(fee, units) }
  })
  return { tokenFees }
}

/** Returns what payments take of one asset of a wallet, fees included, and what they leave of it. */
export const costOf = (
  wallet: CurrencyWallet,
  drafts: readonly Transaction[],
  tokenId: TokenId | null
): Pick<SpendReview, 'remaining' | 'total'> => {
  const total = sum(
    drafts.filter(draft => draft.tokenId === tokenId).map(draft => negate(draft.nativeAmount))
  )
  return { total, remaining: subtract(wallet.balanceOf(tokenId), total) }
}
