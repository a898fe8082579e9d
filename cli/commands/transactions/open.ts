import { findOpenPayment } from '../../../app/actions/open-payment-checks.ts'
import { forgetText, forgetWord } from '../../../app/format/payment-texts.ts'
import {
  amountText,
  type CurrencyWallet,
  compact,
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
  payInTurn,
  sentResult,
  syncAfterPayment
} from '../../spend/approve-spend.ts'
import { openPaymentJson, sentStateText } from '../../spend/open-payments.ts'
import { type ReadSpend, readSpend } from '../../spend/read-spend.ts'
import { summaryOf, withWarnings } from '../../spend/summary.ts'

/** Lists the open payments: signed ones that may still be mined, and whose coins are reserved. */
export const txOpen: CommandRun = async (session, text) => {
  const wallets = await chooseWallets(session, text === undefined ? [] : [text])
  const warnings = [...(await leftOutWarnings(session, [text])), ...(await syncWallets(session, wallets))]
  const open = (
    await Promise.all(
      wallets.map(async wallet => (await wallet.lookAtOpenPayments()).map(payment => ({ wallet, payment })))
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
  const similar = payment.state === 'signed' ? summary.similar : []
  await approveSpend(session, { ...summary, similar }, 'Send the same bytes again?')
  session.paying('sending…')
  const sent = await wallet.resendTx(payment.txid)
  return sentResult(wallet, sent, { asset, warnings: await syncAfterPayment(session, wallet) })
}

/** Replaces an open payment by another one: the network can take only one of the two. */
export const txReplace: CommandRun = async (session, text = '', txid = '') => {
  const { wallet, tx } = await findOpen(session, text, txid)
  const limit = maxFeeOf(session, wallet)
  const asset = await shownAssetOf(session, wallet, tx)
  const read = await replacementOf(session, wallet, tx)
  const { draft, summary, approve } = await draftSpend(session, wallet, { ...read, asset, limit })
  if (session.globals.dryRun) return dryResult(summary)
  const options = await approve('Sign this payment and replace the open one?')
  const sent = await payInTurn(session, { wallet, draft, summary }, () => wallet.spend(draft, options))
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
    await wallet.forgetTx(payment.txid)
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

/** Reads the replacement: the same payees, amounts, memos and notes unless flags name others. */
const replacementOf = async (
  session: Session,
  wallet: CurrencyWallet,
  tx: Transaction
): Promise<ReadSpend> => {
  const to = session.texts('to')
  const wanted = {
    amounts: session.texts('amount'),
    asset: await shownAssetOf(session, wallet, tx),
    fee: session.text('fee'),
    customFee: session.texts('customFee'),
    memos: [],
    metadata: tx.metadata,
    replaces: tx.txid
  }
  if (to.length > 0) return readSpend(wallet, { ...wanted, to })
  if (wanted.amounts.length > 0) throw new CliError('USAGE', 'An --amount needs its --to')
  const targets = tx.spendTargets ?? []
  const { spend, warnings } = await readSpend(wallet, {
    ...wanted,
    to: targets.map(({ publicAddress }) => publicAddress),
    amounts: targets.map(({ nativeAmount: part }) => `${part} native`)
  })
  return {
    spend: { ...spend, ...compact({ memos: tx.memos.length === 0 ? undefined : tx.memos }) },
    warnings
  }
}
