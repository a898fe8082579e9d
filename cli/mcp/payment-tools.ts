import {
  about,
  address,
  boundedResult,
  count,
  type Field,
  flag,
  id,
  object,
  oneOf,
  optional,
  patterned,
  signedAmount,
  text,
  ticker,
  txid
} from '../../app/actions/schema.ts'
import { type TokenFee, tokenFees } from '../../app/actions/spend-review.ts'
import {
  type Account,
  type ApprovalRequest,
  type CurrencyWallet,
  compact,
  type JsonObject
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { type ProgramClient, ProgramClients } from '../programs/clients.ts'
import type { Proposal, Proposals } from '../programs/proposals.ts'
import type { Session } from '../session/session.ts'
import { noteEnd, refuseProposal } from './answer-proposal.ts'
import { payByName, payWhenApproved, policyOf, requestApprovalOf } from './pay-by-name.ts'
import { draftProposal, type ProposalContext, type ProposalRequest } from './propose.ts'
import type { ProgramTool } from './serve-tools.ts'

/** Options of {@link paymentTools}. */
export interface PaymentToolOptions {
  readonly session: Session
  readonly client: ProgramClient
  readonly proposals: Proposals
  /** The time that a proposal waits, in milliseconds. */
  readonly lifeMs: number
  /** @throws LOGGED_OUT */
  account(): Account
}

/** The tools of a program that may propose payments: none of them signs anything that no person and no policy allows. */
export const paymentTools = (options: PaymentToolOptions): readonly ProgramTool[] => [
  proposeTool(options),
  statusTool(options),
  cancelTool(options)
]

interface Figure {
  readonly native: string
  readonly display: string
  readonly decimals: number
}

const figure: Field<Figure> = object<Figure>({
  native: about(signedAmount, 'Whole number of the smallest unit'),
  display: about(patterned('^-?[0-9.]{1,201}$', 'a number'), 'The same in the main unit, without a code'),
  decimals: count(0, 100)
})

interface Review {
  readonly walletId: string
  readonly tokenId?: string
  readonly ticker: string
  readonly payee: string
  readonly amount: Figure
  readonly networkFee: Figure
  /** What the network takes in tokens besides. */
  readonly tokenFees?: readonly TokenFee[]
  readonly total: Figure
  readonly balance: Figure
  readonly isFeeUnusual: boolean
  readonly isLegacyAddress: boolean
  readonly similarPayments: number
}

const review: Field<Review> = object<Review>({
  walletId: id,
  tokenId: optional(text(200)),
  ticker,
  payee: address,
  amount: figure,
  networkFee: about(figure, 'In the coin of the chain, on top'),
  tokenFees: optional(about(tokenFees, 'What the network takes in tokens besides')),
  total: figure,
  balance: about(figure, 'Of the wallet, before the payment'),
  isFeeUnusual: about(flag, 'True if the network fee is more than ten times the usual one'),
  isLegacyAddress: about(flag, 'True if another currency writes its addresses in the same way'),
  similarPayments: about(count(0, 1_000_000), 'Open payments of the same amount to the same payee')
})

interface PolicyReply {
  readonly isAllowed: boolean
  readonly rule?: string
  readonly allowedAt?: string
  readonly secondDevice?: string
}

interface ProposalReply {
  readonly id: string
  readonly state: Proposal['state']
  readonly reason?: string
  readonly txid?: string
  readonly policy?: PolicyReply
  readonly approve: string
  readonly endsAt: string
  readonly review: Review
}

const proposalReply: Field<ProposalReply> = object<ProposalReply>({
  id,
  state: about(
    oneOf('waiting', 'sending', 'sent', 'refused', 'unsure'),
    'waiting: for a person. refused: nothing was paid, and nothing will be. unsure: it may have been paid; never propose it again, ask a person'
  ),
  reason: optional(about(patterned('^[A-Z][A-Z0-9_]{1,40}$', 'a code'), 'Why it was refused or is unsure')),
  txid: optional(txid),
  policy: optional(
    about(
      object<PolicyReply>({
        isAllowed: about(flag, 'True if a rule of the account lets this client pay it by itself'),
        rule: optional(about(patterned('^[A-Za-z0-9_ -]{1,64}$', 'a rule'), 'The rule that refuses')),
        allowedAt: optional(about(text(40), 'ISO time from which the rules would allow it')),
        secondDevice: optional(
          about(text(200), 'It waits for another device, where a person approves it with this command')
        )
      }),
      'For clients with the scope spend'
    )
  ),
  approve: about(text(200), 'The command with which a person answers it'),
  endsAt: about(text(40), 'ISO time after which it is refused unless a person has answered it'),
  review
})

const replyOf = ({
  id: proposalId,
  state,
  reason,
  txid: sent,
  policy,
  ends,
  review: shown
}: Proposal): JsonObject =>
  boundedResult(proposalReply, {
    id: proposalId,
    state,
    ...compact({ reason, txid: sent, policy }),
    approve: `holdfast proposals approve ${proposalId}`,
    endsAt: new Date(ends).toISOString(),
    review: shown as unknown as Review
  }) as unknown as JsonObject

const request: Field<ProposalRequest> = object<ProposalRequest>({
  walletId: about(id, 'The wallet that pays'),
  tokenId: optional(about(text(200), 'A token of the wallet; left out: the coin of its chain')),
  payee: about(text(1000), 'An address, or a payment link, whose amount is not used'),
  amount: about(
    patterned('^[0-9]{1,30}(\\.[0-9]{1,30})? ?[A-Za-z][A-Za-z0-9.]{0,19}$', 'an amount with its unit'),
    'With its unit, such as 0.01 BTC or 1000 native'
  ),
  fee: optional(oneOf('low', 'standard', 'high')),
  note: optional(about(text(200), 'What it is for: the person sees it, and it is kept with the payment'))
})

const proposeTool = ({ session, client, proposals, lifeMs, account }: PaymentToolOptions): ProgramTool => ({
  name: 'propose_payment',
  title: 'Propose a payment',
  description:
    'Drafts a payment and asks for it. Nothing is signed: a person approves it in a terminal or the panel, or a policy of the account allows it. The state of the reply says which. A proposal that nobody answers is refused at the time of endsAt.',
  input: request.schema,
  output: proposalReply.schema,
  isReading: false,
  isIdempotent: false,
  async run(input) {
    const context = { session, client, account: account() }
    const {
      wallet,
      proposal,
      request: forDevice
    } = await addProposal(context, {
      ...{ proposals, lifeMs },
      request: input as unknown as ProposalRequest
    })
    noteEnd(session, proposal)
    if (forDevice !== undefined) {
      void payWhenApproved(context, { wallet, proposals, proposal, request: forDevice })
      return replyOf(proposal)
    }
    const ended =
      proposal.policy?.isAllowed === true
        ? await payByName(context, { wallet, proposals, proposal })
        : proposal
    if (ended.state !== 'waiting' || client.scopes.includes('propose')) return replyOf(ended)
    return replyOf(refuseProposal(session, proposals, { id: ended.id, reason: 'POLICY' }))
  }
})

/**
 * Drafts a proposal, has the rules judge it if its client may spend, and asks another device if only that keeps it from being paid.
 *
 * @throws as `draftProposal`; CliError PROPOSALS_FULL, CLIENT_REFUSED, CLIENT_ENDED: it may have been revoked meanwhile
 */
const addProposal = async (
  context: ProposalContext,
  {
    proposals,
    lifeMs,
    request: requested
  }: Pick<PaymentToolOptions, 'lifeMs' | 'proposals'> & { readonly request: ProposalRequest }
): Promise<{
  readonly wallet: CurrencyWallet
  readonly proposal: Proposal
  readonly request?: ApprovalRequest
}> => {
  const { client, session } = context
  const leavePlace = proposals.takePlace(client)
  let request: ApprovalRequest | undefined
  try {
    const { wallet, drafted } = await draftProposal(context, requested)
    const judged = client.scopes.includes('spend') ? await policyOf(context, wallet, drafted) : undefined
    const approval =
      judged?.canBeApproved === true ? await requestApprovalOf(context, drafted.draft, lifeMs) : undefined
    request = approval?.request
    const policy = judged && { ...judged.policy, ...compact({ secondDevice: approval?.command }) }
    new ProgramClients(session.paths.session).check(client)
    leavePlace()
    const proposal = proposals.add({ ...drafted, lifeMs, ...compact({ policy }) })
    return { wallet, proposal, ...compact({ request }) }
  } catch (error) {
    request?.cancel()
    throw error
  } finally {
    leavePlace()
  }
}

interface StatusRequest {
  readonly id: string
  readonly waitSeconds?: number
}

const statusRequest: Field<StatusRequest> = object<StatusRequest>({
  id,
  waitSeconds: optional(about(count(0, 50), 'Waits so long for an answer before it replies'))
})

const statusTool = ({ client, proposals }: PaymentToolOptions): ProgramTool => ({
  name: 'proposal_status',
  title: 'See a proposal',
  description: 'Shows the state of a payment that this client has proposed, and can wait for its answer.',
  input: statusRequest.schema,
  output: proposalReply.schema,
  isReading: true,
  isIdempotent: true,
  async run(input, signal) {
    const { id: proposalId, waitSeconds = 0 } = input as unknown as StatusRequest
    const proposal = proposals.find(proposalId, client.id)
    if (waitSeconds === 0 || !PENDING.has(proposal.state)) return replyOf(proposal)
    const limit = AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * 1000)])
    return replyOf(await proposals.whenNot(proposal.state, proposal, limit))
  }
})

const PENDING: ReadonlySet<Proposal['state']> = new Set(['waiting', 'sending'])

const cancelTool = ({ session, client, proposals }: PaymentToolOptions): ProgramTool => ({
  name: 'cancel_proposal',
  title: 'Cancel a proposal',
  description:
    'Takes back a payment that this client has proposed and nobody has answered yet. One that is being sent stays.',
  input: object<{ readonly id: string }>({ id }).schema,
  output: proposalReply.schema,
  isReading: false,
  isIdempotent: true,
  async run(input) {
    const proposal = proposals.find(String(input.id), client.id)
    if (proposal.state !== 'waiting') {
      if (proposal.reason === 'CANCELLED') return replyOf(proposal)
      throw new CliError('PROPOSAL_ENDED', 'The proposal no longer waits for an answer')
    }
    return replyOf(refuseProposal(session, proposals, { id: proposal.id, reason: 'CANCELLED' }))
  }
})
