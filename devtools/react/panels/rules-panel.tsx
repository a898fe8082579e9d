import { type ReactElement, useEffect, useState } from 'react'
import type { Actions } from '../../../app/actions/actions.ts'
import { ageText } from '../../../app/format/times.ts'
import { type LogRow, logRows } from '../../core/rows/log-rows.ts'
import { useStore } from '../../use-store.ts'
import { ActionButton } from '../parts/action-forms.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { CorrelationLink } from '../parts/details.tsx'
import { EmptyState, StateMark, type Tone } from '../parts/marks.tsx'
import { dateText, visibleText } from '../parts/texts.ts'
import { nameOfId } from '../parts/wallet.tsx'
import { useNow, usePanel, useStatus, useView } from '../state/panel-state.ts'

type RulePage = Actions['policy.list']['out']
type RuleRow = RulePage['rules'][number]
type ProposalPage = Actions['proposal.list']['out']
type ProposalRow = ProposalPage['proposals'][number]

/** The payments that programs propose, and the rules of each account about its payments. */
export const RulesPanel = (): ReactElement => {
  const accounts = [...useView().accounts.values()].filter(({ isLoggedIn }) => isLoggedIn)
  const { connection } = useStatus()
  if (connection !== 'live')
    return (
      <EmptyState title="Rules are shown live">
        <p>They are no part of a recording, nor of an earlier moment.</p>
      </EmptyState>
    )
  return (
    <div className="body">
      <div className="main rules">
        <ProposalList />
        {accounts.map(({ accountId, username }) => (
          <AccountRules key={accountId} accountId={accountId} name={username ?? 'the light account'} />
        ))}
        <LastRefusals />
        {accounts.length > 0 ? null : (
          <EmptyState title="No account">
            <p>Log in to an account to see its rules about payments.</p>
          </EmptyState>
        )}
      </div>
    </div>
  )
}

interface Watched<T> {
  readonly value?: T
  /** Why it cannot be read. */
  readonly problem?: string
}

/** The newest result of an action, which the kernel sends when it changes. */
const useWatched = <K extends 'policy.list' | 'proposal.list'>(
  name: K,
  accountId: string
): Watched<Actions[K]['out']> => {
  const { live } = usePanel()
  const [watched, setWatched] = useState<Watched<Actions[K]['out']>>({})
  useEffect(() => {
    const input = (name === 'policy.list' ? { accountId } : {}) as Actions[K]['in']
    return live.watch?.(name, input, {
      onOutput: value => setWatched({ value }),
      onFailure: error =>
        setWatched({ problem: error instanceof Error ? error.message : 'It cannot be read' })
    })
  }, [live, name, accountId])
  return watched
}

const ProposalList = (): ReactElement | null => {
  const { value, problem } = useWatched('proposal.list', '')
  if (problem !== undefined) return <Problem what="The proposals" reason={problem} />
  if (value === undefined || !value.hasAgent) return null
  const waiting = value.proposals.filter(({ state }) => state === 'waiting' || state === 'sending')
  const ended = value.proposals.filter(({ state }) => state !== 'waiting' && state !== 'sending').slice(-10)
  return (
    <section aria-label="Proposals of programs">
      <h2>Proposals of programs</h2>
      {waiting.length === 0 ? (
        <p className="soft">No program waits for an answer.</p>
      ) : (
        <ul className="open-payments">
          {waiting.map(proposal => (
            <WaitingProposal key={proposal.id} proposal={proposal} />
          ))}
        </ul>
      )}
      {ended.length === 0 ? null : (
        <DataTable
          label="Answered proposals"
          columns={endedColumns}
          rows={ended.reverse()}
          keyOf={({ id }) => id}
          isShort
        />
      )}
    </section>
  )
}

const WaitingProposal = ({ proposal }: { readonly proposal: ProposalRow }): ReactElement => {
  const { id, walletId, state, ends, untrusted } = proposal
  const view = useView()
  const now = useNow()
  return (
    <li>
      <div>
        <b>{visibleText(untrusted.client)}</b> asks for a payment from {visibleText(nameOfId(view, walletId))}
        {untrusted.note === undefined ? '' : `: “${visibleText(untrusted.note)}”`}
      </div>
      <StateMark tone={state === 'sending' ? 'busy' : 'warn'}>
        {state === 'sending' ? 'being sent' : `waits ${ageText((ends - now) / 1000)}`}
      </StateMark>
      {untrusted.rule === undefined ? null : (
        <div className="soft">Its program may not pay it by itself: {visibleText(untrusted.rule)}</div>
      )}
      <div className="acts">
        <ActionButton
          name="proposal.review"
          input={{ proposalId: id }}
          isMain
          isDisabled={state === 'sending'}
        >
          Review…
        </ActionButton>
        <ActionButton name="proposal.decline" input={{ proposalId: id }} isDisabled={state === 'sending'}>
          Decline
        </ActionButton>
      </div>
    </li>
  )
}

const endTones: Readonly<Record<ProposalRow['state'], Tone>> = {
  waiting: 'warn',
  sending: 'busy',
  sent: 'good',
  refused: 'idle',
  unsure: 'bad'
}

const endedColumns: readonly Column<ProposalRow>[] = [
  { title: 'Proposal', width: '88px', cell: ({ id }) => id },
  { title: 'Program', isProse: true, width: '22%', cell: ({ untrusted }) => visibleText(untrusted.client) },
  {
    title: 'End',
    width: '140px',
    cell: ({ state, reason = '' }) => (
      <StateMark tone={endTones[state]}>{state === 'refused' && reason !== '' ? reason : state}</StateMark>
    )
  },
  {
    title: 'Rule',
    isProse: true,
    width: '14%',
    rank: 'slight',
    cell: ({ reason, untrusted }) => (reason === 'POLICY' ? visibleText(untrusted.rule ?? '') : '')
  },
  { title: 'Transaction', isProse: true, width: '24%', cell: ({ txid = '' }) => visibleText(txid) },
  {
    title: 'It said',
    isProse: true,
    rank: 'minor',
    cell: ({ untrusted }) => visibleText(untrusted.note ?? ''),
    hint: ({ untrusted }) => visibleText(untrusted.note ?? '')
  }
]

const AccountRules = ({
  accountId,
  name
}: {
  readonly accountId: string
  readonly name: string
}): ReactElement => {
  const { value, problem } = useWatched('policy.list', accountId)
  const fault = problem ?? value?.untrusted.fault ?? undefined
  return (
    <section aria-label={`Rules of ${name}`}>
      <h2>Rules of {visibleText(name)}</h2>
      {fault === undefined ? null : <Problem what="Nothing is paid: the rules" reason={fault} />}
      {value === undefined || fault !== undefined ? null : value.rules.length === 0 ? (
        <p className="soft">
          No rules: a person pays what they approve, and no program pays by itself. Add one with{' '}
          <code>holdfast policy add</code>.
        </p>
      ) : (
        <DataTable
          label={`Rules of ${name}`}
          columns={ruleColumns}
          rows={value.rules}
          keyOf={({ untrusted }) => untrusted.ruleId}
          isShort
        />
      )}
      {value?.clockLag === undefined ? null : (
        <p className="warn" role="status">
          The calendar of this device is {ageText(value.clockLag / 1000)} ahead of the time that counts:
          windows and hours wait for a block.
        </p>
      )}
      {value === undefined || value.pending.length === 0 ? null : <Pending changes={value.pending} />}
    </section>
  )
}

const Pending = ({ changes }: { readonly changes: RulePage['pending'] }): ReactElement => (
  <ul>
    {changes.map(({ id, effectiveAt, isRemoval, untrusted }) => (
      <li key={id}>
        From {dateText(effectiveAt)} on, “{visibleText(untrusted.ruleId)}” is{' '}
        {isRemoval ? 'removed' : 'changed'}. <code>holdfast policy cancel {id}</code> ends that.
      </li>
    ))}
  </ul>
)

const ruleColumns: readonly Column<RuleRow>[] = [
  { title: 'Rule', isProse: true, width: '18%', cell: ({ untrusted }) => visibleText(untrusted.ruleId) },
  {
    title: 'Says',
    isProse: true,
    cell: ({ outcome, untrusted }) =>
      outcome === 'unreadable' ? (
        <span className="bad">refuses all: {visibleText(untrusted.reason)}</span>
      ) : (
        saysOf(untrusted)
      ),
    hint: ({ untrusted }) => visibleText(untrusted.title)
  },
  {
    title: 'Used',
    width: '130px',
    isNumber: true,
    cell: ({ untrusted }) => visibleText(untrusted.used ?? '')
  },
  {
    title: 'Left',
    width: '130px',
    isNumber: true,
    cell: ({ untrusted }) => visibleText(untrusted.left ?? '')
  },
  {
    title: 'More from',
    width: '190px',
    rank: 'minor',
    cell: ({ allowedAt }) => (allowedAt === undefined ? '' : dateText(allowedAt))
  }
]

const saysOf = ({ title, client }: RuleRow['untrusted']): string =>
  visibleText(client === undefined ? title : `${title}, for the program ${client}`)

/** The payments that rules refused last, by the log: those of commands, programs and panels. */
const LastRefusals = (): ReactElement | null => {
  const refusals = refusalRows(useStore(usePanel().live.events))
  if (refusals.length === 0) return null
  return (
    <section aria-label="Refused last">
      <h2>Refused last</h2>
      <DataTable
        label="Refused last"
        columns={refusalColumns}
        rows={refusals}
        keyOf={({ seq }) => String(seq)}
        isShort
      />
    </section>
  )
}

interface RefusalRow extends Pick<LogRow, 'at' | 'seq'> {
  readonly paymentId: string
  readonly why: string
}

const refusalRows = (events: Parameters<typeof logRows>[0]): readonly RefusalRow[] =>
  logRows(events, { source: 'rules', level: 'warn' })
    .flatMap(({ at, seq, text }) => {
      const [, paymentId = '', why = ''] = /^Refused (\S+): (.*)$/s.exec(text) ?? []
      return paymentId === '' ? [] : [{ at, seq, paymentId, why }]
    })
    .slice(-5)
    .reverse()

const refusalColumns: readonly Column<RefusalRow>[] = [
  { title: 'Time', width: '190px', cell: ({ at }) => dateText(at) },
  { title: 'Why', isProse: true, cell: ({ why }) => visibleText(why), hint: ({ why }) => visibleText(why) },
  {
    title: 'Payment',
    width: '210px',
    rank: 'minor',
    cell: ({ paymentId }) => <CorrelationLink id={paymentId} />
  }
]

const Problem = ({ what, reason }: { readonly what: string; readonly reason: string }): ReactElement => (
  <p className="bad" role="alert">
    {what} cannot be read: {visibleText(reason)}
  </p>
)
