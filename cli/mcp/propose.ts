import { reviewSpend, spendOf } from '../../app/actions/payments.ts'
import { type Asset, amountJson, isMax, shownAssetOf } from '../../app/format/amounts.ts'
import { escapedText } from '../../app/format/safe-text.ts'
import {
  type Account,
  type CurrencyWallet,
  compact,
  type JsonObject,
  nativeAmount,
  parseAmount,
  type Transaction,
  WalletError,
  type WalletId
} from '../../kernel/index.ts'
import { readPausedWallets } from '../profile/state-files.ts'
import type { ProgramClient } from '../programs/clients.ts'
import type { NewProposal } from '../programs/proposals.ts'
import { coinOf } from '../session/assets.ts'
import type { Session } from '../session/session.ts'

/** A payment as a program asks for it. */
export interface ProposalRequest {
  readonly walletId: WalletId
  /** Left out: the coin of the wallet. */
  readonly tokenId?: string
  readonly payee: string
  /** With its unit, such as `0.01 BTC` or `1000 native`. */
  readonly amount: string
  readonly fee?: 'high' | 'low' | 'standard'
  /** What it is for; the person sees it, and it goes into the notes of the payment. */
  readonly note?: string
}

/** Where a program drafts a payment. */
export interface ProposalContext {
  readonly session: Session
  readonly client: ProgramClient
  readonly account: Account
}

/** The wallet of a client's account that it may see. @throws WALLET_NOT_FOUND */
const walletOfClient = (
  { session, account, client }: ProposalContext,
  walletId: WalletId
): Promise<CurrencyWallet> => {
  const isThere = account
    .listWallets()
    .some(one => one.isWallet && one.walletId === walletId && !one.deleted && one.currencyInfo !== undefined)
  const isAllowed = client.walletIds === undefined || client.walletIds.includes(walletId)
  if (!isThere || !isAllowed) throw new WalletError('WALLET_NOT_FOUND', { walletId })
  return account.openWallet(walletId, { isPaused: readPausedWallets(session.paths.session).has(walletId) })
}

/**
 * Drafts a proposed payment; nothing is signed.
 *
 * @throws the spend errors, ADDRESS_INVALID, AMOUNT_INVALID, TOKEN_NOT_FOUND, WALLET_NOT_FOUND, DEADLINE, CliError WALLET_BEHIND
 */
export const draftProposal = async (
  context: ProposalContext,
  request: ProposalRequest
): Promise<{ readonly wallet: CurrencyWallet; readonly drafted: Omit<NewProposal, 'lifeMs'> }> => {
  const { session, client, account } = context
  const { walletId, tokenId, payee, amount, fee } = request
  const note = request.note === undefined ? undefined : escapedText(request.note)
  const wallet = await session.synced(await walletOfClient(context, walletId))
  await wallet.lookAtOpenPayments()
  const asset = await assetOfWallet(account, wallet, tokenId)
  const wanted = {
    ...{ walletId, publicAddress: payee },
    ...compact({ tokenId, fee, notes: note === undefined ? undefined : { notes: note } })
  }
  const most = isMax(amount) ? await spendOf(wallet, wanted) : undefined
  const paid = most ? await wallet.getMaxSpendable(most.spend) : parseAmount(amount, asset)
  const { spend, legacyAddresses } = await spendOf(wallet, { ...wanted, nativeAmount: paid })
  const draft = await wallet.makeSpend(spend)
  return {
    wallet,
    drafted: {
      client: { id: client.id, name: client.name },
      device: session.globals.device,
      loginId: account.id,
      ...{ walletId, spend, draft },
      ...compact({ note }),
      review: reviewOf(wallet, draft, { asset, isLegacyAddress: legacyAddresses !== undefined })
    }
  }
}

/** Makes the draft of a proposal again, if its first one cannot be signed any more. @throws as {@link draftProposal} */
export const draftAgain = async (
  wallet: CurrencyWallet,
  { asset, spend, review }: Pick<NewProposal, 'review' | 'spend'> & { readonly asset: Asset }
): Promise<Pick<NewProposal, 'draft' | 'review'>> => {
  const draft = await wallet.makeSpend(spend)
  return {
    draft,
    review: reviewOf(wallet, draft, { asset, isLegacyAddress: review.isLegacyAddress === true })
  }
}

/** The coin of a wallet, or a token that is enabled in it. @throws TOKEN_NOT_FOUND */
export const assetOfWallet = async (
  account: Account,
  wallet: CurrencyWallet,
  tokenId: string | null | undefined
): Promise<Asset> => {
  if (tokenId === undefined || tokenId === null) return coinOf(wallet)
  const config = account.currencyConfig(wallet.currencyInfo.pluginId)
  await config.builtinTokensReady()
  const { allTokens } = config.getSnapshot()
  const isEnabled = wallet.getSnapshot().enabledTokenIds.includes(tokenId)
  if (!isEnabled) throw new WalletError('TOKEN_NOT_FOUND', { tokenId })
  return shownAssetOf(wallet.currencyInfo, allTokens, tokenId)
}

/** What a program is shown of its proposal: figures and the payee, and no text from outside but the ticker of a token. */
const reviewOf = (
  wallet: CurrencyWallet,
  draft: Transaction,
  { asset, isLegacyAddress }: { readonly asset: Asset; readonly isLegacyAddress: boolean }
): JsonObject => {
  const {
    targets,
    nativeAmount: paid,
    networkFee,
    tokenFees,
    total,
    usualNetworkFee,
    similar
  } = reviewSpend(wallet, draft)
  const amountOf = (native: string, units: Asset): JsonObject => {
    const { display, decimals } = amountJson(nativeAmount(native), units)
    return { native, display, decimals }
  }
  return {
    walletId: wallet.id,
    ...compact({ tokenId: asset.tokenId ?? undefined }),
    ticker: asset.currencyCode,
    payee: targets[0]?.publicAddress ?? '',
    amount: amountOf(paid, asset),
    networkFee: amountOf(networkFee, coinOf(wallet)),
    ...compact({ tokenFees: tokenFees?.map(paid => ({ ...paid })) }),
    total: amountOf(total, asset),
    balance: amountOf(wallet.balanceOf(asset.tokenId), asset),
    isFeeUnusual: usualNetworkFee !== undefined,
    isLegacyAddress,
    similarPayments: similar?.length ?? 0
  }
}
