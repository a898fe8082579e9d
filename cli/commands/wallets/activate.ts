import { openPaymentsBeside } from '../../../app/actions/open-payment-checks.ts'
import { type Asset, amountJson, shownAssetOf } from '../../../app/format/amounts.ts'
import {
  amountText,
  type CurrencyWallet,
  compact,
  type JsonObject,
  type TokenId,
  type WalletId
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { CommandResult } from '../../output/view.ts'
import { coinOf, findAsset, tokenIdOf, walletTokens } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import { findWallet } from '../../session/find-wallets.ts'
import { upload } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'
import { maxFeeOf } from '../../spend/approve-spend.ts'
import { allowSecondPayment, openLines } from '../../spend/open-payments.ts'
import { approvalFor } from '../../spend/second-device.ts'
import { checkMaxFee } from '../../spend/summary.ts'

/** Activates a wallet or its tokens on the chain: lists the assets that can pay, or pays after a confirmation. */
export const walletsActivate: CommandRun = async (session, text = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  const { config } = await walletTokens(session, wallet)
  const tokens = session.texts('token').map(token => tokenIdOf(config, token))
  const question = { walletId: wallet.id, ...compact({ tokenIds: tokens.length === 0 ? undefined : tokens }) }
  return session.isOn('list') ? listAssets(session, question) : activate(session, wallet, question)
}

interface ActivationTarget {
  readonly walletId: WalletId
  readonly tokenIds?: readonly TokenId[]
}

const listAssets = async (session: Session, question: ActivationTarget): Promise<CommandResult> => {
  const account = await session.account()
  const assets = await session.withProgress('Finding assets that can pay', () =>
    account.getActivationAssets(question)
  )
  return {
    data: {
      ...question,
      assets: assets.map(({ walletId = null, pluginId, tokenId }) => ({ walletId, pluginId, tokenId }))
    },
    view: {
      kind: 'table',
      columns: [{ title: 'CURRENCY' }, { title: 'TOKEN' }, { title: 'WALLET', canShrink: true }],
      rows: assets.map(({ walletId, pluginId, tokenId }) => [pluginId, tokenId ?? '', walletId ?? 'any']),
      empty: 'Nothing in this account can pay for it.'
    }
  }
}

const activate = async (
  session: Session,
  wallet: CurrencyWallet,
  question: ActivationTarget
): Promise<CommandResult> => {
  const account = await session.account()
  const payer = await payerOf(session, wallet)
  const limit = maxFeeOf(session, payer.wallet)
  const quote = await session.withProgress('Getting the cost', () =>
    account.activateWallet({
      ...question,
      payment: { walletId: payer.wallet.id, tokenId: payer.asset.tokenId }
    })
  )
  const { wallet: paying, asset } = payer
  const { allTokens } = (await walletTokens(session, paying)).config.getSnapshot()
  const feeAsset = shownAssetOf(paying.currencyInfo, allTokens, quote.networkFee.tokenId)
  const costs: JsonObject = {
    amount: amountJson(quote.fromNativeAmount, asset),
    networkFee: amountJson(quote.networkFee.nativeAmount, feeAsset)
  }
  const summary = { ...question, payFrom: paying.id, ...costs } as JsonObject
  const words = `${amountText(quote.fromNativeAmount, asset)}, and ${amountText(quote.networkFee.nativeAmount, feeAsset)} for the network`
  try {
    const { tokenId, nativeAmount: networkFee } = quote.networkFee
    if (tokenId === null) checkMaxFee(paying, { networkFee, tokenId }, limit)
    if (session.globals.dryRun) {
      return {
        data: { dryRun: true, summary },
        view: { kind: 'text', lines: [`Nothing was paid; without --dry-run: ${words}`] }
      }
    }
    await paying.lookAtOpenPayments()
    for (const [label, value] of openLines(paying, openPaymentsBeside(paying, { txid: '' })))
      session.statusLine.info(`${label}  ${value}`)
    await confirm(session, { question: `Pay ${words}, from ${paying.name ?? paying.id}?`, summary })
    const { transactions } = await quote.approve({
      maxNetworkFee: limit,
      async confirm(drafts) {
        const similar = drafts.flatMap(draft => paying.similarPayments(draft).map(({ txid }) => txid))
        await allowSecondPayment(session, { similar, json: { ...summary, walletId: paying.id } })
      },
      async secondDevice(draft) {
        const approval = await approvalFor(session, draft)
        session.signal.throwIfAborted()
        session.paying()
        return approval
      }
    })
    const txids = transactions.map(({ txid }) => txid)
    return {
      data: { dryRun: false, summary, txids },
      warnings: await upload(session, paying),
      view: {
        kind: 'record',
        fields: [['state', { text: 'paid', tone: 'good' }], ...txids.map(txid => ['txid', txid] as const)]
      }
    }
  } finally {
    quote.close()
  }
}

/** Returns the wallet and asset of `--pay-with <wallet>[:token]`, by default the coin of the wallet itself. */
const payerOf = async (
  session: Session,
  wallet: CurrencyWallet
): Promise<{ readonly wallet: CurrencyWallet; readonly asset: Asset }> => {
  const text = session.text('payWith')
  if (text === undefined) return { wallet, asset: coinOf(wallet) }
  const colon = text.lastIndexOf(':')
  const [name, token] = colon === -1 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)]
  if (name === '') throw new CliError('USAGE', 'Write the asset that pays as Savings or Savings:USDX')
  const paying = await session.synced(await findWallet(session, name))
  return {
    wallet: paying,
    asset: token === undefined ? coinOf(paying) : await findAsset(session, paying, token)
  }
}
