import type { ActionFailure } from '../../../app/actions/action-error.ts'
import type { ActionName } from '../../../app/actions/actions.ts'
import { actionNames } from '../../../app/actions/actions.ts'
import type { JsonObject } from '../../../kernel/index.ts'
import type { JournalEvent } from '../model/facts.ts'
import { isRecord } from '../model/row-shapes.ts'
import type { SliceName, SlicePatch, Slices } from '../model/slices.ts'

/** Raised when a message changes its meaning. */
export const PROTOCOL_VERSION = 1

/** A message from a panel. */
export type ClientMessage =
  /** First message, and after a gap: give all that is newer than `sinceSeq`, or everything. */
  | { readonly type: 'subscribe'; readonly version: number; readonly sinceSeq?: number }
  | { readonly type: 'call'; readonly id: number; readonly action: ActionName; readonly input: JsonObject }
  /** Give the result of an action, and each later one that differs, until `unwatch`. The ids are those of calls. */
  | { readonly type: 'watch'; readonly id: number; readonly action: ActionName; readonly input: JsonObject }
  | { readonly type: 'unwatch'; readonly id: number }

/** A message from the host. `seq` of a batch: the number of the last event that it includes. */
export type HostMessage =
  | {
      readonly type: 'hello'
      readonly version: number
      /** Another one after a restart of the kernel: what was known is of no use. */
      readonly kernelId: string
      readonly isReadOnly: boolean
      readonly hasWorld: boolean
      /** False: its accounts can be moved to no login server. */
      readonly hasLoginServer?: boolean
      /** The network of a profile that is in no fake world, such as `main`. */
      readonly network?: string
      /** The profile that commands have to name, where it is not the usual one. */
      readonly profile?: string
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
  /** A result of what is watched. */
  | { readonly type: 'update'; readonly id: number; readonly output: JsonObject }
  | { readonly type: 'refused'; readonly id: number; readonly error: ActionFailure }

/** Carries messages between a panel and a kernel: two arrays of listeners in one page, or a socket. */
export interface PanelChannel<Out, In> {
  send(message: Out): void
  onMessage(listener: (message: In) => void): void
  /** Called at each loss: after that of a socket that connects again by itself, the host greets with another `hello`. */
  onClose(listener: () => void): void
  close(): void
}

/** A message that was not understood. `id`: of the call, or 0 if it was none. */
export interface BadMessage {
  readonly type: 'bad'
  readonly id: number
  readonly rule: string
}

/** Checks a message from a panel, which may be anything. Never throws (pure). */
export const readMessage = (message: unknown): ClientMessage | BadMessage => {
  if (!isRecord(message)) return bad(0, 'A message is an object')
  switch (message.type) {
    case 'subscribe':
      return readSubscribe(message)
    case 'call':
    case 'watch':
      return readCall(message, message.type)
    case 'unwatch':
      return isCount(message.id)
        ? { type: 'unwatch', id: message.id }
        : bad(0, 'The id of a watch is a number')
    default:
      return bad(0, 'The type of a message is subscribe, call, watch or unwatch')
  }
}

type Fields = Readonly<Record<string, unknown>>

const readSubscribe = ({ version, sinceSeq }: Fields): ClientMessage | BadMessage => {
  if (typeof version !== 'number') return bad(0, 'A version is a number')
  if (sinceSeq === undefined) return { type: 'subscribe', version }
  if (!isCount(sinceSeq)) return bad(0, 'A sequence number is a whole number')
  return { type: 'subscribe', version, sinceSeq }
}

const readCall = ({ id, action, input }: Fields, type: 'call' | 'watch'): ClientMessage | BadMessage => {
  if (!isCount(id) || id === 0) return bad(0, 'The id of a call is a whole number above 0')
  if (typeof action !== 'string' || !actionNames.has(action)) return bad(id, 'Unknown action')
  if (!isRecord(input)) return bad(id, 'The input of an action is an object')
  if (!isSmallJson(input)) return bad(id, 'The input of an action is JSON of at most 1000 values')
  return { type, id, action, input } as ClientMessage
}

const bad = (id: number, rule: string): BadMessage => ({ type: 'bad', id, rule })

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** JSON that is small enough to be looked at. Counts as it goes, so that a ring of objects ends, too. */
const isSmallJson = (input: unknown): boolean => {
  const open: unknown[] = [input]
  let left = MAX_VALUES
  while (open.length > 0) {
    const value = open.pop()
    left -= 1
    if (left < 0) return false
    if (typeof value === 'string' && value.length > MAX_TEXT) return false
    if (typeof value === 'object' && value !== null) {
      const items = Array.isArray(value) ? value : Object.values(value)
      if (items.length > left) return false
      open.push(...items)
    } else if (!isScalar(value)) return false
  }
  return true
}

const isScalar = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value))

const MAX_VALUES = 1000
const MAX_TEXT = 10_000
