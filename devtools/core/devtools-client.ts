import type { Readable } from '../../kernel/index.ts'
import type { Act } from './actions.ts'
import type { JournalEvent } from './journal-event.ts'
import type { View } from './slices.ts'

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
  close(): void
}
