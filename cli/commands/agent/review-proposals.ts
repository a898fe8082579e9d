import type { TokenFee } from '../../../app/actions/spend-review.ts'
import { ageText } from '../../../app/format/times.ts'
import type { JsonObject } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { approveProposal, refuseProposal } from '../../mcp/answer-proposal.ts'
import { localTime } from '../../output/texts.ts'
import type { Cell } from '../../output/view.ts'
import type { Proposal, Proposals } from '../../programs/proposals.ts'
import type { CommandRun } from '../../session/command.ts'
import type { Session } from '../../session/session.ts'
import { tokenFeeLines } from '../../spend/summary.ts'
import { untrustedText } from '../../terminal/safe-text.ts'

/** Lists the payments that programs propose; with `--all` also those that were answered. */
export const proposalsList: CommandRun = async session => {
  const all = proposalsOf(session).list()
  const shown = session.isOn('all') ? all : all.filter(({ state }) => state === 'waiting')
  return {
    data: { proposals: shown.map(proposalJson) },
    view: {
      kind: 'table',
      columns: [
        { title: 'PROPOSAL', align: 'right' },
        { title: 'CLIENT' },
        { title: 'AMOUNT', align: 'right' },
        { title: 'TO', canShrink: true },
        { title: 'STATE' },
        { title: 'NOTE', canShrink: true }
      ],
      rows: shown.map(proposal => [
        proposal.id,
        proposal.client.name,
        amountOf(proposal),
        payeeOf(proposal),
        stateCell(proposal),
        noteOf(proposal)
      ]),
      empty: 'No proposal waits for an answer'
    },
    advice: shown.some(({ state }) => state === 'waiting')
      ? [
          'Review one with: holdfast proposals approve <id>, or refuse it with: holdfast proposals decline <id>'
        ]
      : []
  }
}

/** Shows one proposal. */
export const proposalsShow: CommandRun = async (session, id = '') => {
  const proposal = proposalsOf(session).find(id)
  const { client, review, created, ends, txid } = proposal
  const { networkFee, tokenFees } = review as unknown as ShownFees
  return {
    data: { proposal: proposalJson(proposal) },
    view: {
      kind: 'record',
      fields: [
        ['proposal', proposal.id],
        ['client', client.name],
        ['it says', noteOf(proposal)],
        ['wallet', proposal.walletId],
        ['amount', amountOf(proposal)],
        ['to', payeeOf(proposal)],
        ['network fee', networkFee.display],
        ...tokenFeeLines(tokenFees),
        ['proposed', localTime(new Date(created))],
        ['ends', localTime(new Date(ends))],
        ['state', stateCell(proposal)],
        ...(txid === undefined ? [] : [['txid', txid] as const])
      ]
    }
  }
}

interface ShownFees {
  readonly networkFee: { readonly display: string }
  readonly tokenFees?: readonly TokenFee[]
}

/** Shows the review of a proposal, and signs and sends it after a yes. */
export const proposalsApprove: CommandRun = async (session, id = '') =>
  approveProposal(session, proposalsOf(session), id)

/** Refuses a proposal. */
export const proposalsDecline: CommandRun = async (session, id = '') => {
  const proposal = refuseProposal(session, proposalsOf(session), { id, reason: 'DECLINED' })
  return {
    data: { proposal: proposalJson(proposal) },
    view: { kind: 'text', lines: [`Proposal ${id} is declined; nothing was signed`] }
  }
}

const proposalsOf = ({ agent }: Session): Proposals => {
  if (agent !== undefined) return agent.programs.proposals
  throw new CliError('AGENT_NOT_RUNNING', 'Proposals are made to the agent, and no agent is running', {
    next: [{ command: 'holdfast agent start', why: 'start the agent' }]
  })
}

const proposalJson = (proposal: Proposal): JsonObject => {
  const { id, client, walletId, note, review, created, ends, state, reason, txid } = proposal
  return {
    ...{ id, client: client.name, walletId, state },
    reason: reason ?? null,
    txid: txid ?? null,
    note: note ?? null,
    created: new Date(created).toISOString(),
    ends: new Date(ends).toISOString(),
    review
  }
}

const amountOf = ({ review }: Proposal): string => {
  const { amount, ticker } = review as {
    readonly amount: { readonly display: string }
    readonly ticker: string
  }
  return `${amount.display} ${untrustedText(ticker)}`
}

const payeeOf = ({ review }: Proposal): string => untrustedText(String(review.payee))

const noteOf = ({ note }: Proposal): string => (note === undefined ? '' : untrustedText(note))

const stateCell = ({ state, reason, ends }: Proposal): Cell => {
  if (state === 'waiting')
    return { text: `waits for ${ageText((ends - Date.now()) / 1000)} more`, tone: 'strong' }
  if (state === 'refused') return { text: `refused: ${reason}`, tone: 'warn' }
  if (state === 'unsure') return { text: `may have been sent: ${reason}; see holdfast tx open`, tone: 'bad' }
  return { text: state, tone: 'good' }
}
