import type { JsonObject } from '../../kernel/index.ts'
import type { ActionName } from './actions.ts'
import type { JournalEvent } from './journal-event.ts'
import type { SliceName, SlicePatch, Slices } from './slices.ts'

/** Raised when a message changes its meaning. */
export const PROTOCOL_VERSION = 1

/** What a panel says. */
export type ClientMessage =
  /** First message, and after a gap: give all that is newer than `sinceSeq`, or everything. */
  | { readonly type: 'subscribe'; readonly version: number; readonly sinceSeq?: number }
  | { readonly type: 'call'; readonly id: number; readonly action: ActionName; readonly input: JsonObject }

/** What the side of the kernel says. `seq` of a batch: of the last event that it stands for. */
export type HostMessage =
  | {
      readonly type: 'hello'
      readonly version: number
      /** Another one after a restart of the kernel: what was known is of no use. */
      readonly kernelId: string
      readonly isReadOnly: boolean
      readonly hasWorld: boolean
    }
  | {
      readonly type: 'snapshot'
      readonly seq: number
      readonly slices: { readonly [K in SliceName]: readonly (readonly [id: string, snapshot: Slices[K]])[] }
      readonly events: readonly JournalEvent[]
    }
  /** At most ten a second. `fromSeq`: the batch before ended there; if that is not what the panel has, it subscribes anew. */
  | {
      readonly type: 'batch'
      readonly fromSeq: number
      readonly seq: number
      readonly patches: readonly SlicePatch[]
      readonly events: readonly JournalEvent[]
      /** Events left out, since the socket was too slow or the ring too small. */
      readonly missed: number
    }
  | { readonly type: 'result'; readonly id: number; readonly output: JsonObject }
  | { readonly type: 'refused'; readonly id: number; readonly error: ActionFailure }

/** Why an action failed. */
export interface ActionFailure {
  /** Of the catalogue; besides, READ_ONLY, HIDDEN, BAD_MESSAGE, GONE for a draft or round, NO_WORLD and UNKNOWN. */
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly details?: JsonObject
}

/** Carries messages between a panel and a kernel: two arrays of listeners in one page, or a socket. */
export interface Channel<Out, In> {
  send(message: Out): void
  onMessage(listener: (message: In) => void): void
  /** Heard at each loss: after that of a socket that connects again by itself, the host greets with another `hello`. */
  onClose(listener: () => void): void
  close(): void
}
