import { inTurn } from '../../app/actions/open-payment-checks.ts'
import {
  type ApprovalRequest,
  type CurrencyWallet,
  compact,
  type Transaction,
  unusualFeeOf
} from '../../kernel/index.ts'
import { failureOf } from '../errors/failure.ts'
import type { NewProposal, Proposal, ProposalPolicy, Proposals } from '../programs/proposals.ts'
import { payProposal, refuseProposal } from './answer-proposal.ts'
import { assetOfWallet, draftAgain, type ProposalContext } from './propose.ts'

/**
 * Returns what the rules of the account say of a drafted payment of a client. Only a rule that names the client lets it pay by
 * itself; an account without rules lets no program pay. A payment with something unusual is for a person to judge: a fee, an old
 * form of address, or an open payment of the same amount to the same payee.
 */
export const policyOf = async (
  { account, client }: ProposalContext,
  wallet: CurrencyWallet,
  { draft, review }: Pick<NewProposal, 'draft' | 'review'>
): Promise<{ readonly policy: ProposalPolicy; readonly canBeApproved: boolean }> => {
  const explained = await account.policies.explain(draft, { requestedBy: client.name })
  const { isAllowedByName, refusedBy, allowedAt, approvers } = explained
  const isUsual =
    unusualFeeOf(draft) === undefined &&
    review.isLegacyAddress !== true &&
    wallet.similarPayments(draft).length === 0
  if (isAllowedByName && isUsual) return { policy: { isAllowed: true }, canBeApproved: false }
  const allowedFrom = allowedAt === undefined ? undefined : new Date(allowedAt).toISOString()
  return {
    policy: {
      isAllowed: false,
      rule: refusedBy ?? 'needs a person',
      ...compact({ allowedAt: allowedFrom })
    },
    canBeApproved: isUsual && approvers !== undefined
  }
}

/** Asks another device to approve what only that keeps a client from paying by itself. @throws the errors of `requestApproval` */
export const requestApprovalOf = async (
  { account, client }: ProposalContext,
  draft: Transaction,
  lifeMs: number
): Promise<{ readonly request: ApprovalRequest; readonly command: string }> => {
  const timeoutSeconds = Math.min(86_400, Math.max(1, Math.floor(lifeMs / 1000)))
  const request = await account.policies.requestApproval(draft, { requestedBy: client.name, timeoutSeconds })
  return { request, command: `holdfast policy approve ${request.lobbyId}` }
}

/** Pays a proposal once another device has approved its draft; a no refuses it, and so does an end. Never rejects. */
export const payWhenApproved = async (
  { session, client }: ProposalContext,
  {
    wallet,
    proposals,
    proposal,
    request
  }: {
    readonly wallet: CurrencyWallet
    readonly proposals: Proposals
    readonly proposal: Proposal
    readonly request: ApprovalRequest
  }
): Promise<void> => {
  const { id, draft } = proposal
  const answered = new AbortController()
  // A person can answer it here meanwhile, and its program can cancel it.
  void proposals.whenNot('waiting', proposal, answered.signal).then(
    () => request.cancel(),
    () => request.cancel()
  )
  try {
    const approval = await request.answer
    const payment = inTurn(wallet.id, () =>
      payProposal(session, {
        ...{ proposals, id },
        pay: () => wallet.spend(draft, { requestedBy: client.name, knownSimilar: [], approval })
      })
    )
    session.agent?.duringPayment(payment)
    await payment
    void wallet.sync().catch(() => {})
  } catch (error) {
    if (proposals.find(id).state === 'waiting')
      refuseProposal(session, proposals, { id, reason: failureOf(error).code })
  } finally {
    answered.abort()
  }
}

/** A draft whose coins another payment has taken meanwhile is made again this often. */
const MAX_DRAFTS = 3

/**
 * Pays a proposal that a rule allows its client by name. The rules judge the payment once more when it is signed.
 *
 * @returns the proposal as it is then: how the payment ended is in its state, and it waits if the rules no longer allow it
 */
export const payByName = async (
  context: ProposalContext,
  {
    wallet,
    proposals,
    proposal
  }: { readonly wallet: CurrencyWallet; readonly proposals: Proposals; readonly proposal: Proposal }
): Promise<Proposal> => {
  const { session, client, account } = context
  const asset = await assetOfWallet(account, wallet, proposal.draft.tokenId)
  let current = proposal
  for (let count = 1; count <= MAX_DRAFTS && current.state === 'waiting'; count += 1) {
    const { id, draft } = current
    if (count > 1 && !(await policyOf(context, wallet, current)).policy.isAllowed) break
    const payment = inTurn(wallet.id, () =>
      payProposal(session, {
        ...{ proposals, id },
        pay: () => wallet.spend(draft, { requestedBy: client.name, knownSimilar: [] }),
        renew: () => draftAgain(wallet, { ...proposal, asset })
      })
    )
    session.agent?.duringPayment(payment)
    // Its state says how it ended.
    const sent = await payment.catch(() => undefined)
    // The payment is saved here; its record reaches the server with the next sync otherwise.
    if (sent !== undefined) void wallet.sync().catch(() => {})
    current = proposals.find(id)
  }
  return current
}
