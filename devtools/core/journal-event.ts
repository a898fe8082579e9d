import type { JsonObject } from '../../kernel/index.ts'

/** One thing that happened, as the journal keeps it: a call of a telling hook, or an action of the panel. */
export interface JournalEvent {
  /** Ascending, without gaps within one kernel. */
  readonly seq: number
  /** Unix milliseconds. */
  readonly at: number
  /** The telling hook, such as `engineChanged`, `tapRan` or `logged`; `action` for what the panel did. */
  readonly hook: string
  /** What it is about: a wallet, repo, account, round or plugin id. */
  readonly subject?: string
  /** Threads one action through hooks and events (architecture decision 6). */
  readonly correlationId?: string
  /** The redacted snapshot. */
  readonly data: JsonObject
}
