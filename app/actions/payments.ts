import {
  type CurrencyWallet,
  coinFeeOf,
  compact,
  nativeAmount,
  type OpenPaymentSnapshot,
  type SpendInfo,
  type SpendTarget,
  sum,
  type Transaction,
  type Txid,
  unusualFeeOf,
  WalletError,
  type WalletId
} from '../../kernel/index.ts'
import { ActionError } from './action-error.ts'
import { aboutPayment, approve, dry, giveUp, replace, send } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import { DraftApprovals } from './draft-approvals.ts'
import {
  chainNotesOf,
  checkForgetConfirmation,
  costOf,
  findOpenPayment,
  openPaymentsOfReview,
  payOnce,
  tokenFeesOf
} from './open-payment-checks.ts'
import { about, amount, type Field, type Nothing, nothing, object, optional, text, txid } from './schema.ts'
import { type OwnedWallet, walletOf } from './services.ts'
import {
  type ApprovedDraft,
  again,
  approvedDraft,
  type DraftedPayment,
  type DraftRef,
  type DraftRequest,
  draftedPayment,
  draftRef,
  draftRequest,
  LEFT_REASONS,
  paymentTxid,
  type ReplaceRequest,
  type RuleRefusal,
  replaceRequest,
  SECOND_WORDS,
  type SpendRequest,
  type SpendReview,
  type SweepReview,
  spendRequest,
  walletId
} from './spend-review.ts'

interface PaymentRef {
  readonly walletId: WalletId
  readonly txid: Txid
}

interface ResendRequest extends PaymentRef {
  readonly again?: readonly string[]
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
  readonly 'spend.resend': { readonly in: ResendRequest; readonly out: SentPayment }
  readonly 'spend.replace': { readonly in: ReplaceRequest; readonly out: DraftedPayment }
  readonly 'spend.forget': { readonly in: ForgetRequest; readonly out: Nothing }
}

const sentPayment: Field<SentPayment> = object<SentPayment>({ txid })

const COINS_SPENT = new ActionError({
  code: 'GONE',
  message: 'The coins of this proposal are spent by now, so nothing was signed',
  details: { what: 'draft' },
  hint: 'It waits again, with another draft: review it once more.'
})

const NOT_FOR_PROGRAMS = { none: 'a program proposes, and the agent keeps its draft for a person' }

/** Payments: exactly the draft that was reviewed is signed, once. */
export const paymentActions: DeclarationsOf<PaymentActions> = {
  'spend.draft': {
    title: 'Draft a payment',
    summary: 'Drafts a payment and gives its review. Nothing is signed before the draft is approved.',
    effect: 'changes',
    input: draftRequest,
    output: draftedPayment,
    async run(services, input) {
      const owned = await walletOf(services, input.walletId)
      const { spend, legacyAddresses } = await spendOf(owned.wallet, input)
      await owned.wallet.lookAtOpenPayments()
      const draft = await owned.wallet.makeSpend(spend)
      const refusal = await refusalOf(owned, draft)
      const { coins } = input
      const review = { ...reviewSpend(owned.wallet, draft), ...compact({ coins, legacyAddresses, refusal }) }
      const approvals = new DraftApprovals(owned.account, [draft])
      return { draftId: services.spends.put({ ...owned, draft, approvals }), review }
    },
    commandLine: send,
    faces: {
      cli: 'send',
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
      const { wallet } = await walletOf(services, input.walletId)
      return { nativeAmount: await wallet.getMaxSpendable((await spendOf(wallet, input)).spend) }
    },
    commandLine: (input, names) => dry(send(input, names)),
    faces: {
      cli: 'send',
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
    async run({ spends, approval, proposals }, { draftId, maxNetworkFee: most, again }) {
      const { account, wallet, draft, approvals, proposalId } = spends.take(draftId)
      // Waits before its turn: other payments of the wallet do not wait for a person elsewhere.
      const [second] = await approvals.complete(each => approval?.secondDevice?.(each))
      const similar = () => {
        // Another panel or the application may have logged it out; if it is back, this is not its wallet.
        if (!account.isLoggedIn) throw new WalletError('LOGGED_OUT', {})
        // One that has its answer by now is no second payment.
        if (proposalId !== undefined) proposals?.waiting(proposalId)
        return wallet.similarPayments(draft)
      }
      return payOnce({ walletId: wallet.id, similar, again, approval }, async () => {
        approval?.onStart()
        const { signal, onProgress } = approval ?? {}
        const maxNetworkFee = most === undefined ? undefined : nativeAmount(most)
        const pay = async (): Promise<Transaction> =>
          draft.signedTx === ''
            ? wallet.spend(draft, compact({ maxNetworkFee, approval: second, signal, onProgress }))
            : sendSwept(wallet, draft)
        const sent =
          proposalId === undefined ? await pay() : await proposals?.pay(proposalId, { account, wallet }, pay)
        if (sent === undefined) throw COINS_SPENT
        approval?.onSent(sent)
        return { txid: sent.txid }
      })
    },
    commandLine: approve,
    faces: {
      cli: 'send',
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
      spends.take(draftId).approvals.cancel()
      return {}
    },
    commandLine: giveUp,
    faces: {
      cli: { command: 'send', own: 'what is not approved ends with the command' },
      panel: 'review-state',
      mcp: NOT_FOR_PROGRAMS
    }
  },
  'spend.resend': {
    title: 'Send a payment again',
    summary: 'Sends the bytes of an open payment again, and never others.',
    effect: 'pays',
    isAboutAddresses: true,
    input: object<ResendRequest>({ walletId, txid: paymentTxid, again: optional(again) }),
    output: sentPayment,
    async run(services, { walletId: paying, txid: open, again: allowed }) {
      const { approval } = services
      const { wallet } = await walletOf(services, paying)
      const similar = () => similarToUnsent(wallet, open)
      return payOnce({ walletId: wallet.id, similar, again: allowed, approval }, async () => {
        approval?.onStart()
        const sent = await wallet.resendTx(open)
        approval?.onSent(sent)
        return { txid: sent.txid }
      })
    },
    commandLine: ({ again: allowed = [], ...input }, names) => {
      const { words, flags } = aboutPayment('resend')(input, names)
      return { words, flags: { ...flags, again: allowed.length > 0 } }
    },
    faces: {
      cli: 'tx resend',
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
    async run(services, { walletId: paying, txid: open, ...fee }) {
      const owned = await walletOf(services, paying)
      const { tx } = await findOpenPayment(owned.wallet, open)
      const draft = await owned.wallet.makeSpend(replacementOf(tx, fee))
      const review = {
        ...reviewSpend(owned.wallet, draft),
        ...compact({ refusal: await refusalOf(owned, draft) })
      }
      const approvals = new DraftApprovals(owned.account, [draft])
      return { draftId: services.spends.put({ ...owned, draft, approvals }), review }
    },
    commandLine: replace,
    faces: {
      cli: 'tx replace',
      panel: 'raise-fee',
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
      cli: 'tx forget',
      panel: 'open-payments',
      mcp: { none: 'it cannot be taken back, so a person types the start of the txid' }
    }
  }
}

/** What a second server says of the coins of a sweep, as its plugin has noted it. */
const secondWordOf = (servers: unknown): Pick<SweepReview, 'onlyHere' | 'onlyThere' | 'secondWord'> => {
  const said = new Map(typeof servers === 'object' && servers !== null ? Object.entries(servers) : [])
  const secondWord = SECOND_WORDS.find(word => word === said.get('word')) ?? 'alone'
  const countOf = (name: string): number => {
    const coins: unknown = said.get(name)
    return Number.isSafeInteger(coins) && Number(coins) > 0 ? Math.min(Number(coins), 100_000) : 0
  }
  return { secondWord, onlyHere: countOf('onlyHere'), onlyThere: countOf('onlyThere') }
}

/** Sends what is signed with other keys. Once it has left, a failure to record it is mended by the next look at the chain. */
const sendSwept = async (wallet: CurrencyWallet, swept: Transaction): Promise<Transaction> => {
  const sent = await wallet.broadcastTx(swept)
  await wallet.saveTx(sent).catch(() => undefined)
  return sent
}

/** A payment that was never sent is a payment more, beside those that pay the same; one that was sent is none. */
const similarToUnsent = async (
  wallet: CurrencyWallet,
  open: Txid
): Promise<readonly OpenPaymentSnapshot[]> => {
  const { openPayments } = wallet.getSnapshot()
  if (!openPayments.some(each => each.txid === open && each.state === 'signed')) return []
  const { tx } = await findOpenPayment(wallet, open)
  return wallet.similarPayments(tx).filter(each => each.txid !== open)
}

const replacementOf = (
  { txid: replaced, tokenId, spendTargets = [], memos, metadata }: Transaction,
  fee: Pick<SpendRequest, 'customFee' | 'fee'>
): SpendInfo => ({
  tokenId,
  spendTargets: spendTargets.map(({ publicAddress, nativeAmount: paid }) => ({
    publicAddress,
    nativeAmount: paid
  })),
  ...compact({ memos: memos.length === 0 ? undefined : memos }),
  ...feeOf(fee),
  metadata,
  replaces: replaced
})

/** The fee of a request, as the kernel takes it. */
export const feeOf = ({
  fee,
  customFee
}: Pick<SpendRequest, 'customFee' | 'fee'>): Pick<SpendInfo, 'customNetworkFee' | 'networkFeeOption'> =>
  customFee === undefined
    ? compact({ networkFeeOption: fee })
    : { networkFeeOption: 'custom', customNetworkFee: customFee }

/**
 * Makes the request of a payment, or without an amount that of the most that can be paid. A payment link may stand for an
 * address; its amount is not read.
 *
 * @returns with the addresses of a form that another currency uses, too
 * @throws ADDRESS_INVALID, AMOUNT_INVALID, TX_NOT_FOUND for what it cannot replace
 */
export const spendOf = async (
  wallet: CurrencyWallet,
  request: SpendRequest & Partial<DraftRequest>
): Promise<{ readonly spend: SpendInfo } & Pick<SpendReview, 'legacyAddresses'>> => {
  const { publicAddress, nativeAmount: paid, others = [], replaces, memos, notes } = request
  const { withUnconfirmed, coins } = request
  const legacyAddresses: string[] = []
  const spendTargets: SpendTarget[] = []
  for (const payee of [{ publicAddress, nativeAmount: paid }, ...others]) {
    const { publicAddress: read, legacyAddress } = await wallet.parseUri(payee.publicAddress)
    if (legacyAddress !== undefined) legacyAddresses.push(legacyAddress)
    const amountOfPayee = payee.nativeAmount === undefined ? undefined : nativeAmount(payee.nativeAmount)
    spendTargets.push({
      publicAddress: read ?? payee.publicAddress,
      ...compact({ nativeAmount: amountOfPayee })
    })
  }
  const replaced = replaces === undefined ? undefined : await findOpenPayment(wallet, replaces)
  return {
    spend: {
      tokenId: request.tokenId ?? null,
      spendTargets,
      ...feeOf(request),
      ...compact({
        memos,
        metadata: notes ?? replaced?.tx.metadata,
        noUnconfirmed: withUnconfirmed === undefined ? undefined : !withUnconfirmed,
        replaces,
        coins
      })
    },
    ...compact({ legacyAddresses: legacyAddresses.length === 0 ? undefined : legacyAddresses })
  }
}

/** The rule of the account that refuses a draft. */
export const refusalOf = async (
  { account }: Pick<OwnedWallet, 'account'>,
  draft: Transaction
): Promise<RuleRefusal | undefined> => {
  const explanation = await account.policies.explain(draft)
  const { isAllowed, refusedBy = '', reason = '', allowedAt } = explanation
  if (isAllowed) return undefined
  const approvers = explanation.approvers?.map(({ name }) => name)
  return { ...compact({ allowedAt }), untrusted: { rule: refusedBy, reason, ...compact({ approvers }) } }
}

/** Reviews a payment before it is signed, or before its bytes are sent. */
export const reviewSpend = (wallet: CurrencyWallet, draft: Transaction): SpendReview => {
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
    ...tokenFeesOf(wallet, [draft]),
    ...compact({ usualNetworkFee: unusual?.usualNetworkFee, sweep: sweepOf(draft) }),
    targets,
    ...costOf(wallet, [draft], draft.tokenId),
    ...chainNotesOf([draft]),
    ...openPaymentsOfReview(wallet, draft)
  }
}

const sweepOf = ({ isSend, spentCoins = [], otherParams }: Transaction): SpendReview['sweep'] => {
  if (isSend) return undefined
  const { leftOut, servers } = otherParams ?? {}
  // Made by the plugin.
  const said = new Map(typeof leftOut === 'object' && leftOut !== null ? Object.entries(leftOut) : [])
  const left = LEFT_REASONS.flatMap(reason => {
    const worth = said.get(reason)
    return typeof worth === 'string' && /^\d{1,100}$/.test(worth) ? [{ reason, nativeAmount: worth }] : []
  })
  return { coinCount: spentCoins.length, left, ...secondWordOf(servers) }
}
