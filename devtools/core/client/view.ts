import type { JournalEvent } from '../model/facts.ts'
import type { Slice, SliceName, SlicePatch, View } from '../model/slices.ts'
import { sliceNames } from '../model/snapshot-fields.ts'
import type { HostMessage } from '../protocol/protocol.ts'

/** Tables without a row. */
export const emptyView: View = Object.freeze(
  Object.fromEntries(sliceNames.map(name => [name, new Map()])) as unknown as View
)

/** A message that carries tables or what changed in them. */
export type TableMessage = Extract<HostMessage, { readonly type: 'snapshot' | 'batch' }>

/** The tables and events of a kernel after some messages. Immutable: each message makes a new one. */
export interface KnownState {
  readonly view: View
  /** Oldest first. */
  readonly events: readonly JournalEvent[]
  /** The number of the last event that the tables include; undefined before the first snapshot. */
  readonly seq: number | undefined
  /** Events that were left out. */
  readonly missed: number
}

/** The state before the first message. */
export const initialState: KnownState = { view: emptyView, events: [], seq: undefined, missed: 0 }

/** The number of events that a client keeps. */
export const MAX_EVENTS = 10_000

/**
 * Applies one message; returns undefined if something is lost between them, so that the client has to subscribe again
 * (pure).
 */
export const foldMessage = (known: KnownState, message: TableMessage): KnownState | undefined => {
  const { seq, missed } = known
  const before = seq ?? 0
  if (message.type === 'batch') {
    if (message.fromSeq !== seq) return undefined
    return {
      view: patchView(known.view, message.patches),
      events: appendEvents(known.events, message.events),
      seq: message.seq,
      missed: missed + message.missed
    }
  }
  const { events } = withoutKnownEvents(known, message)
  return {
    view: viewOf(message.slices),
    events: appendEvents(known.events, events),
    seq: message.seq,
    // What the ring of the kernel had lost already before the panel first came is no loss of the panel's.
    missed: seq === undefined ? missed : missed + message.seq - before - events.length
  }
}

/** A message without the events that are known already: tables that come after a gap repeat some (pure). */
export const withoutKnownEvents = <M extends TableMessage>({ seq = 0 }: KnownState, message: M): M =>
  message.type === 'batch' ? message : { ...message, events: message.events.filter(event => event.seq > seq) }

/** The message of all that is known; undefined if nothing is (pure). */
export const snapshotMessageOf = ({ view, events, seq }: KnownState): TableMessage | undefined => {
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
const appendEvents = (
  events: readonly JournalEvent[],
  more: readonly JournalEvent[]
): readonly JournalEvent[] => {
  if (more.length === 0) return events
  const room = Math.max(0, MAX_EVENTS - more.length)
  return [...events.slice(Math.max(0, events.length - room)), ...more.slice(-MAX_EVENTS)]
}

/** The changes of a map. `removed` goes first: an id that is in both comes back at the end. */
export interface MapPatch<V> {
  readonly changed: readonly (readonly [id: string, value: V])[]
  readonly removed: readonly string[]
}

/**
 * A map in the order in which its ids came, which is never changed: a patch makes another one.
 *
 * The two share what the patch leaves as it is, so that one row among a hundred thousand does not cost a copy of all of
 * them ten times a second.
 */
export class PatchedMap<V extends object> implements ReadonlyMap<string, V> {
  readonly #base: ReadonlyMap<string, V>
  /** Replaced values by id of the base; null if the id was removed. */
  readonly #over: ReadonlyMap<string, V | null>
  /** The entries that were added after the base. */
  readonly #tail: ReadonlyMap<string, V>
  readonly size: number

  private constructor(
    base: ReadonlyMap<string, V>,
    over: ReadonlyMap<string, V | null>,
    tail: ReadonlyMap<string, V>,
    size: number
  ) {
    this.#base = base
    this.#over = over
    this.#tail = tail
    this.size = size
  }

  /** A map with these entries. */
  static of<V extends object>(entries: Iterable<readonly [id: string, value: V]>): PatchedMap<V> {
    const base = new Map(entries)
    return new PatchedMap(base, new Map(), new Map(), base.size)
  }

  /** The map that a patch makes of this one, which stays as it is. */
  patched(patch: MapPatch<V>): PatchedMap<V> {
    const count = this.#over.size + this.#tail.size + patch.changed.length + patch.removed.length
    // What differs from the base is copied with each patch; when it is too much for that, all is copied once.
    return count > Math.max(FEW, this.#base.size / SHARE) ? this.#copied(patch) : this.#shared(patch)
  }

  #copied({ changed, removed }: MapPatch<V>): PatchedMap<V> {
    const all = new Map<string, V>(this)
    for (const id of removed) all.delete(id)
    for (const [id, value] of changed) all.set(id, value)
    return new PatchedMap(all, new Map(), new Map(), all.size)
  }

  #shared({ changed, removed }: MapPatch<V>): PatchedMap<V> {
    const over = new Map(this.#over)
    const tail = new Map(this.#tail)
    let { size } = this
    const isInBase = (id: string): boolean => this.#base.has(id) && over.get(id) !== null
    for (const id of removed) {
      if (tail.delete(id)) size -= 1
      else if (isInBase(id)) {
        over.set(id, null)
        size -= 1
      }
    }
    for (const [id, value] of changed) {
      if (isInBase(id)) over.set(id, value)
      else {
        if (!tail.has(id)) size += 1
        tail.set(id, value)
      }
    }
    return new PatchedMap(this.#base, over, tail, size)
  }

  get(id: string): V | undefined {
    const over = this.#over.get(id)
    return this.#tail.get(id) ?? (over === undefined ? this.#base.get(id) : (over ?? undefined))
  }

  has(id: string): boolean {
    return this.get(id) !== undefined
  }

  entries(): MapIterator<[string, V]> {
    return this.#isBase ? this.#base.entries() : this.#joined()
  }

  keys(): MapIterator<string> {
    return this.#isBase ? this.#base.keys() : this.#joinedKeys()
  }

  values(): MapIterator<V> {
    return this.#isBase ? this.#base.values() : this.#joinedValues()
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries()
  }

  forEach(notify: (value: V, id: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [id, value] of this) notify(value, id, this)
  }

  get #isBase(): boolean {
    return this.#over.size === 0 && this.#tail.size === 0
  }

  *#joined(): Generator<[string, V], undefined> {
    for (const entry of this.#base) {
      const over = this.#over.get(entry[0])
      if (over === undefined) yield entry
      else if (over !== null) yield [entry[0], over]
    }
    yield* this.#tail
  }

  *#joinedKeys(): Generator<string, undefined> {
    for (const [id] of this.#joined()) yield id
  }

  *#joinedValues(): Generator<V, undefined> {
    for (const [, value] of this.#joined()) yield value
  }
}

/** So many changes are copied in any map, and in a larger one its share. */
const FEW = 64
const SHARE = 16
