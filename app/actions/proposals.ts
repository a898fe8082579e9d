import { compact } from '../../kernel/index.ts'
import type { DeclarationsOf } from './declaration.ts'
import { DraftApprovals } from './draft-approvals.ts'
import { refusalOf, reviewSpend } from './payments.ts'
import {
  about,
  code,
  type Field,
  flag,
  id,
  inputError,
  list,
  type Nothing,
  nothing,
  object,
  oneOf,
  optional,
  time,
  txid,
  untrusted,
  untrustedNote
} from './schema.ts'
import { type ActionServices, accountOf, openWalletIn, type ProposedPayment } from './services.ts'
import { type DraftedPayment, draftedPayment } from './spend-review.ts'

interface ProposalRef {
  readonly proposalId: string
}

interface ProposalRow
  extends Pick<
    ProposedPayment,
    'accountId' | 'created' | 'ends' | 'id' | 'reason' | 'state' | 'txid' | 'walletId'
  > {
  readonly untrusted: { readonly client: string; readonly note?: string; readonly rule?: string }
}

interface ProposalPage {
  /** False where no agent keeps proposals. */
  readonly hasAgent: boolean
  readonly proposals: readonly ProposalRow[]
}

/** Actions about the payments that programs propose. */
export interface ProposalActions {
  readonly 'proposal.list': { readonly in: Nothing; readonly out: ProposalPage }
  readonly 'proposal.review': { readonly in: ProposalRef; readonly out: DraftedPayment }
  readonly 'proposal.decline': { readonly in: ProposalRef; readonly out: Nothing }
}

const MAX_LISTED = 200

const proposalRow = object<ProposalRow>({
  id,
  accountId: id,
  walletId: id,
  state: oneOf('waiting', 'sending', 'sent', 'refused', 'unsure'),
  reason: optional(code(100)),
  txid: optional(txid),
  created: time,
  ends: time,
  untrusted: object<ProposalRow['untrusted']>({
    client: untrusted(),
    note: optional(untrustedNote),
    rule: optional(untrusted())
  })
})

const rowOf = ({ client, note, rule, ...proposal }: ProposedPayment): ProposalRow => ({
  ...proposal,
  untrusted: { client, ...compact({ note, rule }) }
})

const proposalRef: Field<ProposalRef> = object<ProposalRef>({
  proposalId: about(id, 'The number of a proposal that waits')
})

/** @throws ActionError BAD_MESSAGE where no agent keeps proposals */
const bookOf = ({ proposals }: ActionServices): Required<ActionServices>['proposals'] & object => {
  if (proposals === undefined) throw inputError('proposalId', 'There are no proposals here')
  return proposals
}

const NEVER_FOR_PROGRAMS = { none: 'a person answers a proposal, never a program' }

/** The payments that programs propose: a person reviews one, and approves or declines it. */
export const proposalActions: DeclarationsOf<ProposalActions> = {
  'proposal.list': {
    title: 'List the proposals',
    summary: 'Shows the payments that programs have proposed: those that wait, and how the last ones ended.',
    effect: 'reads',
    input: nothing,
    output: object<ProposalPage>({
      hasAgent: about(flag, 'False where no agent keeps proposals'),
      proposals: list(proposalRow, MAX_LISTED)
    }),
    async run({ proposals }) {
      const listed = proposals?.list().map(rowOf) ?? []
      return { hasAgent: proposals !== undefined, proposals: listed.slice(-MAX_LISTED) }
    },
    watch: ({ proposals }, _, onChange) => proposals?.onChange(onChange) ?? (() => {}),
    commandLine: () => ({ words: ['proposals', 'list'] }),
    faces: {
      cli: { command: 'proposals list', own: 'it needs no account, and so no kernel' },
      panel: 'rules-panel',
      mcp: { none: 'a program sees its own, by proposal_status' }
    }
  },
  'proposal.review': {
    title: 'Review a proposal',
    summary:
      'Gives the review of a payment that a program proposes. Nothing is signed before it is approved.',
    effect: 'changes',
    input: proposalRef,
    output: draftedPayment,
    async run(services, { proposalId }) {
      const proposal = bookOf(services).waiting(proposalId)
      const { client, note, draft, isLegacyAddress, walletId } = proposal
      const account = accountOf(services, proposal.accountId)
      const wallet = await openWalletIn(services, account, walletId)
      // One that cannot sync now is reviewed as it is known; the kernel judges it once more when it signs.
      await wallet.sync().catch(() => {})
      await wallet.lookAtOpenPayments()
      const refusal = await refusalOf({ account }, draft)
      const [{ publicAddress = '' } = {}] = draft.spendTargets ?? []
      const legacyAddresses = isLegacyAddress ? [publicAddress] : undefined
      const review = {
        ...reviewSpend(wallet, draft),
        ...compact({ refusal, legacyAddresses }),
        proposal: { id: proposalId, untrusted: { client, ...compact({ note }) } }
      }
      const approvals = new DraftApprovals(account, [draft])
      return { draftId: services.spends.put({ account, wallet, draft, approvals, proposalId }), review }
    },
    commandLine: ({ proposalId }) => ({ words: ['proposals', 'approve', proposalId] }),
    faces: {
      cli: { command: 'proposals approve', own: 'it asks on the terminal, in the same turn' },
      panel: 'rules-panel',
      mcp: NEVER_FOR_PROGRAMS
    }
  },
  'proposal.decline': {
    title: 'Decline a proposal',
    summary: 'Refuses a payment that a program proposes; nothing is signed.',
    effect: 'loses',
    input: proposalRef,
    output: nothing,
    async run(services, { proposalId }) {
      bookOf(services).decline(proposalId)
      return {}
    },
    commandLine: ({ proposalId }) => ({ words: ['proposals', 'decline', proposalId] }),
    faces: {
      cli: { command: 'proposals decline', own: 'it needs no account, and so no kernel' },
      panel: 'rules-panel',
      mcp: NEVER_FOR_PROGRAMS
    }
  }
}
