import type { Readable } from '../../kernel/index.ts'
import type { Act } from './actions.ts'
import type { JournalEvent } from './journal-event.ts'
import type { View } from './slices.ts'
import type { TableMessage } from './view-fold.ts'

/** How a client stands to its kernel. */
export interface ClientStatus {
  /** `past`: a recording or a snapshot is shown, and nothing can be done. */
  readonly connection: 'connecting' | 'live' | 'lost' | 'past'
  /** Why it is lost, and what helps. */
  readonly message?: string
  readonly isReadOnly: boolean
  /** There is a fake world that can be driven. */
  readonly hasWorld: boolean
  /** Events that were left out because they came too fast, or because the ring was full. */
  readonly missed: number
}

/**
 * Hears what a client is told. After a gap all tables are told anew, with the events that were not told before.
 *
 * `kernelId`: another one after a restart of the kernel, whose numbers begin anew.
 */
export type Follower = (message: TableMessage, kernelId: string) => void

/**
 * What a panel has of a kernel: tables, events and actions. In the page or over a socket, from a recording or live: the
 * panel cannot tell.
 */
export interface DevtoolsClient {
  readonly view: Readable<View>
  /** The newest events, oldest first; bounded. Replaced at most ten times a second. */
  readonly events: Readable<readonly JournalEvent[]>
  readonly status: Readable<ClientStatus>
  /** @throws an error with code READ_ONLY, DISCONNECTED, and what the kernel throws */
  readonly act: Act
  /**
   * Tells all that is known, if anything is, and then each change of it, until the returned function is called. Absent of
   * a client that shows the past.
   */
  readonly follow?: (follower: Follower) => () => void
  close(): void
}
