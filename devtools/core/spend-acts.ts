import { nativeAmount, sum, type Transaction } from '../../kernel/index.ts'
import type { SpendReview } from './actions.ts'
import { type ActorPlace, type ActsOf, type OwnedWallet, walletOf } from './actor-place.ts'
import type { DraftShelf } from './draft-shelf.ts'

/** A payment that was made, and not signed. */
export interface SpendDraft extends OwnedWallet {
  readonly draft: Transaction
}

/** Payments: exactly the draft that was reviewed is signed, once. */
export const spendActs = (place: ActorPlace, drafts: DraftShelf<SpendDraft>): ActsOf<'spend'> => ({
  async 'spend.draft'({ walletId, publicAddress: text, nativeAmount: amount, fee }) {
    const owned = await walletOf(place, walletId)
    const { wallet } = owned
    // A payment link may be given, too; its amount is not asked.
    const { publicAddress = text } = await wallet.parseUri(text)
    const draft = await wallet.makeSpend({
      tokenId: null,
      spendTargets: [{ publicAddress, nativeAmount: nativeAmount(amount) }],
      ...(fee === undefined ? {} : { networkFeeOption: fee })
    })
    return { draftId: drafts.put({ ...owned, draft }), review: reviewOf(draft) }
  },
  async 'spend.approve'({ draftId }) {
    const { wallet, draft } = drafts.take(draftId)
    const { txid } = await wallet.spend(draft)
    return { txid }
  },
  async 'spend.discard'({ draftId }) {
    drafts.take(draftId)
    return {}
  }
})

const reviewOf = (draft: Transaction): SpendReview => {
  const targets = (draft.spendTargets ?? []).map(({ publicAddress, nativeAmount: paid }) => ({
    publicAddress,
    nativeAmount: paid
  }))
  return {
    walletId: draft.walletId,
    currencyCode: draft.currencyCode,
    nativeAmount: sum(targets.map(target => target.nativeAmount)),
    networkFee: draft.networkFee,
    targets
  }
}
