import { historyActions } from '../../../app/actions/history.ts'
import { findOpenPayment } from '../../../app/actions/open-payment-checks.ts'
import { paymentActions } from '../../../app/actions/payments.ts'
import type { DraftedPayment } from '../../../app/actions/spend-review.ts'
import { forgetText, forgetWord } from '../../../app/format/payment-texts.ts'
import {
  amountText,
  type CurrencyWallet,
  nativeAmount,
  negate,
  type OpenPaymentSnapshot,
  type Transaction,
  type Txid
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { localTime } from '../../output/texts.ts'
import { coinOf, findAsset } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirmTyped } from '../../session/confirm.ts'
import { chooseWallets, findWallet, leftOutWarnings, syncWallets } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'
import {
  approveSpend,
  draftSpend,
  dryResult,
  maxFeeOf,
  sentBy,
  sentResult,
  syncAfterPayment
} from '../../spend/approve-spend.ts'
import { openPaymentJson, sentStateText } from '../../spend/open-payments.ts'
import { readFee, readSpend } from '../../spend/read-spend.ts'
import { summaryOf, withWarnings } from '../../spend/summary.ts'

/** Lists the open payments: signed ones that may still be mined, and whose coins are reserved. */
export const txOpen: CommandRun = async (session, text) => {
  const wallets = await chooseWallets(session, text === undefined ? [] : [text])
  const warnings = [...(await leftOutWarnings(session, [text])), ...(await syncWallets(session, wallets))]
  const open = (
    await Promise.all(
      wallets.map(async wallet => {
        const { payments } = await session.run(historyActions['spend.open'], { walletId: wallet.id })
        return payments.map(({ untrusted, ...payment }) => ({
          wallet,
          payment: { ...payment, ...untrusted }
        }))
      })
    )
  ).flat()
  return {
    data: { openPayments: open.map(({ wallet, payment }) => openPaymentJson(wallet, payment)) },
    warnings,
    view: {
      kind: 'table',
      columns: [
        { title: 'DATE' },
        { title: 'AMOUNT', align: 'right' },
        { title: 'STATE', canShrink: true },
        { title: 'TXID', canShrink: true },
        { title: 'WALLET', canShrink: true }
      ],
      rows: open.map(({ wallet, payment }) => [
        localTime(new Date(payment.at)),
        payment.tokenId === null
          ? amountText(negate(nativeAmount(payment.nativeAmount)), wallet.currencyInfo)
          : payment.currencyCode,
        sentStateText(payment.state, payment),
        payment.txid,
        wallet.name ?? wallet.id
      ]),
      empty: 'There are no open payments.'
    },
    advice: open.length === 0 ? [] : ['Send a payment again with tx resend, or replace it with tx replace']
  }
}

/** Broadcasts the same bytes again. */
export const txResend: CommandRun = async (session, text = '', txid = '') => {
  if (session.globals.offline) throw new CliError('USAGE', 'Nothing can be sent with --offline')
  const { wallet, payment, tx } = await findOpen(session, text, txid)
  const asset = await shownAssetOf(session, wallet, tx)
  const summary = withWarnings(summaryOf(wallet, tx, asset), [])
  if (session.globals.dryRun) return dryResult(summary)
  // A payment that was never broadcast would be an additional one.
  const again = payment.state === 'signed' ? summary.similar : []
  await approveSpend(session, { ...summary, similar: again }, 'Send the same bytes again?')
  const request = { walletId: wallet.id, txid: payment.txid, again }
  const sent = await sentBy(session, summary, approval =>
    session.run(paymentActions['spend.resend'], request, { approval })
  )
  return sentResult(wallet, sent, { asset, warnings: await syncAfterPayment(session, wallet) })
}

/** Replaces an open payment by another one: the network can take only one of the two. */
export const txReplace: CommandRun = async (session, text = '', txid = '') => {
  const { wallet, tx } = await findOpen(session, text, txid)
  const limit = maxFeeOf(session, wallet)
  const asset = await shownAssetOf(session, wallet, tx)
  const make = await replacementOf(session, wallet, tx)
  const { summary, approve, pay } = await draftSpend(session, wallet, { asset, limit, make })
  if (session.globals.dryRun) return dryResult(summary)
  const sent = await pay(await approve('Sign this payment and replace the open one?'))
  return sentResult(wallet, sent, { asset, warnings: await syncAfterPayment(session, wallet) })
}

/** Forgets an open payment and frees its coins, after a typed confirmation. */
export const txForget: CommandRun = async (session, text = '', txid = '') => {
  const { wallet, payment } = await findOpen(session, text, txid)
  const { dryRun } = session.globals
  const name = forgetWord(payment.txid)
  if (!dryRun) {
    await confirmTyped(session, {
      question: forgetText(payment.txid),
      name,
      summary: openPaymentJson(wallet, payment)
    })
    await session.run(paymentActions['spend.forget'], {
      walletId: wallet.id,
      txid: payment.txid,
      confirm: name
    })
  }
  return {
    data: { dryRun, txid: payment.txid },
    view: {
      kind: 'record',
      fields: [
        ['txid', payment.txid],
        ['state', dryRun ? 'not forgotten' : 'forgotten']
      ]
    },
    advice: dryRun ? [] : ['Anyone who has its bytes or its file can still have it mined']
  }
}

interface Open {
  readonly wallet: CurrencyWallet
  readonly payment: OpenPaymentSnapshot
  readonly tx: Transaction
}

/** @throws TX_NOT_FOUND if no such payment is open */
const findOpen = async (session: Session, text: string, txid: Txid): Promise<Open> => {
  const wallet = await session.synced(await findWallet(session, text))
  return { wallet, ...(await findOpenPayment(wallet, txid)) }
}

const shownAssetOf = async (session: Session, wallet: CurrencyWallet, { tokenId }: Transaction) =>
  tokenId === null ? coinOf(wallet) : findAsset(session, wallet, tokenId)

/** Returns what drafts the replacement: the same payees, amounts, memos and notes unless flags name others. */
const replacementOf = async (
  session: Session,
  wallet: CurrencyWallet,
  tx: Transaction
): Promise<() => Promise<DraftedPayment>> => {
  const [to, amounts] = [session.texts('to'), session.texts('amount')]
  const fee = { fee: session.text('fee'), customFee: session.texts('customFee') }
  if (to.length > 0) {
    const asset = await shownAssetOf(session, wallet, tx)
    const request = await readSpend(session, wallet, { ...{ to, amounts, asset, ...fee }, replaces: tx.txid })
    return () => session.run(paymentActions['spend.draft'], request)
  }
  if (amounts.length > 0) throw new CliError('USAGE', 'An --amount needs its --to')
  const request = { walletId: wallet.id, txid: tx.txid, ...readFee(fee) }
  return () => session.run(paymentActions['spend.replace'], request)
}
