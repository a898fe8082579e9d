import { shellWord } from '../../devtools/core/shell-word.ts'
import type { CurrencyWallet, Metadata, SignOptions, Transaction } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Asset } from '../output/assets.ts'
import { openOutputFile } from '../output/output-file.ts'
import { txDetailsJson } from '../output/tx-facts.ts'
import { findWallet } from '../session/find-wallet.ts'
import { chosenAsset } from '../session/wallet-assets.ts'
import type { Session } from '../session.ts'
import { draftSpend, maxFeeOf } from '../spend/approve-spend.ts'
import { paymentFileText } from '../spend/payment-file.ts'
import { saveEverywhere } from '../spend/save-everywhere.ts'
import { dryResult, sentResult } from '../spend/sent-result.ts'
import { readSpend } from '../spend/spend-request.ts'

/** Pays: makes the draft, has it approved, signs, sends and saves it; or, with `--sign-only`, signs it into a file. */
export const send: CommandRun = async (session, text = '') => {
  const path = signingPath(session)
  const wallet = await findWallet(session, text)
  const limit = maxFeeOf(session, wallet)
  await session.synced(wallet)
  await wallet.lookAtOpenPayments()
  const asset = await chosenAsset(session, wallet)
  const { unconfirmed } = session.flags
  const read = await readSpend(wallet, {
    to: session.texts('to'),
    amounts: session.texts('amount'),
    asset,
    fee: session.text('fee'),
    customFee: session.texts('customFee'),
    noUnconfirmed: unconfirmed === undefined ? undefined : unconfirmed !== true,
    memos: session.texts('memo'),
    metadata: metadataOf(session)
  })
  const { draft, summary, approve } = await draftSpend(session, wallet, { ...read, asset, limit })
  if (session.globals.dryRun) return dryResult(summary)
  const options = await approve(path === undefined ? 'Sign and send it?' : 'Sign it?')
  if (path !== undefined) return signInto(path, { wallet, draft, asset, options })
  session.paying()
  const sent = await wallet.spend(draft, options)
  return sentResult(wallet, sent, { asset, warnings: await saveEverywhere(session, wallet) })
}

/** The file of `--sign-only`; undefined if the payment is to be sent. @throws CliError USAGE */
const signingPath = (session: Session): string | undefined => {
  const path = session.text('output')
  if (session.isOn('signOnly') === (path !== undefined)) return path
  throw new CliError('USAGE', 'A signed payment goes into a file: --sign-only -o <file>')
}

const metadataOf = (session: Session): Metadata => {
  const [name, category, notes] = [session.text('name'), session.text('category'), session.text('notes')]
  return {
    ...(name === undefined ? {} : { name }),
    ...(category === undefined ? {} : { category }),
    ...(notes === undefined ? {} : { notes })
  }
}

/** Signs into a new file. If that cannot be written, the bytes are forgotten: nobody has them. */
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
      // If this fails too, `wallets show` tells of it; the first failure is the one to hear of.
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
