import type { ReactElement } from 'react'
import type { JournalEvent } from '../../core/journal-event.ts'
import { holdsText } from '../../core/rows/holds-text.ts'
import { type RepoRow, repoRows } from '../../core/rows/repo-rows.ts'
import { useStore } from '../../use-store.ts'
import { usePanel, useView } from '../panel-state.ts'
import { ActButton } from '../parts/act-button.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { EmptyState, NoMatch } from '../parts/empty-state.tsx'
import { Everything } from '../parts/everything.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { FilterField } from '../parts/filter-field.tsx'
import { Section, Side } from '../parts/side.tsx'
import { StateMark, type Tone } from '../parts/state-mark.tsx'
import { clockText, shortId, spanText } from '../texts.ts'
import { useNow } from '../use-now.ts'

/** The synced repos: what still waits to be sent, and when they last met their servers. */
export const SyncPanel = (): ReactElement => {
  const view = useView()
  const { client, go, location } = usePanel()
  const events = useStore(client.events)
  const now = useNow() / 1000
  const all = repoRows(view, now)
  const rows = all.filter(repo =>
    holdsText(location.filter, [repo.repoId, repo.state, repo.lastHash, repo.errorCode])
  )
  const chosen = all.find(({ repoId }) => repoId === location.id)
  if (all.length === 0) return <NoRepos />
  return (
    <>
      <div className="tools">
        <FilterField what="repos" />
        <span className="soft">{pendingText(all)}</span>
      </div>
      <div className={chosen === undefined ? 'body' : 'body has-side'}>
        <div className="main">
          {rows.length === 0 ? (
            <NoMatch filter={location.filter} onClear={() => go({ ...location, filter: '' })} />
          ) : (
            <DataTable
              label="Repos"
              columns={columns}
              rows={rows}
              keyOf={repo => repo.repoId}
              chosen={location.id}
              onOpen={repo => go({ id: repo.repoId })}
            />
          )}
        </div>
        {chosen === undefined ? null : <RepoSide repo={chosen} events={events} />}
      </div>
    </>
  )
}

const columns: readonly Column<RepoRow>[] = [
  {
    title: 'Repo',
    cell: repo => <span className="mono">{shortId(repo.repoId, 25)}</span>,
    hint: repo => repo.repoId
  },
  { title: 'State', width: '156px', cell: repo => <RepoState repo={repo} /> },
  {
    title: 'Pending writes',
    width: '112px',
    isNumber: true,
    rank: 'slight',
    cell: repo => (repo.pendingCount === 0 ? <span className="soft">0</span> : repo.pendingCount)
  },
  { title: 'Last exchange', width: '116px', cell: repo => lastExchange(repo) },
  {
    title: 'Hash',
    width: '150px',
    rank: 'minor',
    cell: repo => (
      <span className="mono soft">{repo.lastHash === undefined ? '–' : shortId(repo.lastHash)}</span>
    ),
    hint: repo => repo.lastHash ?? ''
  }
]

const lastExchange = ({ secondsAgo }: RepoRow): string =>
  secondsAgo === undefined ? 'never' : secondsAgo < 1 ? 'now' : `${spanText(secondsAgo)} ago`

const repoTones: Readonly<Record<RepoRow['state'], Tone>> = {
  failed: 'bad',
  syncing: 'busy',
  new: 'idle',
  pending: 'warn',
  synced: 'good'
}

const RepoState = ({ repo }: { readonly repo: RepoRow }): ReactElement => (
  <StateMark tone={repoTones[repo.state]}>{repo.state === 'failed' ? repo.errorCode : repo.state}</StateMark>
)

const RepoSide = (props: {
  readonly repo: RepoRow
  readonly events: readonly JournalEvent[]
}): ReactElement => {
  const { repo, events } = props
  const past = events.filter(({ hook, subject }) => hook === 'repoChanged' && subject === repo.repoId)
  return (
    <Side title={`Repo ${shortId(repo.repoId)}`}>
      <RepoState repo={repo} />
      <div className="acts">
        <ActButton name="repo.sync" input={{ repoId: repo.repoId }}>
          Sync now
        </ActButton>
      </div>
      <Section title="Repo">
        <Facts>
          <Fact name="Pending">
            {repo.pendingCount} {repo.pendingCount === 1 ? 'write' : 'writes'}
          </Fact>
          <Fact name="Last exchange">{lastExchange(repo)}</Fact>
          <Fact name="Hash" look="mono">
            {repo.lastHash ?? 'none yet'}
          </Fact>
          <Fact name="Repo id" look="mono">
            {repo.repoId}
          </Fact>
        </Facts>
        <Everything id={repo.repoId} />
      </Section>
      <Section title="What happened">
        {past.length === 0 ? <p className="soft">Nothing since the panel looks on.</p> : null}
        <ul>
          {past
            .slice(-12)
            .reverse()
            .map(({ seq, at, data }) => (
              <li key={seq}>
                <span className="mono soft">{clockText(at)}</span>{' '}
                {data.isSyncing === true
                  ? 'started an exchange'
                  : `${String(data.pendingCount ?? 0)} pending, ${shortId(String(data.lastHash ?? 'no hash'))}`}
              </li>
            ))}
        </ul>
      </Section>
    </Side>
  )
}

const pendingText = (repos: readonly RepoRow[]): string => {
  const pending = repos.reduce((sum, { pendingCount }) => sum + pendingCount, 0)
  return `${repos.length} ${repos.length === 1 ? 'repo' : 'repos'}, ${pending === 0 ? 'all written' : `${pending} pending writes`}`
}

const NoRepos = (): ReactElement => (
  <div className="body">
    <div className="main">
      <EmptyState title="No repos yet">
        <p>
          An account and each of its wallets keep their files in an encrypted repo that all devices share. Log
          in, and they show up here with what still waits to be sent. In the terminal:{' '}
          <code>holdfast sync status</code>
        </p>
      </EmptyState>
    </div>
  </div>
)
