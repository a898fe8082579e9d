import { type ReactElement, useMemo } from 'react'
import { ageText } from '../../../app/format/times.ts'
import { type RepoRow, type RepoSync, repoHistory } from '../../core/rows/repo-rows.ts'
import { useStore } from '../../use-store.ts'
import { ActionButton } from '../parts/action-forms.tsx'
import { CorrelationLink, Detail, DetailList, DetailsPane, Section } from '../parts/details.tsx'
import { StateMark, type Tone } from '../parts/marks.tsx'
import { clockText } from '../parts/texts.ts'
import { usePanel, useView } from '../state/panel-state.ts'

/** One repo: whose it is, how it stands, and which files its syncs have exchanged. */
export const RepoDetails = ({ repo }: { readonly repo: RepoRow }): ReactElement => (
  <DetailsPane
    title={repo.kind === 'account' ? `Files of the account ${repo.title}` : `Files of ${repo.title}`}
  >
    <RepoStateView repo={repo} />
    {repo.help === undefined ? null : (
      <p role="status">
        <code className="bad">{repo.errorCode}</code> {repo.help}
      </p>
    )}
    {repo.rolledBackAt === undefined ? null : (
      <p role="status">
        <span className="bad">Older state:</span> at {clockText(repo.rolledBackAt * 1000)} a sync server had
        an older version of {repo.rolledBackFiles ?? 0} files. This device kept its newer files and uploaded
        them again.
      </p>
    )}
    {repo.keptCount === undefined ? null : (
      <p>
        {repo.keptCount} deleted or replaced {repo.keptCount === 1 ? 'file is' : 'files are'} kept for 30
        days. To restore them: <code>holdfast data recover</code>
      </p>
    )}
    <div className="acts">
      <ActionButton name="repo.sync" input={{ repoId: repo.repoId }}>
        Sync now
      </ActionButton>
    </div>
    <Section title="Repo">
      <DetailList>
        <Detail name={repo.kind === 'account' ? 'Account' : 'Wallet'}>
          <OwnerLink repo={repo} />
        </Detail>
        <Detail name="Pending">
          {repo.pendingCount} {repo.pendingCount === 1 ? 'write' : 'writes'}
        </Detail>
        {repo.mergedCount === undefined ? null : (
          <Detail name="Merged">{repo.mergedCount} changed on two devices at once</Detail>
        )}
        {repo.doubtfulCount === undefined ? null : (
          <Detail name="Doubtful">
            <span className="bad">{repo.doubtfulCount}</span> changed in two places; the log names them
          </Detail>
        )}
        <Detail name="Last exchange">{lastExchange(repo)}</Detail>
        <Detail name="Hash" look="mono">
          {repo.lastHash ?? 'none yet'}
        </Detail>
        <Detail name="Repo id" look="mono">
          {repo.repoId}
        </Detail>
      </DetailList>
      <CorrelationLink id={repo.repoId} />
    </Section>
    <Section title="Files exchanged">
      <History repoId={repo.repoId} />
    </Section>
  </DetailsPane>
)

const OwnerLink = ({ repo }: { readonly repo: RepoRow }): ReactElement => {
  const { title, accountId, walletId } = repo
  const { go } = usePanel()
  const { username = '' } = useView().accounts.get(accountId) ?? {}
  return (
    <button
      type="button"
      className="link"
      onClick={() =>
        go(
          walletId === undefined
            ? { panel: 'engines', filter: username }
            : { panel: 'engines', id: walletId, filter: '' }
        )
      }
    >
      {title}
    </button>
  )
}

const History = ({ repoId }: { readonly repoId: string }): ReactElement => {
  const events = useStore(usePanel().client.events)
  const moments = useMemo(() => repoHistory(events, repoId), [events, repoId])
  if (moments.length === 0) return <p className="soft">No files since the panel started.</p>
  return (
    <ul>
      {moments.map(moment => (
        <li key={moment.seq}>
          <SyncLine moment={moment} />
        </li>
      ))}
    </ul>
  )
}

const SyncLine = ({ moment }: { readonly moment: RepoSync }): ReactElement => {
  const { at, errorCode, sent, sentCount, received, receivedCount } = moment
  const when = <span className="mono soft">{clockText(at)}</span>
  if (errorCode !== undefined) {
    return (
      <>
        {when} <span className="bad">failed: {errorCode}</span>
      </>
    )
  }
  return (
    <details>
      <summary>
        {when}{' '}
        {[countOf('sent', sentCount), countOf('received', receivedCount)]
          .filter(text => text !== '')
          .join(', ')}
      </summary>
      <Paths sign="↑" name="Sent" paths={sent} count={sentCount} />
      <Paths sign="↓" name="Received" paths={received} count={receivedCount} />
    </details>
  )
}

const countOf = (word: string, count: number): string =>
  count === 0 ? '' : `${word} ${count} ${count === 1 ? 'file' : 'files'}`

const Paths = (props: {
  readonly sign: string
  readonly name: string
  readonly paths: readonly string[]
  readonly count: number
}): ReactElement | null => {
  const { sign, name, paths, count } = props
  if (count === 0) return null
  return (
    <ul aria-label={name} className="mono paths">
      {paths.map(path => (
        <li key={path}>
          <span aria-hidden="true">{sign} </span>
          {path}
        </li>
      ))}
      {count > paths.length ? <li className="soft">and {count - paths.length} more</li> : null}
    </ul>
  )
}

/** Shows the state of a repo, or its error. */
export const RepoStateView = ({ repo }: { readonly repo: RepoRow }): ReactElement => (
  <StateMark tone={repoTones[repo.state]}>{repo.state === 'failed' ? repo.errorCode : repo.state}</StateMark>
)

const repoTones: Readonly<Record<RepoRow['state'], Tone>> = {
  failed: 'bad',
  syncing: 'busy',
  new: 'idle',
  pending: 'warn',
  synced: 'good',
  'on this device only': 'idle'
}

/** When a repo last met its server. */
export const lastExchange = ({ secondsAgo }: RepoRow): string =>
  secondsAgo === undefined ? 'never' : secondsAgo < 1 ? 'now' : `${ageText(secondsAgo)} ago`
