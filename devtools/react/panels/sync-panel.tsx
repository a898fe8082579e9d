import type { ReactElement } from 'react'
import { matchesText } from '../../core/model/derive.ts'
import { type RepoRow, repoRows } from '../../core/rows/repo-rows.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { FilterField } from '../parts/fields.tsx'
import { EmptyState, NoMatch } from '../parts/marks.tsx'
import { shortId } from '../parts/texts.ts'
import { useNow, usePanel, useView } from '../state/panel-state.ts'
import { lastExchange, RepoDetails, RepoStateView } from './repo-details.tsx'

/** The synced repos: what still waits to be sent, and when they last met their servers. */
export const SyncPanel = (): ReactElement => {
  const view = useView()
  const { go, location } = usePanel()
  const now = useNow() / 1000
  const all = repoRows(view, now)
  const rows = all.filter(repo =>
    matchesText(location.filter, [
      repo.title,
      repo.kind,
      repo.repoId,
      repo.state,
      repo.lastHash,
      repo.errorCode
    ])
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
        {chosen === undefined ? null : <RepoDetails key={chosen.repoId} repo={chosen} />}
      </div>
    </>
  )
}

const columns: readonly Column<RepoRow>[] = [
  { title: 'Files of', isProse: true, cell: repo => repo.title, hint: repo => repo.repoId },
  { title: 'Kind', width: '88px', rank: 'slight', cell: repo => repo.kind },
  { title: 'State', width: '156px', cell: repo => <RepoStateView repo={repo} /> },
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
    rank: 'spare',
    cell: repo => (
      <span className="mono soft">{repo.lastHash === undefined ? '–' : shortId(repo.lastHash)}</span>
    ),
    hint: repo => repo.lastHash ?? ''
  },
  {
    title: 'Repo',
    width: '150px',
    rank: 'spare',
    cell: repo => <span className="mono soft">{shortId(repo.repoId)}</span>,
    hint: repo => repo.repoId
  }
]

const pendingText = (repos: readonly RepoRow[]): string => {
  const pending = repos.reduce((sum, { pendingCount }) => sum + pendingCount, 0)
  return `${repos.length} ${repos.length === 1 ? 'repo' : 'repos'}, ${pending === 0 ? 'all written' : `${pending} pending writes`}`
}

const NoRepos = (): ReactElement => (
  <div className="body">
    <div className="main">
      <EmptyState title="No repos yet">
        <p>
          An account and each of its wallets store their files in an encrypted repo that all devices share.
          Log in to see the repos and their pending changes here. In the terminal:{' '}
          <code>holdfast sync status</code>
        </p>
      </EmptyState>
    </div>
  </div>
)
