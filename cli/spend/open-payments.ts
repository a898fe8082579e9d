import { tokenFeesAmong } from '../../app/actions/open-payment-checks.ts'
import type { SpendReview } from '../../app/actions/spend-review.ts'
import { type Asset, amountIn, amountJson } from '../../app/format/amounts.ts'
import {
  openStateText,
  secondPaymentText,
  sentStateText as stateText
} from '../../app/format/payment-texts.ts'
import { shellWord } from '../../app/format/safe-text.ts'
import {
  type CurrencyWallet,
  type JsonObject,
  nativeAmount,
  negate,
  type OpenPaymentSnapshot,
  sum
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { promptText } from '../secrets/prompt.ts'
import { coinOf } from '../session/assets.ts'
import type { Session } from '../session/session.ts'
import { safeText } from '../terminal/safe-text.ts'
import { canPrompt } from '../terminal/terminal.ts'

/** An open payment as JSON. */
export const openPaymentJson = (wallet: CurrencyWallet, payment: OpenPaymentSnapshot): JsonObject => {
  const { txid, state, at, tokenId, targets } = payment
  const asset = assetIn(wallet, payment)
  const { tokenFees = [] } = tokenFeesAmong(wallet, payment.networkFees)
  return {
    ...{ txid, walletId: wallet.id, tokenId, state },
    at: new Date(at).toISOString(),
    amount: amountJson(sum(targets.map(target => nativeAmount(target.nativeAmount))), asset),
    total: amountJson(negate(nativeAmount(payment.nativeAmount)), asset),
    networkFee: amountJson(nativeAmount(payment.networkFee), coinOf(wallet)),
    tokenFees: tokenFees.map(fee => ({ ...fee })),
    recipients: targets.map(({ publicAddress, nativeAmount: part }) => ({
      publicAddress,
      amount: amountJson(nativeAmount(part), asset)
    })),
    reason: payment.reason ?? null,
    replaces: payment.replaces ?? null,
    replacedBy: payment.replacedBy ?? null
  }
}

/** Describes the state of a payment. */
export const sentStateText = (
  state: OpenPaymentSnapshot['state'],
  facts: Pick<OpenPaymentSnapshot, 'reason' | 'replacedBy'> = {}
): string => safeText(stateText(state, facts))

/** Lists the other open payments of a review as lines of it. */
export const openLines = (
  wallet: CurrencyWallet,
  { openPayments = [], openCount = openPayments.length, replaces }: Partial<SpendReview>
): readonly (readonly [label: string, value: string])[] => {
  const lines = openPayments.slice(0, MAX_LINES).map((payment, at): readonly [string, string] => {
    const paid = payment.targets.map(
      ({ publicAddress, nativeAmount: part }) =>
        `${amountIn(part, assetIn(wallet, payment))} to ${safeText(publicAddress)}`
    )
    const place = safeText(openStateText({ ...payment, ...payment.untrusted }, replaces))
    return [at === 0 ? 'open' : `open ${at + 1}`, `${paid.join(', ')}: ${place}`]
  })
  const left = openCount - lines.length
  return left > 0 ? [...lines, ['open', `and ${left} more: holdfast tx open`]] : lines
}

/**
 * Asks for a typed approval of a second payment of the same amount to the same payee. `--yes` does not approve it, only
 * `--again` does: an open payment may be mined long after it seemed lost, and then both are paid.
 *
 * @throws CliError CONFIRMATION_REQUIRED if no prompt is possible; DECLINED, INTERRUPTED
 */
export const allowSecondPayment = async (
  session: Session,
  { similar, json }: { readonly similar: readonly string[]; readonly json: JsonObject }
): Promise<void> => {
  const [first] = similar
  if (first === undefined || session.isOn('again')) return
  const { globals, terminal } = session
  const wallet = shellWord(String(json.walletId))
  if (globals.yes || !globals.input || !canPrompt(terminal)) {
    throw new CliError('CONFIRMATION_REQUIRED', secondPaymentText(first), {
      details: { summary: json, openTxids: [...similar] },
      hint: 'It may still be mined, and then you pay twice. Send it again or replace it; --again makes a second payment.',
      next: [
        { command: `holdfast tx resend ${wallet} ${first}`, why: 'send the same bytes again' },
        { command: `holdfast tx replace ${wallet} ${first}`, why: 'replace it, at a higher fee' }
      ]
    })
  }
  const typed = await promptText(
    terminal,
    `${secondPaymentText(first)}, and may still be mined. Pay a second time? Type "yes":`
  )
  if (typed.trim() !== 'yes')
    throw new CliError('DECLINED', 'Declined to pay a second time; nothing was signed')
}

const MAX_LINES = 5

const assetIn = (
  wallet: CurrencyWallet,
  { tokenId, currencyCode }: Pick<OpenPaymentSnapshot, 'currencyCode' | 'tokenId'>
): Asset => {
  if (tokenId === null) return coinOf(wallet)
  const known = wallet.getSnapshot().tokens.find(token => token.tokenId === tokenId)
  return { ...coinOf(wallet), ...known, tokenId, currencyCode }
}
