import type { JournalEvent } from './journal-event.ts'
import { PatchedMap } from './patched-map.ts'
import type { HostMessage } from './protocol.ts'
import { emptyView, type Slice, type SliceName, type SlicePatch, sliceNames, type View } from './slices.ts'

/** A message that carries tables or what changed in them. */
export type TableMessage = Extract<HostMessage, { readonly type: 'snapshot' | 'batch' }>

/** What is known of a kernel after some messages. Never changed: each message makes another one. */
export interface Known {
  readonly view: View
  /** Oldest first. */
  readonly events: readonly JournalEvent[]
  /** Of the last event that the tables stand for; undefined before the first snapshot. */
  readonly seq: number | undefined
  /** Events that were left out. */
  readonly missed: number
}

/** Of a kernel that nobody has told of yet. */
export const nothingKnown: Known = { view: emptyView, events: [], seq: undefined, missed: 0 }

/** How many events a client keeps. */
export const MAX_EVENTS = 10_000

/**
 * What is known after one more message; undefined if something is lost between them, so that one has to subscribe anew
 * (pure).
 */
export const foldMessage = (known: Known, message: TableMessage): Known | undefined => {
  const { seq, missed } = known
  const before = seq ?? 0
  if (message.type === 'batch') {
    if (message.fromSeq !== seq) return undefined
    return {
      view: patchView(known.view, message.patches),
      events: append(known.events, message.events),
      seq: message.seq,
      missed: missed + message.missed
    }
  }
  const { events } = withNews(known, message)
  return {
    view: viewOf(message.slices),
    events: append(known.events, events),
    seq: message.seq,
    // What the ring of the kernel had lost already before the panel first came is no loss of the panel's.
    missed: seq === undefined ? missed : missed + message.seq - before - events.length
  }
}

/** A message without the events that are known already: tables that come after a gap repeat some (pure). */
export const withNews = <M extends TableMessage>({ seq = 0 }: Known, message: M): M =>
  message.type === 'batch' ? message : { ...message, events: message.events.filter(event => event.seq > seq) }

/** The message that tells all that is known; undefined if nothing is (pure). */
export const snapshotOf = ({ view, events, seq }: Known): TableMessage | undefined => {
  if (seq === undefined) return undefined
  const slices = Object.fromEntries(sliceNames.map(name => [name, [...view[name]]]))
  return { type: 'snapshot', seq, slices, events } as unknown as TableMessage
}

const viewOf = (slices: Extract<HostMessage, { readonly type: 'snapshot' }>['slices']): View =>
  Object.fromEntries(sliceNames.map(name => [name, PatchedMap.of<object>(slices[name])])) as unknown as View

/** Only the tables that changed are other ones. */
const patchView = (view: View, patches: readonly SlicePatch[]): View => {
  if (patches.length === 0) return view
  const changed: Partial<Record<SliceName, Slice>> = {}
  for (const patch of patches) {
    const rows = changed[patch.slice] ?? view[patch.slice]
    changed[patch.slice] = (rows instanceof PatchedMap ? rows : PatchedMap.of(rows)).patched(patch)
  }
  return { ...view, ...changed } as View
}

// One copy of ten thousand references a batch, at most ten times a second.
const append = (events: readonly JournalEvent[], more: readonly JournalEvent[]): readonly JournalEvent[] => {
  if (more.length === 0) return events
  const room = Math.max(0, MAX_EVENTS - more.length)
  return [...events.slice(Math.max(0, events.length - room)), ...more.slice(-MAX_EVENTS)]
}
