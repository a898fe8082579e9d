import type { CurrencyWallet, Metadata, Transaction } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { amountText, parseAmount } from '../output/amounts.ts'
import { txDetailsJson } from '../output/tx-facts.ts'
import { confirm } from '../session/confirm.ts'
import { findWallet } from '../session/find-wallet.ts'
import type { Session } from '../session.ts'
import { saveEverywhere } from '../spend/save-everywhere.ts'
import { readSpend } from '../spend/spend-request.ts'
import {
  checkMaxFee,
  type SpendSummary,
  summaryLines,
  summaryOf,
  withWarnings
} from '../spend/spend-summary.ts'

/** Pays: makes the draft, has it approved, signs, sends and saves it. */
export const send: CommandRun = async (session, text = '') => {
  const wallet = await findWallet(session, text)
  const maxFee = session.text('maxFee')
  const limit = maxFee === undefined ? undefined : parseAmount(maxFee, wallet.currencyInfo)
  await session.synced(wallet)
  const { spend, warnings } = await readSpend(wallet, {
    to: session.texts('to'),
    amounts: session.texts('amount'),
    fee: session.text('fee'),
    customFee: session.texts('customFee'),
    noUnconfirmed: session.flags.unconfirmed === false,
    memos: session.texts('memo'),
    metadata: metadataOf(session)
  })
  const draft = await wallet.makeSpend(spend)
  checkMaxFee(draft, limit)
  const summary = withWarnings(summaryOf(wallet, draft), warnings)
  if (session.globals.dryRun) return dryResult(summary)
  await approve(session, summary)
  session.paying()
  const sent = await wallet.spend(draft)
  return sentResult(wallet, sent, await saveEverywhere(session, wallet))
}

const metadataOf = (session: Session): Metadata => {
  const [name, category, notes] = [session.text('name'), session.text('category'), session.text('notes')]
  return {
    ...(name === undefined ? {} : { name }),
    ...(category === undefined ? {} : { category }),
    ...(notes === undefined ? {} : { notes })
  }
}

const approve = async (session: Session, summary: SpendSummary): Promise<void> => {
  if (session.globals.yes) for (const line of summaryLines(summary)) session.talk.say(line)
  await confirm(session, {
    question: 'Send it?',
    summary: summary.json,
    async ask() {
      const { showSendReview } = await import('../screens/show.tsx')
      return showSendReview(session.terminal, summary)
    }
  })
}

const dryResult = (summary: SpendSummary): CommandResult => ({
  data: { dryRun: true, summary: summary.json },
  view: {
    kind: 'record',
    fields: [
      ...summary.lines,
      ...summary.recipients.map(({ groups, amount }) => ['to', `${groups.join('')} ${amount}`] as const)
    ]
  }
})

const sentResult = (wallet: CurrencyWallet, tx: Transaction, warnings: readonly string[]): CommandResult => ({
  data: { dryRun: false, txid: tx.txid, tx: txDetailsJson(tx, wallet.currencyInfo) },
  warnings,
  view: {
    kind: 'record',
    fields: [
      ['txid', tx.txid],
      ['network fee', amountText(tx.networkFee, wallet.currencyInfo)],
      ['state', { text: 'sent', tone: 'good' }]
    ]
  }
})
