import { payOnce, tokenFeesOf } from '../../app/actions/open-payment-checks.ts'
import { paymentActions } from '../../app/actions/payments.ts'
import type { ApprovalListener } from '../../app/actions/services.ts'
import type { DraftedPayment, TokenFee } from '../../app/actions/spend-review.ts'
import type { Asset } from '../../app/format/amounts.ts'
import { oldFormText, unusualFeeText } from '../../app/format/payment-texts.ts'
import {
  amountText,
  type CurrencyWallet,
  coinFeeOf,
  compact,
  type NativeAmount,
  parseAmount,
  type SignOptions,
  sum,
  type Transaction,
  type UnusualFee,
  unusualFeeOf,
  WalletError,
  ZERO
} from '../../kernel/index.ts'
import { AdvisedError, CliError } from '../errors/cli-error.ts'
import { failureOf } from '../errors/failure.ts'
import { txDetailsJson } from '../output/transaction-texts.ts'
import type { CommandResult } from '../output/view.ts'
import { promptText } from '../secrets/prompt.ts'
import { coinOf } from '../session/assets.ts'
import { confirm } from '../session/confirm.ts'
import type { Session } from '../session/session.ts'
import { canPrompt } from '../terminal/terminal.ts'
import { allowSecondPayment } from './open-payments.ts'
import { withRules } from './rule-texts.ts'
import { approvalFor } from './second-device.ts'
import {
  checkMaxFee,
  type SpendSummary,
  summaryLines,
  summaryOf,
  tokenFeeLines,
  withWarnings
} from './summary.ts'

/** A payment to draft. `limit`: of {@link maxFeeOf}. */
export interface SpendToDraft {
  readonly asset: Asset
  readonly limit: NativeAmount | undefined
  /** Runs the action that drafts it. */
  make(): Promise<DraftedPayment>
}

/** A drafted payment with its summary. */
export interface DraftedSpend {
  readonly summary: SpendSummary
  /** Asks as {@link approveSpend}, then for an unusual fee; returns the highest fee that is allowed, if that was asked. */
  approve(question: string): Promise<NativeAmount | undefined>
  /** Takes the draft out, to be signed without the action. */
  take(): Promise<Transaction>
  /** Signs and sends it, after {@link approve}. */
  pay(maxNetworkFee: NativeAmount | undefined): Promise<Transaction>
}

/** Returns the highest network fee, as set by `--max-fee`. @throws AMOUNT_INVALID */
export const maxFeeOf = (session: Session, { currencyInfo }: CurrencyWallet): NativeAmount | undefined => {
  const maxFee = session.text('maxFee')
  return maxFee === undefined ? undefined : parseAmount(maxFee, currencyInfo)
}

/** Drafts a payment, to be approved. @throws MAX_FEE and the spend errors */
export const draftSpend = async (
  session: Session,
  wallet: CurrencyWallet,
  { asset, limit, make }: SpendToDraft
): Promise<DraftedSpend> => {
  const { draftId, review } = await make()
  const { spends } = await session.actionServices()
  // It was put there just now.
  const { draft } = spends.find(draftId) ?? spends.take(draftId)
  checkMaxFee(wallet, draft, limit)
  const fee = limit === undefined ? unusualFeeOf(draft) : undefined
  const unusual = fee === undefined ? [] : [fee]
  const { displayName } = wallet.currencyInfo
  const summed = withWarnings(summaryOf(wallet, draft, asset, review), [
    ...(review.legacyAddresses ?? []).map(address => oldFormText(address, displayName)),
    ...unusualFeeWarnings(wallet, unusual)
  ])
  const summary = await withRules(await session.account(), draft, summed)
  return {
    summary,
    async approve(question) {
      await approveSpend(session, summary, question)
      return limit ?? allowUnusualFees(session, wallet, unusual)
    },
    take: async () => spends.take(draftId).draft,
    pay: maxNetworkFee =>
      sentBy(session, summary, approval =>
        session.run(
          paymentActions['spend.approve'],
          { draftId, again: summary.similar, ...compact({ maxNetworkFee }) },
          { approval }
        )
      )
  }
}

/** Runs an action that sends a payment, and follows it. @returns what was sent */
export const sentBy = async (
  session: Session,
  { json }: Pick<SpendSummary, 'json'>,
  run: (approval: ApprovalListener) => Promise<unknown>
): Promise<Transaction> => {
  let sent: Transaction | undefined
  await run({
    ...followed(session, 'signing'),
    secondDevice: draft => approvalFor(session, draft),
    allowAgain: similar => allowSecondPayment(session, { similar, json }),
    onStart: () => session.paying(),
    onSent(tx) {
      sent = tx
    }
  })
  if (sent === undefined) throw new TypeError('A payment that was sent is not known')
  return sent
}

/** Shows the progress of a long signature or search, and lets Ctrl-C stop it; a signed payment is sent all the same. */
export const followed = (
  { signal, statusLine }: Session,
  what: string
): Required<Pick<SignOptions, 'onProgress' | 'signal'>> => ({
  signal,
  onProgress: ratio => statusLine.step(`${what}… ${Math.floor(ratio * 100)} %`)
})

/**
 * Shows the review and asks for approval, no by default. `question`: the effect of a yes. `--yes` is none to a network fee in
 * a token, of which nobody knows what is usual.
 *
 * @throws MAX_FEE; CliError CONFIRMATION_REQUIRED, DECLINED, INTERRUPTED
 */
export const approveSpend = async (
  session: Session,
  summary: SpendSummary,
  question: string
): Promise<void> => {
  if (session.globals.yes) {
    for (const line of summaryLines(summary)) session.statusLine.info(line)
    const [fee] = summary.tokenFees
    if (fee !== undefined) throw tokenFeeRefused(fee)
  }
  await confirm(session, {
    question,
    summary: summary.json,
    async prompt() {
      const { showSendReview } = await import('../screens/review.tsx')
      const { real } = await session.world()
      const network = real === undefined ? 'fake world' : `${real.network} network`
      return showSendReview(session.terminal, summary, { question, network, lines: summaryLines(summary) })
    }
  })
  await allowSecondPayment(session, summary)
}

const tokenFeeRefused = ({ tokenId, nativeAmount: networkFee }: TokenFee): AdvisedError =>
  new AdvisedError(new WalletError('MAX_FEE', { networkFee, maxFee: ZERO, currencyCode: tokenId }), {
    hint: 'Nothing was signed. Neither --yes nor --max-fee allows a fee in a token: run the command at a terminal without them, and answer its question.'
  })

/**
 * Makes an approved payment after those that other commands make from the wallet. One of the same amount to the same payee
 * that they have made since the review is asked about.
 *
 * @param check - throws if the payment must not be made any more
 * @throws CliError CONFIRMATION_REQUIRED, DECLINED, INTERRUPTED
 */
export const payInTurn = <T>(
  session: Session,
  {
    wallet,
    draft,
    summary: { similar: again, json },
    check
  }: { wallet: CurrencyWallet; draft: Transaction; summary: SpendSummary; check: () => void },
  pay: () => Promise<T>
): Promise<T> => {
  const similar = () => {
    session.signal.throwIfAborted()
    check()
    return wallet.similarPayments(draft)
  }
  const allowAgain = (txids: readonly string[]) => allowSecondPayment(session, { similar: txids, json })
  return payOnce({ walletId: wallet.id, similar, again, approval: { allowAgain } }, () => {
    session.paying()
    return pay()
  })
}

/** Returns the warnings of a review about unusual network fees. */
export const unusualFeeWarnings = (
  { currencyInfo }: CurrencyWallet,
  fees: readonly UnusualFee[]
): readonly string[] => fees.map(fee => unusualFeeText(fee, currencyInfo))

/**
 * Asks for a typed approval of an unusual network fee, and returns the approved fee; undefined if all fees are usual.
 * `--yes` does not approve it, only `--max-fee` does.
 *
 * @throws FEE_UNUSUAL if no prompt is possible; CliError DECLINED, INTERRUPTED
 */
export const allowUnusualFees = async (
  { globals, terminal }: Session,
  { currencyInfo }: CurrencyWallet,
  fees: readonly UnusualFee[]
): Promise<NativeAmount | undefined> => {
  const [first] = fees
  if (first === undefined) return undefined
  const { currencyCode } = currencyInfo
  if (globals.yes || !globals.input || !canPrompt(terminal))
    throw new WalletError('FEE_UNUSUAL', { ...first, currencyCode })
  const networkFee = sum(fees.map(fee => fee.networkFee))
  const typed = await promptText(
    terminal,
    `Pay ${amountText(networkFee, currencyInfo)} to the network, more than ten times the usual? Type "yes":`
  )
  if (typed.trim() === 'yes') return networkFee
  throw new CliError('DECLINED', 'You did not allow the network fee; nothing was signed')
}

/** Syncs a wallet after a payment; a failure is a warning, since the payment is sent and stored here. */
export const syncAfterPayment = async (
  session: Session,
  wallet: CurrencyWallet
): Promise<readonly string[]> => {
  session.statusLine.step('syncing…')
  try {
    await session.withTimeout('Syncing', () => wallet.sync())
    return []
  } catch (error) {
    return [`the payment is sent, but its record is not on the server yet: ${failureOf(error).message}`]
  }
}

/** The result of `--dry-run`: the summary of the payment. */
export const dryResult = (summary: SpendSummary): CommandResult => ({
  data: { dryRun: true, summary: summary.json },
  view: {
    kind: 'record',
    fields: [
      ...summary.lines,
      ...summary.recipients.map(({ groups, amount }) => ['to', `${groups.join('')} ${amount}`] as const)
    ]
  }
})

/** The result of a sent payment, in units of its asset. */
export const sentResult = (
  wallet: CurrencyWallet,
  tx: Transaction,
  { warnings, asset = coinOf(wallet) }: { readonly warnings: readonly string[]; readonly asset?: Asset }
): CommandResult => ({
  data: { dryRun: false, txid: tx.txid, tx: txDetailsJson(tx, asset) },
  warnings,
  view: {
    kind: 'record',
    fields: [
      ['txid', tx.txid],
      ['network fee', amountText(coinFeeOf(tx), wallet.currencyInfo)],
      ...tokenFeeLines(tokenFeesOf(wallet, [tx]).tokenFees),
      ['state', { text: 'sent', tone: 'good' }]
    ]
  }
})
