import { shellWord } from '../../devtools/core/shell-word.ts'
import { type CurrencyWallet, isWalletError, type Transaction } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { failureOf } from '../errors/failure.ts'
import type { Asset } from '../output/assets.ts'
import { txDetailsJson } from '../output/tx-facts.ts'
import { findWallet } from '../session/find-wallet.ts'
import { coinOf, findAsset } from '../session/wallet-assets.ts'
import type { Session } from '../session.ts'
import { approveSpend } from '../spend/approve-spend.ts'
import { readPaymentFile } from '../spend/payment-file.ts'
import { saveEverywhere } from '../spend/save-everywhere.ts'
import { dryResult, sentResult } from '../spend/sent-result.ts'
import { summaryOf, withWarnings } from '../spend/spend-summary.ts'

/** Sends what `send --sign-only` wrote, after the same review, and saves it with its notes. */
export const txBroadcast: CommandRun = async (session, text = '', path = '') => {
  if (session.globals.offline) throw new CliError('USAGE', 'Nothing can be sent with --offline')
  const { wallet, tx, asset } = await readPayment(session, text, path)
  await checkIsNew(wallet, tx)
  const summary = withWarnings(summaryOf(wallet, tx, asset), [])
  if (session.globals.dryRun) return dryResult(summary)
  await approveSpend(session, summary, 'Send it?')
  session.paying('sending…')
  const sent = await wallet.broadcastTx(tx)
  const warnings = await save(wallet, sent)
  return sentResult(wallet, sent, {
    warnings: [...warnings, ...(await saveEverywhere(session, wallet))],
    asset
  })
}

/** Records a payment that was sent elsewhere, with its payees and notes. */
export const txSave: CommandRun = async (session, text = '', path = '') => {
  const { wallet, tx, asset } = await readPayment(session, text, path)
  const { dryRun, offline } = session.globals
  if (!dryRun) await wallet.saveTx(tx)
  const warnings = dryRun || offline ? [] : await saveEverywhere(session, wallet)
  return {
    data: { dryRun, txid: tx.txid, tx: txDetailsJson(tx, asset) },
    warnings,
    view: {
      kind: 'record',
      fields: [
        ['txid', tx.txid],
        ['state', dryRun ? { text: 'not saved', tone: 'warn' } : { text: 'saved', tone: 'good' }]
      ]
    }
  }
}

interface Payment {
  readonly wallet: CurrencyWallet
  readonly tx: Transaction
  readonly asset: Asset
}

const readPayment = async (session: Session, text: string, path: string): Promise<Payment> => {
  const wallet = await session.synced(await findWallet(session, text))
  await wallet.lookAtOpenPayments()
  const tx = await readPaymentFile(wallet, path)
  const asset = tx.tokenId === null ? coinOf(wallet) : await findAsset(session, wallet, tx.tokenId)
  return { wallet, tx, asset }
}

/** One that the network has dropped may be sent again. @throws CliError NOT_NEEDED if it is in the history */
const checkIsNew = async (wallet: CurrencyWallet, { txid, tokenId }: Transaction): Promise<void> => {
  const known = await wallet.getTransaction(txid, tokenId).catch((error: unknown) => {
    if (isWalletError(error, 'TX_NOT_FOUND')) return undefined
    throw error
  })
  if (known === undefined || known.confirmations === 'dropped') return
  throw new CliError('NOT_NEEDED', 'This payment is in the history already', {
    details: { txid },
    next: [{ command: `holdfast tx show ${shellWord(wallet.name ?? wallet.id)} ${txid}`, why: 'see it' }]
  })
}

/** What was sent counts as sent: its record is written after the next look at the network. */
const save = async (wallet: CurrencyWallet, tx: Transaction): Promise<readonly string[]> => {
  try {
    await wallet.saveTx(tx)
    return []
  } catch (error) {
    return [`the payment is sent, but not recorded here yet: ${failureOf(error).message}`]
  }
}
