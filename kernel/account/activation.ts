import { abs, add, compare, type NativeAmount, sum } from '../amount.ts'
import { WalletError } from '../errors/wallet-error.ts'
import { isRecord } from '../schema/fields.ts'
import type { ActivationAsset, ActivationOffer, ActivationRequest, WalletFacts } from '../types/engine.ts'
import type { Metadata, SpendInfo, Transaction } from '../types/transaction.ts'
import { isBalance } from '../wallet/engine/engine-data.ts'
import type { OpenedWallet } from '../wallet/open-wallet.ts'
import type { OpenWallets } from './open-wallets.ts'
import type { WalletBook } from './wallet-book.ts'

/** Asks what could pay for an activation. `tokenIds`: tokens to activate; absent: the wallet itself. */
export interface ActivationQuestion {
  readonly walletId: string
  readonly tokenIds?: readonly string[]
}

/** Asks what an activation costs. `payment`: what pays; absent: the wallet itself. */
export interface ActivationWish extends ActivationQuestion {
  readonly payment?: { readonly walletId: string; readonly tokenId: string | null }
}

/** What an activation costs, for a person to approve; nothing is spent before. */
export interface ActivationQuote {
  readonly walletId: string
  readonly paymentWalletId: string
  readonly paymentTokenId: string | null
  readonly fromNativeAmount: NativeAmount
  readonly networkFee: ActivationOffer['networkFee']
  /**
   * Pays, once: a second call gives what the first gave.
   *
   * @throws the spend errors; BOGUS_DATA, before anything is signed, if it would cost more than was said; OPTION_INVALID after `close`
   */
  approve(options?: {
    readonly metadata?: Metadata
  }): Promise<{ readonly transactions: readonly Transaction[] }>
  /** Nothing is paid any more. */
  close(): void
}

/** What activations need of the account. */
export interface ActivationParts {
  readonly book: WalletBook
  readonly wallets: OpenWallets
}

/**
 * The assets that can pay to activate a wallet or tokens of it, as its engine says.
 *
 * @throws WALLET_NOT_FOUND, NOT_SUPPORTED, BOGUS_DATA, ENGINE_FAILED
 */
export const getActivationAssets = async (
  parts: ActivationParts,
  { walletId, tokenIds }: ActivationQuestion
): Promise<readonly ActivationAsset[]> => {
  const { wallet, engine } = await openForActivation(parts, walletId)
  const request = { ...(tokenIds === undefined ? {} : { tokenIds }), wallets: walletFactsOf(parts.book) }
  const assets = await engine.call('naming what can pay for the activation', async made => {
    if (made.getActivationAssets === undefined) throw new WalletError('NOT_SUPPORTED', { what: 'activation' })
    return made.getActivationAssets(request)
  })
  if (Array.isArray(assets) && assets.every(isAsset)) return assets
  throw bogus(wallet.currencyInfo.pluginId)
}

/**
 * What it costs to activate a wallet or tokens of it.
 *
 * @throws WALLET_NOT_FOUND, NOT_SUPPORTED, BOGUS_DATA, ENGINE_FAILED, or what the engine objects
 */
export const activateWallet = async (
  parts: ActivationParts,
  { walletId, tokenIds, payment }: ActivationWish
): Promise<ActivationQuote> => {
  const { wallet, engine } = await openForActivation(parts, walletId)
  const payer = payment === undefined ? wallet : (await openForActivation(parts, payment.walletId)).wallet
  const tokenId = payment?.tokenId ?? null
  const request: ActivationRequest = {
    ...(tokenIds === undefined ? {} : { tokenIds }),
    ...(payment === undefined ? {} : { payment: { ...(await payerFacts(payer)), tokenId } })
  }
  const offer = await engine.call('saying what the activation costs', async made => {
    if (made.activateWallet === undefined) throw new WalletError('NOT_SUPPORTED', { what: 'activation' })
    return made.activateWallet(request)
  })
  const { pluginId } = wallet.currencyInfo
  if (!isOffer(offer)) throw bogus(pluginId)
  let isClosed = false
  let paid: Promise<{ readonly transactions: readonly Transaction[] }> | undefined
  return {
    walletId,
    paymentWalletId: payer.id,
    paymentTokenId: tokenId,
    fromNativeAmount: offer.fromNativeAmount,
    networkFee: offer.networkFee,
    approve({ metadata } = {}) {
      if (isClosed)
        return Promise.reject(new WalletError('OPTION_INVALID', { option: 'quote', rule: 'was closed' }))
      paid ??= pay({ payer, offer, tokenId, pluginId }, metadata)
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
  readonly tokenId: string | null
  /** Whose engine made the offer. */
  readonly pluginId: string
}

const pay = async (
  { payer, offer, tokenId, pluginId }: Payment,
  metadata: Metadata | undefined
): Promise<{ readonly transactions: readonly Transaction[] }> => {
  const { fromNativeAmount, networkFee, spends } = offer
  const limit =
    networkFee.tokenId === tokenId ? add(fromNativeAmount, networkFee.nativeAmount) : fromNativeAmount
  const draft = (spend: SpendInfo): Promise<Transaction> =>
    payer.makeSpend(metadata === undefined ? spend : { ...spend, metadata })
  // The user has approved the amounts of the quote and no others.
  const checkTotal = (drafts: readonly Transaction[]): void => {
    const total = sum(drafts.map(({ nativeAmount }) => abs(nativeAmount)))
    const isOther = drafts.some(tx => tx.tokenId !== tokenId)
    if (isOther || compare(total, limit) > 0) throw bogus(pluginId)
  }
  const drafts: Transaction[] = []
  for (const spend of spends) drafts.push(await draft(spend))
  checkTotal(drafts)
  const transactions: Transaction[] = []
  for (const [at, spend] of spends.entries()) {
    // Each spend changes what the next one can use.
    const next = at === 0 ? drafts[at] : await draft(spend)
    if (next === undefined) break
    checkTotal([...transactions, next])
    transactions.push(await payer.spend(next))
  }
  return { transactions }
}

const openForActivation = async (
  { book, wallets }: ActivationParts,
  walletId: string
): Promise<OpenedWallet> => {
  if (book.find(walletId) === undefined) throw new WalletError('WALLET_NOT_FOUND', { walletId })
  return wallets.getOpened(walletId)
}

const walletFactsOf = (book: WalletBook): readonly WalletFacts[] =>
  book
    .list()
    .flatMap(({ walletId, type, currencyInfo }) =>
      currencyInfo !== undefined && book.isActive(walletId)
        ? [{ walletId, type, pluginId: currencyInfo.pluginId }]
        : []
    )

const payerFacts = async (
  payer: OpenedWallet['wallet']
): Promise<WalletFacts & { publicAddress: string }> => {
  const { publicAddress } = await payer.getReceiveAddress()
  return { walletId: payer.id, type: payer.type, pluginId: payer.currencyInfo.pluginId, publicAddress }
}

const isAsset = (value: unknown): value is ActivationAsset =>
  isRecord(value) &&
  typeof value.pluginId === 'string' &&
  isTokenId(value.tokenId) &&
  (value.walletId === undefined || typeof value.walletId === 'string')

const isOffer = (value: unknown): value is ActivationOffer =>
  isRecord(value) &&
  isBalance(value.fromNativeAmount) &&
  isRecord(value.networkFee) &&
  isBalance(value.networkFee.nativeAmount) &&
  isTokenId(value.networkFee.tokenId) &&
  Array.isArray(value.spends) &&
  value.spends.length <= MAX_SPENDS

const isTokenId = (value: unknown): boolean => value === null || typeof value === 'string'

const bogus = (pluginId: string): WalletError =>
  new WalletError('BOGUS_DATA', { pluginId, what: 'activation', path: '' })

const MAX_SPENDS = 10
