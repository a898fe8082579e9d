import { paymentActions } from '../../../app/actions/payments.ts'
import type { DraftRequest } from '../../../app/actions/spend-review.ts'
import type { Asset } from '../../../app/format/amounts.ts'
import { shellWord } from '../../../app/format/safe-text.ts'
import {
  type CurrencyWallet,
  compact,
  isWalletError,
  type SignOptions,
  type Transaction
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { failureOf } from '../../errors/failure.ts'
import { openOutputFile } from '../../output/output-file.ts'
import { txDetailsJson } from '../../output/transaction-texts.ts'
import type { CommandResult } from '../../output/view.ts'
import { chosenAsset, coinOf, findAsset } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallet } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'
import {
  approveSpend,
  draftSpend,
  dryResult,
  followed,
  maxFeeOf,
  sentResult,
  syncAfterPayment
} from '../../spend/approve-spend.ts'
import { paymentFileText, readPaymentFile } from '../../spend/payment-file.ts'
import { readSpend } from '../../spend/read-spend.ts'
import { approvalFor } from '../../spend/second-device.ts'
import { summaryOf, withWarnings } from '../../spend/summary.ts'

/** Makes a payment: drafts, reviews, signs, broadcasts and saves it; with `--sign-only` it is signed into a file. */
export const send: CommandRun = async (session, text = '') => {
  const path = signingPath(session)
  const wallet = await findWallet(session, text)
  const limit = maxFeeOf(session, wallet)
  await session.synced(wallet)
  const asset = await chosenAsset(session, wallet)
  const { unconfirmed } = session.flags
  const request = await readSpend(session, wallet, {
    to: session.texts('to'),
    amounts: session.texts('amount'),
    asset,
    fee: session.text('fee'),
    customFee: session.texts('customFee'),
    withUnconfirmed: unconfirmed === undefined ? undefined : unconfirmed === true,
    memos: session.texts('memo'),
    coins: session.texts('coin'),
    notes: notesOf(session)
  })
  const { summary, approve, take, pay } = await draftSpend(session, wallet, {
    ...{ asset, limit },
    make: () => session.run(paymentActions['spend.draft'], request)
  })
  if (session.globals.dryRun) return dryResult(summary)
  const maxNetworkFee = await approve(path === undefined ? 'Sign and send it?' : 'Sign it?')
  if (path !== undefined) {
    const draft = await take()
    const approval = await approvalFor(session, draft)
    const options = { ...compact({ maxNetworkFee, approval }), ...followed(session, 'signing') }
    return signInto(path, { wallet, draft, asset, options })
  }
  const sent = await pay(maxNetworkFee)
  const unsaved = wallet.unfinishedSpends().some(({ tx }) => tx.txid === sent.txid)
    ? ['the payment is sent, but not recorded here yet; it is recorded after the next scan of the chain']
    : []
  const unsynced = await syncAfterPayment(session, wallet)
  return sentResult(wallet, sent, { asset, warnings: [...unsaved, ...unsynced] })
}

/** Returns the file of `--sign-only`; undefined if the payment is to be sent. @throws CliError USAGE */
const signingPath = (session: Session): string | undefined => {
  const path = session.text('output')
  if (session.isOn('signOnly') === (path !== undefined)) return path
  throw new CliError('USAGE', 'A signed payment goes into a file: --sign-only -o <file>')
}

const notesOf = (session: Session): Required<DraftRequest>['notes'] => {
  const [name, category, notes] = [session.text('name'), session.text('category'), session.text('notes')]
  return compact({ name, category, notes })
}

/**
 * Signs into a new file. If it cannot be written, the signed payment is discarded, since its bytes exist nowhere else.
 */
const signInto = async (
  path: string,
  {
    wallet,
    draft,
    asset,
    options
  }: {
    readonly wallet: CurrencyWallet
    readonly draft: Transaction
    readonly asset: Asset
    readonly options: SignOptions
  }
): Promise<CommandResult> => {
  const file = await openOutputFile(path, false)
  try {
    const tx = await wallet.signTx(draft, options)
    try {
      await file.write(paymentFileText(wallet, tx))
      await file.commit()
    } catch (error) {
      // If this fails as well, `wallets show` lists the payment; the first failure is reported.
      await wallet.discardTx(tx.txid).catch(() => {})
      throw error
    }
    return signedResult(path, { wallet, tx, asset })
  } finally {
    await file.discard()
  }
}

const signedResult = (
  path: string,
  { wallet, tx, asset }: { readonly wallet: CurrencyWallet; readonly tx: Transaction; readonly asset: Asset }
): CommandResult => {
  const words = `${shellWord(wallet.name ?? wallet.id)} ${shellWord(path)}`
  return {
    data: { dryRun: false, txid: tx.txid, file: path, tx: txDetailsJson(tx, asset) },
    view: {
      kind: 'record',
      fields: [
        ['txid', tx.txid],
        ['file', path],
        ['state', { text: 'signed, not sent', tone: 'warn' }]
      ]
    },
    advice: [
      `Send it with: holdfast tx broadcast ${words}`,
      `Or forget it with: holdfast tx forget ${shellWord(wallet.name ?? wallet.id)} ${tx.txid}, and delete the file`
    ]
  }
}

/** Broadcasts the payment of a file after the same review, and saves it with its notes. */
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
    warnings: [...warnings, ...(await syncAfterPayment(session, wallet))],
    asset
  })
}

/** Saves a payment that was broadcast elsewhere, with its payees and notes. */
export const txSave: CommandRun = async (session, text = '', path = '') => {
  const { wallet, tx, asset } = await readPayment(session, text, path)
  const { dryRun, offline } = session.globals
  if (!dryRun) await wallet.saveTx(tx)
  const warnings = dryRun || offline ? [] : await syncAfterPayment(session, wallet)
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

/** A payment that the network has dropped may be sent again. @throws CliError NOT_NEEDED if it is in the history */
const checkIsNew = async (wallet: CurrencyWallet, { txid, tokenId }: Transaction): Promise<void> => {
  const known = await wallet.getTransaction(txid, tokenId).catch((error: unknown) => {
    if (isWalletError(error, 'TX_NOT_FOUND')) return undefined
    throw error
  })
  if (known === undefined || known.confirmations === 'dropped') return
  throw new CliError('NOT_NEEDED', 'The history already has this payment', {
    details: { txid },
    next: [{ command: `holdfast tx show ${shellWord(wallet.name ?? wallet.id)} ${txid}`, why: 'see it' }]
  })
}

/** Saves a sent payment; a failure is a warning, since the record is written after the next scan of the chain. */
const save = async (wallet: CurrencyWallet, tx: Transaction): Promise<readonly string[]> => {
  try {
    await wallet.saveTx(tx)
    return []
  } catch (error) {
    return [`the payment is sent, but not recorded here yet: ${failureOf(error).message}`]
  }
}
