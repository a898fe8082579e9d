import {
  type CurrencyWallet,
  coinFeeOf,
  compact,
  type NativeAmount,
  nativeAmount,
  type SpendInfo,
  sum,
  type Transaction,
  unusualFeeOf,
  WalletError
} from '../../../kernel/index.ts'
import type { SpendRequest, SpendReview } from '../model/actions.ts'
import type { DraftStore } from './drafts.ts'
import {
  approveInTurn,
  chainNotesOf,
  checkForgetConfirmation,
  checkSecondPayment,
  findOpenPayment,
  openPaymentsOfReview
} from './open-payment-checks.ts'
import { type ActionServices, type HandlersOf, type OwnedWallet, walletOf } from './services.ts'

/** A payment that was made, and not signed. */
export interface SpendDraft extends OwnedWallet {
  readonly draft: Transaction
}

/** Payments: exactly the draft that was reviewed is signed, once. */
export const spendHandlers = (
  services: ActionServices,
  drafts: DraftStore<SpendDraft>
): HandlersOf<'spend'> => ({
  async 'spend.draft'({ nativeAmount: amount, ...input }) {
    const { owned, request, legacyAddress } = await requestOf(services, input, nativeAmount(amount))
    await owned.wallet.lookAtOpenPayments()
    const draft = await owned.wallet.makeSpend(request)
    const review = {
      ...reviewOf(owned.wallet, draft),
      ...compact({ legacyAddress })
    }
    return { draftId: drafts.put({ ...owned, draft }), review }
  },
  async 'spend.max'(input) {
    const { owned, request } = await requestOf(services, input)
    return { nativeAmount: await owned.wallet.getMaxSpendable(request) }
  },
  async 'spend.approve'({ draftId, maxNetworkFee: most, again }) {
    const { account, wallet, draft } = drafts.take(draftId)
    return approveInTurn(wallet, async () => {
      // Another panel or the application may have logged it out; if it is back, this is not its wallet.
      if (!account.isLoggedIn) throw new WalletError('LOGGED_OUT', {})
      checkSecondPayment(wallet.similarPayments(draft), again === undefined ? {} : { again })
      const { txid } = await wallet.spend(
        draft,
        most === undefined ? {} : { maxNetworkFee: nativeAmount(most) }
      )
      return { txid }
    })
  },
  async 'spend.discard'({ draftId }) {
    drafts.take(draftId)
    return {}
  },
  async 'spend.resend'({ walletId, txid }) {
    const { wallet } = await walletOf(services, walletId)
    return approveInTurn(wallet, async () => {
      const { openPayments } = wallet.getSnapshot()
      // One that was never sent is a payment more, which nobody has reviewed beside the others.
      if (openPayments.some(open => open.txid === txid && open.state === 'signed')) {
        const { tx } = await findOpenPayment(wallet, txid)
        checkSecondPayment(
          wallet.similarPayments(tx).filter(open => open.txid !== txid),
          {}
        )
      }
      return { txid: (await wallet.resendTx(txid)).txid }
    })
  },
  async 'spend.replace'({ walletId, txid, fee }) {
    const owned = await walletOf(services, walletId)
    const { tx } = await findOpenPayment(owned.wallet, txid)
    const draft = await owned.wallet.makeSpend(replacementOf(tx, fee))
    return { draftId: drafts.put({ ...owned, draft }), review: reviewOf(owned.wallet, draft) }
  },
  async 'spend.forget'({ walletId, txid, confirm }) {
    checkForgetConfirmation({ txid, confirm })
    const { wallet } = await walletOf(services, walletId)
    await wallet.forgetTx(txid)
    return {}
  }
})

const replacementOf = (
  { txid, tokenId, spendTargets = [], memos, metadata }: Transaction,
  fee: SpendRequest['fee']
): SpendInfo => ({
  tokenId,
  spendTargets: spendTargets.map(({ publicAddress, nativeAmount: paid }) => ({
    publicAddress,
    nativeAmount: paid
  })),
  ...compact({ memos: memos.length === 0 ? undefined : memos, networkFeeOption: fee }),
  metadata,
  replaces: txid
})

/** A payment link may be given, too; its amount is not asked. */
const requestOf = async (
  services: ActionServices,
  { walletId, tokenId, publicAddress: text, fee }: SpendRequest,
  amount?: NativeAmount
): Promise<{ readonly owned: OwnedWallet; readonly request: SpendInfo; readonly legacyAddress?: string }> => {
  const owned = await walletOf(services, walletId)
  const { publicAddress = text, legacyAddress } = await owned.wallet.parseUri(text)
  const target = { publicAddress, ...compact({ nativeAmount: amount }) }
  return {
    owned,
    ...compact({ legacyAddress }),
    request: {
      tokenId: tokenId ?? null,
      spendTargets: [target],
      ...compact({ networkFeeOption: fee })
    }
  }
}

const reviewOf = (wallet: CurrencyWallet, draft: Transaction): SpendReview => {
  const targets = (draft.spendTargets ?? []).map(({ publicAddress, nativeAmount: paid }) => ({
    publicAddress,
    nativeAmount: paid
  }))
  const unusual = unusualFeeOf(draft)
  return {
    walletId: draft.walletId,
    ...compact({ tokenId: draft.tokenId ?? undefined }),
    currencyCode: draft.currencyCode,
    nativeAmount: sum(targets.map(target => target.nativeAmount)),
    networkFee: coinFeeOf(draft),
    ...compact({ usualNetworkFee: unusual?.usualNetworkFee }),
    targets,
    ...chainNotesOf([draft]),
    ...openPaymentsOfReview(wallet, draft)
  }
}
