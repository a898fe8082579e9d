import { ActionError } from '../../app/actions/action-error.ts'
import type { ProposalBook, ProposedPayment } from '../../app/actions/services.ts'
import { type Account, compact, isWalletError, type Transaction, unusualFeeOf } from '../../kernel/index.ts'
import { CliError, isCliError } from '../errors/cli-error.ts'
import { failureOf } from '../errors/failure.ts'
import { localTime } from '../output/texts.ts'
import type { CommandResult } from '../output/view.ts'
import { ProgramClients } from '../programs/clients.ts'
import { ProgramLog } from '../programs/programs.ts'
import type { Proposal, ProposalOutcome, Proposals } from '../programs/proposals.ts'
import { openWallet } from '../session/find-wallets.ts'
import type { Session } from '../session/session.ts'
import {
  allowUnusualFees,
  approveSpend,
  followed,
  payInTurn,
  sentResult,
  syncAfterPayment,
  unusualFeeWarnings
} from '../spend/approve-spend.ts'
import { withRules } from '../spend/rule-texts.ts'
import { approvalFor } from '../spend/second-device.ts'
import { type SpendSummary, summaryOf, withWarnings } from '../spend/summary.ts'
import { untrustedText } from '../terminal/safe-text.ts'
import { canPrompt } from '../terminal/terminal.ts'
import { assetOfWallet, draftAgain } from './propose.ts'

/** A draft that was refused is made again this often, each time with a review of its own. */
const MAX_REVIEWS = 3

/**
 * Shows the review of a proposal in this terminal, and pays after a yes: exactly the draft that was reviewed, once. A no
 * refuses the proposal; Ctrl-C leaves it waiting. `--yes` is not enough: another program could type it.
 *
 * @throws CliError NOT_FOUND, PROPOSAL_ENDED, CONFIRMATION_REQUIRED, DECLINED, INTERRUPTED; the errors of a payment
 */
export const approveProposal = async (
  session: Session,
  proposals: Proposals,
  id: string
): Promise<CommandResult> => {
  const { globals, terminal } = session
  if (globals.yes || !globals.input || !canPrompt(terminal)) {
    throw new CliError('CONFIRMATION_REQUIRED', 'A proposal is approved by a person at a terminal', {
      hint: 'Leave out --yes. To let a program pay by itself, give it the scope "spend" and a policy.'
    })
  }
  for (let review = 1; review <= MAX_REVIEWS; review += 1) {
    const result = await approveOnce(session, proposals, waitingProposal(session, proposals, id))
    if (result !== undefined) return result
    session.statusLine.warn('the payment could not be signed as it was proposed; review it again')
  }
  refuseProposal(session, proposals, { id, reason: 'SIGN_REFUSED' })
  throw new CliError('PROPOSAL_ENDED', `Proposal ${id} could not be signed; nothing was sent`)
}

/** A proposal that still waits, of a client that may still be used. @throws CliError NOT_FOUND, PROPOSAL_ENDED, CLIENT_REFUSED, CLIENT_ENDED */
const waitingProposal = (session: Session, proposals: Proposals, id: string): Proposal => {
  const proposal = proposals.find(id)
  if (proposal.state !== 'waiting') {
    throw new CliError(
      'PROPOSAL_ENDED',
      `Proposal ${id} no longer waits for an answer: it is ${proposal.state}`,
      {
        next: [{ command: `holdfast proposals show ${id}`, why: 'see what became of it' }]
      }
    )
  }
  const { device } = proposal
  if (session.globals.device !== device) {
    throw new CliError('USAGE', `The proposal is of the device "${device}"`, {
      hint: `Add --device ${device}.`
    })
  }
  try {
    new ProgramClients(session.paths.session).check(proposal.client)
  } catch (error) {
    // It was revoked by a process beside the agent, or its time is over.
    refuseProposal(session, proposals, { id, reason: 'CLIENT_REFUSED' })
    throw error
  }
  return proposal
}

/** Returns undefined if its coins are spent by now: then it waits again, with another draft. */
const approveOnce = async (
  session: Session,
  proposals: Proposals,
  proposal: Proposal
): Promise<CommandResult | undefined> => {
  const { id, draft, client } = proposal
  const account = await ownAccount(session, proposal)
  const wallet = await session.synced(await openWallet(session, proposal.walletId))
  await wallet.lookAtOpenPayments()
  const asset = await assetOfWallet(account, wallet, draft.tokenId)
  const unusual = unusualFeeOf(draft)
  const fees = unusual === undefined ? [] : [unusual]
  const warnings = [
    ...unusualFeeWarnings(wallet, fees),
    ...(proposal.review.isLegacyAddress === true
      ? ['the address has an old form that another currency uses, too']
      : [])
  ]
  const summed = withRequester(withWarnings(summaryOf(wallet, draft, asset), warnings), proposal)
  const summary = await withRules(account, draft, summed)
  await orRefused(session, proposals, proposal, () =>
    approveSpend(session, summary, `Sign and send it for ${client.name}?`)
  )
  const maxNetworkFee = await allowUnusualFees(session, wallet, fees)
  const approval = await approvalFor(session, draft)
  const options = { ...compact({ maxNetworkFee, approval }), ...followed(session, 'signing') }
  // One that has its answer by now is no second payment.
  const check = (): void => void waitingProposal(session, proposals, id)
  const sent = await payInTurn(session, { wallet, draft, summary, check }, () =>
    payProposal(session, {
      ...{ proposals, id },
      pay: () => wallet.spend(draft, options),
      renew: () => draftAgain(wallet, { ...proposal, asset })
    })
  )
  return sent && sentResult(wallet, sent, { asset, warnings: await syncAfterPayment(session, wallet) })
}

/** The proposals of an agent for the actions of a panel, answered as {@link approveProposal} does; those of its device. */
export const proposalBook = (session: Session, proposals: Proposals): ProposalBook => ({
  list: () =>
    proposals
      .list()
      .filter(({ device }) => device === session.globals.device)
      .map(proposedPayment),
  onChange: listener => proposals.onChange(() => listener()),
  waiting: id => orActionError(() => proposedPayment(waitingProposal(session, proposals, id))),
  async pay(id, { account, wallet }, pay) {
    const proposal = orActionError(() => waitingProposal(session, proposals, id))
    const asset = await assetOfWallet(account, wallet, proposal.draft.tokenId)
    return payProposal(session, {
      ...{ proposals, id, pay },
      renew: () => draftAgain(wallet, { ...proposal, asset })
    })
  },
  decline: id => void orActionError(() => refuseProposal(session, proposals, { id, reason: 'DECLINED' }))
})

/** A panel shows the words of its own errors only: a failure of the command line becomes one. */
const orActionError = <T>(find: () => T): T => {
  try {
    return find()
  } catch (error) {
    if (!isCliError(error)) throw error
    const { code, message, hint } = error
    throw new ActionError({ code, message, ...compact({ hint }) })
  }
}

const proposedPayment = ({ client, loginId, policy, review, ...proposal }: Proposal): ProposedPayment => ({
  ...proposal,
  client: client.name,
  accountId: loginId,
  isLegacyAddress: review.isLegacyAddress === true,
  ...compact({ rule: policy?.rule })
})

/** Options of {@link payProposal}. */
interface PayOptions {
  readonly proposals: Proposals
  readonly id: string
  pay(): Promise<Transaction>
  /** Makes another draft of one that cannot be signed any more; without it such a proposal is refused. */
  renew?(): Promise<Pick<Proposal, 'draft' | 'review'>>
}

/**
 * Pays a proposal that waits, of a client that was not revoked meanwhile, and notes how that ended.
 *
 * @returns undefined if nothing was signed and the proposal waits again, with another draft
 * @throws CliError PROPOSAL_ENDED, CLIENT_REFUSED, CLIENT_ENDED before anything is signed; the errors of the payment
 */
export const payProposal = async (
  session: Session,
  { proposals, id, pay, renew }: PayOptions
): Promise<Transaction | undefined> => {
  waitingProposal(session, proposals, id)
  proposals.begin(id)
  try {
    const sent = await orUndefinedIfStale(pay, renew !== undefined)
    if (sent === undefined && renew !== undefined) {
      proposals.renew(id, await renew())
      return undefined
    }
    if (sent !== undefined) noteEnd(session, proposals.finish(id, { state: 'sent', txid: sent.txid }))
    return sent
  } catch (error) {
    noteEnd(session, proposals.finish(id, outcomeOf(error)))
    throw error
  }
}

const orUndefinedIfStale = (pay: PayOptions['pay'], mayRenew: boolean): Promise<Transaction | undefined> =>
  pay().catch((error: unknown) => {
    if (mayRenew && isWalletError(error, 'SIGN_REFUSED') && error.details.refusedBy === 'wallet')
      return undefined
    throw error
  })

/** Refuses a proposal that waits. @throws CliError NOT_FOUND, PROPOSAL_ENDED */
export const refuseProposal = (
  session: Session,
  proposals: Proposals,
  { id, reason }: { readonly id: string; readonly reason: string }
): Proposal => {
  const refused = proposals.refuse(id, reason)
  noteEnd(session, refused)
  return refused
}

/** Writes what became of a proposal into the record of programs. */
export const noteEnd = (session: Session, { id, client, state, reason }: Proposal): void =>
  new ProgramLog(session.paths.session).add({
    client: client.name,
    event: 'proposal',
    proposal: id,
    decision: reason === undefined ? state : `${state}: ${reason}`
  })

/** Signed bytes may have left after some failures: then it is not said that nothing was paid. */
const outcomeOf = (error: unknown): ProposalOutcome => {
  const { code } = failureOf(error)
  // What no catalogue knows can have happened at any point.
  if (!isWalletError(error)) return { state: 'unsure', reason: code }
  const { txid } = error.details as { readonly txid?: unknown }
  if (txid === undefined) return { state: 'refused', reason: code }
  return { state: 'unsure', reason: code, ...compact({ txid: typeof txid === 'string' ? txid : undefined }) }
}

/** The account of a proposal: the one that is open, or that of a login. @throws CliError USAGE for another one */
const ownAccount = async (session: Session, { loginId }: Proposal): Promise<Account> => {
  const account = await session.account()
  if (account.id === loginId) return account
  throw new CliError('USAGE', 'The proposal is of another account', {
    hint: `Add --account ${loginId}.`
  })
}

/** A no refuses the proposal; another failure leaves it waiting. */
const orRefused = async (
  session: Session,
  proposals: Proposals,
  { id }: Proposal,
  review: () => Promise<void>
): Promise<void> => {
  try {
    await review()
  } catch (error) {
    if (error instanceof CliError && error.code === 'DECLINED' && proposals.find(id).state === 'waiting')
      refuseProposal(session, proposals, { id, reason: 'DECLINED' })
    throw error
  }
}

/** Adds to a review who asks for the payment; the note is a text of a program. */
const withRequester = (summary: SpendSummary, { id, client, note, ends }: Proposal): SpendSummary => ({
  ...summary,
  lines: [
    ['proposal', `${id} of the program "${client.name}", until ${localTime(new Date(ends))}`],
    ...(note === undefined ? [] : [['it says', `"${untrustedText(note)}"`] as const]),
    ...summary.lines
  ],
  json: { ...summary.json, proposal: id, client: client.name, note: note ?? null }
})
