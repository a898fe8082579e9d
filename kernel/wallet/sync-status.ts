import { compact } from '../base/compact.ts'
import type { RepoState } from '../sync/repo-state.ts'
import type { EngineSnapshot } from '../types/snapshots.ts'

/** The stage of a wallet's sync. */
export type SyncStage = 'paused' | 'starting' | 'looking' | 'waiting' | 'synced' | 'failed' | 'closed'

/** The sync status of a wallet in a form that a person understands. */
export interface SyncStatus {
  /** 0 to 1. */
  readonly ratio: number
  readonly stage: SyncStage
  /** Unix seconds: when the stage, or the failure in it, began. */
  readonly since: number
  /** One or more sentences: the present work, what it waits for, and the last failure. */
  readonly sentence: string
  readonly errorCode?: string
}

/**
 * Explains where the sync of a wallet stands: its engine's look at the chain first, then its files (pure).
 *
 * @param precision - digits after the point of the percentage
 */
export const syncStatusOf = (engine: EngineSnapshot, repo: RepoState, precision: number = 0): SyncStatus => {
  const stage = syncStageOf(engine)
  const errorCode = engine.errorCode ?? repo.errorCode
  return {
    ratio: engine.syncRatio,
    stage,
    since: engine.since,
    sentence: [engineSentence(stage, engine, precision), filesSentence(repo)]
      .filter(text => text !== '')
      .join(' '),
    ...compact({ errorCode })
  }
}

/**
 * Returns the stage of an engine's sync (pure).
 *
 * @example
 * ```ts
 * import { syncStageOf } from 'holdfast'
 *
 * syncStageOf(wallet.engine.getSnapshot()) // such as 'synced'
 * ```
 */
export const syncStageOf = ({ state, isPaused, syncRatio, failure }: EngineSnapshot): SyncStage => {
  if (state === 'failed') return 'failed'
  if (isPaused) return 'paused'
  if (state === 'stopped') return 'closed'
  if (state === 'created') return 'starting'
  if (failure !== undefined) return 'waiting'
  return syncRatio < 1 ? 'looking' : 'synced'
}

const engineSentence = (
  stage: SyncStage,
  { status, failure, syncRatio }: EngineSnapshot,
  precision: number
): string => {
  const words = status === undefined ? '' : ` It says: ${sentenceOf(status)}`
  const why = failure === undefined ? '' : ` ${sentenceOf(failure)}`
  switch (stage) {
    case 'failed':
      return `The wallet could not start, and is tried again within half a minute.${why}`
    case 'paused':
      return 'Paused: nothing is looked up until it is resumed.'
    case 'closed':
      return 'Closed.'
    case 'starting':
      return `Starting: waits for the currency’s plugin.${words}`
    case 'waiting':
      return `Waits for the network: what is shown may be old.${why}${words}`
    case 'looking':
      return `Looks at the chain: ${percentOf(syncRatio, precision)} % done.${words}`
    case 'synced':
      return `Up to date.${words}`
  }
}

/** Rounded down: only what is complete is shown as 100. */
const percentOf = (ratio: number, precision: number): string =>
  (Math.floor(ratio * 100 * 10 ** precision) / 10 ** precision).toFixed(precision)

const filesSentence = ({ pendingCount, errorCode, doubtfulCount = 0 }: RepoState): string => {
  const files = pendingCount === 1 ? '1 change is' : `${pendingCount} changes are`
  if (errorCode !== undefined)
    return `The last exchange of files failed (${errorCode}); ${files} not on the server yet.`
  if (pendingCount > 0) return `${files} on the way to the server.`
  return doubtfulCount === 0
    ? ''
    : `Files that were changed in two places: ${doubtfulCount}; the log names them.`
}

const sentenceOf = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
