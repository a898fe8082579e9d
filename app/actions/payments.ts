import {
  type CurrencyWallet,
  coinFeeOf,
  compact,
  type NativeAmount,
  nativeAmount,
  type SpendInfo,
  sum,
  type Transaction,
  type Txid,
  unusualFeeOf,
  WalletError,
  type WalletId
} from '../../kernel/index.ts'
import { aboutPayment, approve, dry, giveUp, replace, send } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import {
  approveInTurn,
  chainNotesOf,
  checkForgetConfirmation,
  checkSecondPayment,
  findOpenPayment,
  openPaymentsOfReview
} from './open-payment-checks.ts'
import { about, amount, type Field, type Nothing, nothing, object, text, txid } from './schema.ts'
import { type ActionHost, type OwnedWallet, walletOf } from './services.ts'
import {
  type ApprovedDraft,
  approvedDraft,
  type DraftedPayment,
  type DraftRef,
  type DraftRequest,
  draftedPayment,
  draftRef,
  draftRequest,
  paymentTxid,
  type ReplaceRequest,
  replaceRequest,
  type SpendRequest,
  type SpendReview,
  spendRequest,
  walletId
} from './spend-review.ts'

interface PaymentRef {
  readonly walletId: WalletId
  readonly txid: Txid
}

interface ForgetRequest extends PaymentRef {
  readonly confirm: string
}

interface SentPayment {
  readonly txid: Txid
}

/** Actions about payments: a draft is reviewed, then approved once. */
export interface PaymentActions {
  readonly 'spend.draft': { readonly in: DraftRequest; readonly out: DraftedPayment }
  readonly 'spend.max': { readonly in: SpendRequest; readonly out: { readonly nativeAmount: string } }
  readonly 'spend.approve': { readonly in: ApprovedDraft; readonly out: SentPayment }
  readonly 'spend.discard': { readonly in: DraftRef; readonly out: Nothing }
  // Open payments: what may have left and is not confirmed.
  readonly 'spend.resend': { readonly in: PaymentRef; readonly out: SentPayment }
  readonly 'spend.replace': { readonly in: ReplaceRequest; readonly out: DraftedPayment }
  readonly 'spend.forget': { readonly in: ForgetRequest; readonly out: Nothing }
}

const sentPayment: Field<SentPayment> = object<SentPayment>({ txid })

const NOT_FOR_PROGRAMS = { none: 'a program proposes, and the agent keeps its draft for a person' }

/** Payments: exactly the draft that was reviewed is signed, once. */
export const paymentActions: DeclarationsOf<PaymentActions> = {
  'spend.draft': {
    title: 'Draft a payment',
    summary: 'Drafts a payment and gives its review. Nothing is signed before the draft is approved.',
    effect: 'changes',
    input: draftRequest,
    output: draftedPayment,
    async run(services, { nativeAmount: paid, ...input }) {
      const { owned, request, legacyAddress } = await requestOf(services, input, nativeAmount(paid))
      await owned.wallet.lookAtOpenPayments()
      const draft = await owned.wallet.makeSpend(request)
      const review = { ...reviewOf(owned.wallet, draft), ...compact({ legacyAddress }) }
      return { draftId: services.spends.put({ ...owned, draft }), review }
    },
    commandLine: send,
    faces: {
      cli: { command: 'send', own: 'it takes several payees, custom fees, memos and notes' },
      panel: 'send-form',
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'spend.max': {
    title: 'Find the most that can be paid',
    summary: 'Finds the most that a wallet can pay to a payee at a fee level.',
    effect: 'reads',
    input: spendRequest,
    output: object<PaymentActions['spend.max']['out']>({
      nativeAmount: about(amount, 'Native units, without the network fee')
    }),
    async run(services, input) {
      const { owned, request } = await requestOf(services, input)
      return { nativeAmount: await owned.wallet.getMaxSpendable(request) }
    },
    commandLine: (input, names) => dry(send(input, names)),
    faces: {
      cli: { command: 'send', own: 'it takes several payees, custom fees, memos and notes' },
      panel: 'send-form',
      mcp: 'tool'
    }
  },
  'spend.approve': {
    title: 'Approve a payment',
    summary: 'Signs and sends a payment that was drafted and reviewed, once.',
    effect: 'pays',
    input: approvedDraft,
    output: sentPayment,
    async run({ spends }, { draftId, maxNetworkFee: most, again }) {
      const { account, wallet, draft } = spends.take(draftId)
      return approveInTurn(wallet, async () => {
        // Another panel or the application may have logged it out; if it is back, this is not its wallet.
        if (!account.isLoggedIn) throw new WalletError('LOGGED_OUT', {})
        checkSecondPayment(wallet.similarPayments(draft), again === undefined ? {} : { again })
        const { txid: sent } = await wallet.spend(
          draft,
          most === undefined ? {} : { maxNetworkFee: nativeAmount(most) }
        )
        return { txid: sent }
      })
    },
    commandLine: approve,
    faces: {
      cli: { command: 'send', own: 'it takes several payees, custom fees, memos and notes' },
      panel: 'review-dialog',
      mcp: { none: 'a person or a policy approves a proposal, never the program that made it' }
    }
  },
  'spend.discard': {
    title: 'Discard a draft',
    summary: 'Gives up a payment that was drafted.',
    effect: 'changes',
    input: draftRef,
    output: nothing,
    async run({ spends }, { draftId }) {
      spends.take(draftId)
      return {}
    },
    commandLine: giveUp,
    faces: {
      cli: { command: 'send', own: 'it takes several payees, custom fees, memos and notes' },
      panel: 'review-state',
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'spend.resend': {
    title: 'Send a payment again',
    summary: 'Sends the bytes of an open payment again, and never others.',
    effect: 'pays',
    isAboutAddresses: true,
    input: object<PaymentRef>({ walletId, txid: paymentTxid }),
    output: sentPayment,
    async run(services, { walletId: paying, txid: open }) {
      const { wallet } = await walletOf(services, paying)
      return approveInTurn(wallet, async () => {
        await checkUnsent(wallet, open)
        return { txid: (await wallet.resendTx(open)).txid }
      })
    },
    commandLine: aboutPayment('resend'),
    faces: {
      cli: { command: 'tx resend', own: 'it takes several payees, custom fees, memos and notes' },
      panel: 'open-payments',
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'spend.replace': {
    title: 'Replace a payment',
    summary: 'Drafts a payment that takes the place of an open one, to the same payees, at another fee.',
    effect: 'changes',
    isAboutAddresses: true,
    input: replaceRequest,
    output: draftedPayment,
    async run(services, { walletId: paying, txid: open, fee }) {
      const owned = await walletOf(services, paying)
      const { tx } = await findOpenPayment(owned.wallet, open)
      const draft = await owned.wallet.makeSpend(replacementOf(tx, fee))
      return { draftId: services.spends.put({ ...owned, draft }), review: reviewOf(owned.wallet, draft) }
    },
    commandLine: replace,
    faces: {
      cli: { command: 'tx replace', own: 'it takes several payees, custom fees, memos and notes' },
      panel: 'open-payments',
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'spend.forget': {
    title: 'Forget a payment',
    summary: 'Forgets an open payment and frees its coins. It can still be mined.',
    effect: 'loses',
    isAboutAddresses: true,
    input: object<ForgetRequest>({
      walletId,
      txid: paymentTxid,
      confirm: about(text(200), 'The first eight characters of the txid')
    }),
    output: nothing,
    async run(services, { walletId: paying, txid: open, confirm }) {
      checkForgetConfirmation({ txid: open, confirm })
      const { wallet } = await walletOf(services, paying)
      await wallet.forgetTx(open)
      return {}
    },
    commandLine: aboutPayment('forget'),
    faces: {
      cli: { command: 'tx forget', own: 'it takes several payees, custom fees, memos and notes' },
      panel: 'open-payments',
      mcp: { none: 'it cannot be taken back, so a person types the start of the txid' }
    }
  }
}

/**
 * A payment that was never sent is a payment more, which nobody has reviewed beside the others.
 *
 * @throws ActionError CONFIRMATION_REQUIRED
 */
const checkUnsent = async (wallet: CurrencyWallet, open: Txid): Promise<void> => {
  const { openPayments } = wallet.getSnapshot()
  if (!openPayments.some(each => each.txid === open && each.state === 'signed')) return
  const { tx } = await findOpenPayment(wallet, open)
  checkSecondPayment(
    wallet.similarPayments(tx).filter(each => each.txid !== open),
    {}
  )
}

const replacementOf = (
  { txid: replaced, tokenId, spendTargets = [], memos, metadata }: Transaction,
  fee: SpendRequest['fee']
): SpendInfo => ({
  tokenId,
  spendTargets: spendTargets.map(({ publicAddress, nativeAmount: paid }) => ({
    publicAddress,
    nativeAmount: paid
  })),
  ...compact({ memos: memos.length === 0 ? undefined : memos, networkFeeOption: fee }),
  metadata,
  replaces: replaced
})

/** A payment link may be given, too; its amount is not asked. */
const requestOf = async (
  services: ActionHost,
  { walletId: paying, tokenId, publicAddress: typed, fee }: SpendRequest,
  paid?: NativeAmount
): Promise<{ readonly owned: OwnedWallet; readonly request: SpendInfo; readonly legacyAddress?: string }> => {
  const owned = await walletOf(services, paying)
  const { publicAddress = typed, legacyAddress } = await owned.wallet.parseUri(typed)
  const target = { publicAddress, ...compact({ nativeAmount: paid }) }
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
