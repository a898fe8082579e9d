import type { ReactElement } from 'react'
import type { RepoRow } from '../../core/rows/repo-rows.ts'
import { spanText } from '../texts.ts'
import { StateMark, type Tone } from './state-mark.tsx'

/** How a repo stands; its error, if it failed. */
export const RepoState = ({ repo }: { readonly repo: RepoRow }): ReactElement => (
  <StateMark tone={repoTones[repo.state]}>{repo.state === 'failed' ? repo.errorCode : repo.state}</StateMark>
)

const repoTones: Readonly<Record<RepoRow['state'], Tone>> = {
  failed: 'bad',
  syncing: 'busy',
  new: 'idle',
  pending: 'warn',
  synced: 'good'
}

/** When a repo last met its server. */
export const lastExchange = ({ secondsAgo }: RepoRow): string =>
  secondsAgo === undefined ? 'never' : secondsAgo < 1 ? 'now' : `${spanText(secondsAgo)} ago`
