import type { ReportError } from '../base/errors.ts'
import type { Secret } from '../base/secret.ts'
import type { Io } from '../io/io.ts'
import type { BelongsAt } from './reply-guard.ts'
import type { RepoState } from './repo-facts.ts'

/** What a repo is made of besides its store. */
export interface RepoParts {
  readonly io: Io
  /** Base58 of the sync key's hash (protocol §1.7); names the folder and stands in logs. */
  readonly repoId: string
  readonly syncKey: Secret<Uint8Array>
  readonly dataKey: Secret<Uint8Array>
  /** Hears of every fault that was survived. */
  readonly report: ReportError
  /** Tells what belongs where; without it, any text that opens does. */
  readonly belongsAt?: BelongsAt
  /** Hears of each new state. */
  readonly announce?: (state: RepoState) => void
}
