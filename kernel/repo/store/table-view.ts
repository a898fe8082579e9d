import { lowerBound } from '../../base/lower-bound.ts'
import type { OverlayRow } from './overlay.ts'
import type { RowIndex } from './row-index.ts'

/** A row as a view finds it: in memory, or at a place on the disk. */
export type ViewRow = { readonly overlay: OverlayRow } | { readonly place: number; readonly slot: number }

/** What one place of {@link TableView.positions} takes up: a slot is a number of 16 bits. */
export const SLOTS = 65_536

/** Which rows a view is made of. */
export interface ViewParts {
  readonly index: RowIndex
  readonly overlay: ReadonlyMap<string, OverlayRow>
  /** The row of a key in the index, or -1. */
  rowOf(key: string): number
}

/** The rows of a table in their order at one moment: those of the index, and over them those in memory. */
export class TableView {
  readonly #index: RowIndex
  readonly #rows: readonly OverlayRow[]
  readonly #rowOf: (key: string) => number
  /** A row number of the index, or -1 - i for a row in memory. */
  readonly #refs: Int32Array

  constructor({ index, overlay, rowOf }: ViewParts) {
    this.#index = index
    this.#rows = [...overlay.values()]
    this.#rowOf = rowOf
    this.#refs = this.#merge()
  }

  get count(): number {
    return this.#refs.length
  }

  rowAt(offset: number): ViewRow {
    const ref = this.#refs[offset] ?? 0
    const overlay = this.#rows[-1 - ref]
    if (overlay !== undefined) return { overlay }
    const { place, slot } = this.#index.columns
    return { place: place[ref] ?? 0, slot: slot[ref] ?? 0 }
  }

  /** The rows in memory. */
  get overlay(): readonly OverlayRow[] {
    return this.#rows.filter(({ text }) => text !== null)
  }

  /** Where the rows on the disk are, as they are stored: the place times {@link SLOTS} plus the slot of each. */
  positions(): Float64Array {
    const { place, slot } = this.#index.columns
    const positions = new Float64Array(this.#refs.length)
    let count = 0
    for (const ref of this.#refs) {
      if (ref < 0) continue
      positions[count] = (place[ref] ?? 0) * SLOTS + (slot[ref] ?? 0)
      count += 1
    }
    return positions.subarray(0, count).sort()
  }

  orderAt(offset: number): number {
    return this.#orderOf(this.#refs[offset] ?? 0)
  }

  markAt(offset: number): number {
    const ref = this.#refs[offset] ?? 0
    return (ref < 0 ? this.#rows[-1 - ref]?.mark : this.#index.columns.mark[ref]) ?? 0
  }

  /** How many rows have a higher order. */
  offsetAt(order: number): number {
    return lowerBound(0, this.count, offset => this.orderAt(offset) <= order)
  }

  /** Where the row of a key stands; undefined if there is none. */
  offsetOf(key: string): number | undefined {
    const at = this.#rows.findIndex(row => row.key === key)
    const ref = at < 0 ? this.#rowOf(key) : -1 - at
    if (at < 0 ? ref < 0 : this.#rows[at]?.text === null) return undefined
    const order = this.#orderOf(ref)
    for (
      let offset = this.offsetAt(order);
      offset < this.count && this.orderAt(offset) === order;
      offset += 1
    ) {
      if (this.#refs[offset] === ref) return offset
    }
    return undefined
  }

  #orderOf(ref: number): number {
    return (ref < 0 ? this.#rows[-1 - ref]?.order : this.#index.columns.order[ref]) ?? 0
  }

  #merge(): Int32Array {
    if (this.#rows.length === 0) return this.#index.byOrder
    const kept = this.#index.byOrder.slice()
    const hidden: number[] = []
    const added: OverlayRow[] = []
    for (const [i, row] of this.#rows.entries()) {
      const known = this.#rowOf(row.key)
      const offset = known < 0 ? -1 : this.#index.offsetOf(known)
      // A row that keeps its order keeps its place.
      const stays = known >= 0 && row.text !== null && this.#orderOf(known) === row.order
      if (stays) kept[offset] = -1 - i
      else if (offset >= 0) hidden.push(offset)
      if (!stays && row.text !== null) added.push(row)
    }
    added.sort((left, right) => right.order - left.order || left.sequence - right.sequence)
    return this.#insert(without(kept, hidden), added)
  }

  #insert(refs: Int32Array, added: readonly OverlayRow[]): Int32Array {
    const numbers = new Map(this.#rows.map((row, i) => [row, -1 - i]))
    const merged = new Int32Array(refs.length + added.length)
    let from = 0
    let to = 0
    for (const row of added) {
      const start = from
      from = lowerBound(start, refs.length, at => this.#orderOf(refs[at] ?? 0) < row.order)
      merged.set(refs.subarray(start, from), to)
      to += from - start
      merged[to] = numbers.get(row) ?? 0
      to += 1
    }
    merged.set(refs.subarray(from), to)
    return merged
  }
}

const without = (refs: Int32Array, hidden: number[]): Int32Array => {
  if (hidden.length === 0) return refs
  const kept = new Int32Array(refs.length - hidden.length)
  let from = 0
  let to = 0
  for (const offset of [...hidden.sort((left, right) => left - right), refs.length]) {
    kept.set(refs.subarray(from, offset), to)
    to += offset - from
    from = offset + 1
  }
  return kept
}
