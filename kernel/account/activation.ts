import { abs, add, compare, type NativeAmount, nativeAmount, sum, ZERO } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { isWalletError, WalletError } from '../base/errors.ts'
import { copyJson, isRecord } from '../base/json.ts'
import type { ActivationAsset, ActivationOffer, EngineActivationRequest, WalletRef } from '../types/engine.ts'
import type { PluginId, TokenId, WalletId } from '../types/ids.ts'
import { otherFeesOf } from '../types/network-fee.ts'
import type { PaymentApproval } from '../types/policy.ts'
import type { Metadata, SpendInfo, Transaction } from '../types/transaction.ts'
import { copyPluginData, isBalance, isTokenId } from '../wallet/engine/validate.ts'
import type { OpenedWallet } from '../wallet/wallet.ts'
import type { OpenWallets } from './open-wallets.ts'
import type { WalletList } from './wallet-list.ts'

/**
 * A request for the assets that can pay for an activation. `tokenIds`: tokens to activate; absent: the wallet itself.
 */
export interface ActivationQuestion {
  readonly walletId: WalletId
  readonly tokenIds?: readonly TokenId[]
}

/** A request for the cost of an activation. `payment`: the paying wallet; absent: the wallet itself. */
export interface ActivationRequest extends ActivationQuestion {
  readonly payment?: { readonly walletId: WalletId; readonly tokenId: TokenId | null }
}

/** The options of an approval. */
export interface ApproveActivation {
  readonly metadata?: Metadata | undefined
  /** Of each payment; a fee that is not usual needs it. */
  readonly maxNetworkFee?: NativeAmount | undefined
  /** Asked with the drafts of all payments before the first is signed; what it throws is thrown, and nothing is paid. */
  readonly confirm?: ((drafts: readonly Transaction[]) => Promise<void>) | undefined
  /**
   * Asked with each payment before it is signed, for the approval of a second device where a rule wants one; what it throws is
   * thrown, and nothing more is paid.
   */
  readonly secondDevice?: ((draft: Transaction) => Promise<PaymentApproval | undefined>) | undefined
}

/**
 * The cost of an activation, for a person to approve; nothing is spent before.
 *
 * @example
 * ```ts
 * const quote = await account.activateWallet({ walletId: wallet.id })
 * console.log(`${quote.fromNativeAmount} and ${quote.networkFee.nativeAmount} for the network`)
 * const { transactions } = await quote.approve()
 * ```
 */
export interface ActivationQuote {
  readonly walletId: WalletId
  readonly paymentWalletId: WalletId
  readonly paymentTokenId: TokenId | null
  readonly fromNativeAmount: NativeAmount
  readonly networkFee: ActivationOffer['networkFee']
  /**
   * Pays, once: a second call returns the result of the first.
   *
   * @throws the spend errors; BOGUS_DATA, before anything is signed, if it would cost more than quoted; OPTION_INVALID
   *   after `close`
   */
  approve(options?: ApproveActivation): Promise<{ readonly transactions: readonly Transaction[] }>
  /** Ends the quote: nothing more is signed, also by an approval that waits for its confirmation. */
  close(): void
}

/** The wallets of an account: all that it lists, and those that are open. */
export interface AccountWallets {
  readonly book: WalletList
  readonly wallets: OpenWallets
}

/**
 * The assets that can pay to activate a wallet or tokens of it, as its engine says.
 *
 * @throws WALLET_NOT_FOUND, NOT_SUPPORTED, BOGUS_DATA, ENGINE_FAILED
 */
export const getActivationAssets = async (
  account: AccountWallets,
  { walletId, tokenIds }: ActivationQuestion
): Promise<readonly ActivationAsset[]> => {
  const { wallet, runtime } = await openForActivation(account, walletId)
  const request = { ...compact({ tokenIds }), wallets: walletFactsOf(account.book) }
  const assets = await runtime.engine.call('naming what can pay for the activation', async made => {
    if (made.getActivationAssets === undefined) throw new WalletError('NOT_SUPPORTED', { what: 'activation' })
    return readAssets(wallet.currencyInfo.pluginId, await made.getActivationAssets(request))
  })
  return assets
}

/**
 * Returns the cost of activating a wallet or tokens of it.
 *
 * @throws WALLET_NOT_FOUND, NOT_SUPPORTED, BOGUS_DATA, ENGINE_FAILED, or what the engine objects
 */
export const activateWallet = async (
  account: AccountWallets,
  { walletId, tokenIds, payment }: ActivationRequest
): Promise<ActivationQuote> => {
  const { wallet, runtime } = await openForActivation(account, walletId)
  const payer = payment === undefined ? wallet : (await openForActivation(account, payment.walletId)).wallet
  const tokenId = payment?.tokenId ?? null
  const request: EngineActivationRequest = compact({
    tokenIds,
    payment: payment === undefined ? undefined : { ...(await payerFacts(payer)), tokenId }
  })
  const { pluginId } = wallet.currencyInfo
  const offer = await runtime.engine.call('saying what the activation costs', async made => {
    if (made.activateWallet === undefined) throw new WalletError('NOT_SUPPORTED', { what: 'activation' })
    return copyOffer(pluginId, await made.activateWallet(request))
  })
  if (offer.spends.some(spend => spend.tokenId !== tokenId)) throw bogus(pluginId)
  let isClosed = false
  const checkOpen = (): void => {
    if (isClosed) throw new WalletError('OPTION_INVALID', { option: 'quote', rule: 'was closed' })
  }
  let paid: Promise<{ readonly transactions: readonly Transaction[] }> | undefined
  return {
    walletId,
    paymentWalletId: payer.id,
    paymentTokenId: tokenId,
    fromNativeAmount: offer.fromNativeAmount,
    networkFee: offer.networkFee,
    async approve(options = {}) {
      checkOpen()
      paid ??= pay({ payer, offer, tokenId, pluginId, checkOpen }, options)
      return paid
    },
    close() {
      isClosed = true
    }
  }
}

interface Payment {
  readonly payer: OpenedWallet['wallet']
  readonly offer: ActivationOffer
  readonly tokenId: TokenId | null
  /** Whose engine made the offer. */
  readonly pluginId: PluginId
  /** @throws OPTION_INVALID once the quote is closed */
  checkOpen(): void
}

const pay = async (
  { payer, offer, tokenId, pluginId, checkOpen }: Payment,
  { metadata, maxNetworkFee, confirm, secondDevice }: ApproveActivation
): Promise<{ readonly transactions: readonly Transaction[] }> => {
  const { fromNativeAmount, networkFee, spends } = offer
  const feeIn = (asset: string | null): NativeAmount =>
    networkFee.tokenId === asset ? networkFee.nativeAmount : ZERO
  const draft = (spend: SpendInfo): Promise<Transaction> =>
    payer.makeSpend(metadata === undefined ? spend : { ...spend, metadata })
  // The user has approved the amounts of the quote and no others.
  const checkTotal = (drafts: readonly Transaction[]): void => {
    const total = sum(drafts.map(tx => abs(tx.nativeAmount)))
    // A token's payment costs the currency itself too.
    const parentFees = sum(drafts.map(tx => abs(tx.parentNetworkFee ?? ZERO)))
    const others = drafts.flatMap(otherFeesOf)
    const otherTotal = (asset: TokenId | null): NativeAmount =>
      sum(others.filter(fee => fee.tokenId === asset).map(fee => fee.nativeAmount))
    const isDear =
      compare(total, add(fromNativeAmount, feeIn(tokenId))) > 0 ||
      compare(parentFees, feeIn(null)) > 0 ||
      others.some(fee => compare(otherTotal(fee.tokenId), feeIn(fee.tokenId)) > 0)
    if (isDear || drafts.some(tx => tx.tokenId !== tokenId)) throw bogus(pluginId)
  }
  const drafts: Transaction[] = []
  for (const spend of spends) drafts.push(await draft(spend))
  checkTotal(drafts)
  await confirm?.(Object.freeze([...drafts]))
  const transactions: Transaction[] = []
  for (const [at, spend] of spends.entries()) {
    // Each spend changes what the next one can use.
    const next = at === 0 ? drafts[at] : await draft(spend)
    if (next === undefined) break
    checkTotal([...transactions, next])
    checkOpen()
    const approval = await secondDevice?.(next)
    // It may have waited for minutes.
    checkOpen()
    transactions.push(await payer.spend(next, { maxNetworkFee, approval }))
  }
  return { transactions }
}

const openForActivation = async (
  { book, wallets }: AccountWallets,
  walletId: WalletId
): Promise<OpenedWallet> => {
  if (book.find(walletId) === undefined) throw new WalletError('WALLET_NOT_FOUND', { walletId })
  return wallets.getOpened(walletId)
}

const walletFactsOf = (book: WalletList): readonly WalletRef[] =>
  book
    .list()
    .flatMap(({ walletId, type, currencyInfo }) =>
      currencyInfo !== undefined && book.isActive(walletId)
        ? [{ walletId, type, pluginId: currencyInfo.pluginId }]
        : []
    )

const payerFacts = async (payer: OpenedWallet['wallet']): Promise<WalletRef & { publicAddress: string }> => {
  const { publicAddress } = await payer.getReceiveAddress()
  return { walletId: payer.id, type: payer.type, pluginId: payer.currencyInfo.pluginId, publicAddress }
}

const readAssets = (pluginId: PluginId, answer: unknown): readonly ActivationAsset[] => {
  const assets = copyPluginData({ pluginId, what: 'activation' }, answer, MAX_ASSETS_LENGTH)
  if (!Array.isArray(assets) || assets.length > MAX_ASSETS || !assets.every(isAsset)) throw bogus(pluginId)
  return assets
}

const isAsset = (value: unknown): value is ActivationAsset =>
  isRecord(value) &&
  typeof value.pluginId === 'string' &&
  isTokenId(value.tokenId) &&
  (value.walletId === undefined || typeof value.walletId === 'string')

/** Checks an offer, and copies it: what is paid is what was shown, whatever the plugin makes of its own. @throws BOGUS_DATA */
const copyOffer = (pluginId: PluginId, answer: unknown): ActivationOffer => {
  const { fromNativeAmount, networkFee, spends } = copyOf(pluginId, answer)
  const isOffer =
    isBalance(fromNativeAmount) &&
    isRecord(networkFee) &&
    isBalance(networkFee.nativeAmount) &&
    isTokenId(networkFee.tokenId) &&
    Array.isArray(spends) &&
    spends.length <= MAX_SPENDS &&
    spends.every(isSpend)
  if (!isOffer) throw bogus(pluginId)
  return {
    fromNativeAmount: nativeAmount(fromNativeAmount),
    networkFee: Object.freeze({
      tokenId: networkFee.tokenId as string | null,
      nativeAmount: nativeAmount(networkFee.nativeAmount as string)
    }),
    spends
  }
}

const copyOf = (pluginId: PluginId, answer: unknown): Record<string, unknown> => {
  try {
    const copy = copyJson(answer, 'activation', MAX_OFFER)
    if (isRecord(copy)) return copy
  } catch (error) {
    if (!isWalletError(error, 'BAD_REPLY')) throw error
  }
  throw bogus(pluginId)
}

const isSpend = (value: unknown): value is SpendInfo =>
  isRecord(value) &&
  isTokenId(value.tokenId) &&
  Array.isArray(value.spendTargets) &&
  value.spendTargets.every(isRecord)

const bogus = (pluginId: PluginId): WalletError =>
  new WalletError('BOGUS_DATA', { pluginId, what: 'activation', path: '' })

const MAX_SPENDS = 10
const MAX_OFFER = 100_000
const MAX_ASSETS = 10_000
const MAX_ASSETS_LENGTH = 10_000_000
