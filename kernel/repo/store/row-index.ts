import { lowerBound } from '../../base/lower-bound.ts'
import { COLUMN_NAMES, type IndexColumns, makeColumns } from './index-part.ts'
import type { KeyHash } from './key-hash.ts'

/**
 * The index of one table in memory: columns of numbers, no key and no text.
 *
 * Rows have numbers for as long as the index lives. It is put together by applying parts, oldest first.
 */
export class RowIndex {
  #columns: IndexColumns = makeColumns(0)
  /** How many row numbers are given out, dead ones included. */
  #used = 0
  #byOrder: Int32Array = new Int32Array(0)
  /** Row numbers plus one by hash, with linear probing; made when a key is first looked for. */
  #lookup: Int32Array | undefined
  /** The inverse of the order, made when it is first wanted. */
  #offsets: Int32Array | undefined

  /** The living rows, in descending order. */
  get byOrder(): Int32Array {
    return this.#byOrder
  }

  /** The columns, by row number. */
  get columns(): IndexColumns {
    return this.#columns
  }

  /** The row of a key's hash, or -1. */
  find(hash: KeyHash): number {
    return this.#findWords(hash[0] ?? 0, hash[1] ?? 0)
  }

  /** Where a living row stands in {@link byOrder}. */
  offsetOf(row: number): number {
    this.#offsets ??= this.#makeOffsets()
    return this.#offsets[row] ?? 0
  }

  /** Takes in newer parts, oldest first: their rows replace those of the same hash, and those at no place remove them. */
  apply(parts: readonly IndexColumns[]): void {
    const newer = this.#used === 0 ? parts.slice(1) : parts
    if (this.#used === 0 && parts[0] !== undefined) this.#begin(parts[0])
    if (newer.length === 0) return
    this.#reserve(newer.reduce((count, part) => count + part.count, this.#used))
    const removed = new Set<number>()
    let added: Int32Array = new Int32Array(0)
    for (const part of newer) added = merge(added, this.#take(part, removed), this.#columns)
    const all = merge(this.#byOrder, added, this.#columns)
    this.#byOrder = removed.size === 0 ? all : all.filter(row => !removed.has(row))
    this.#offsets = undefined
  }

  /** The living rows as one part. */
  toPart(): IndexColumns {
    const part = makeColumns(this.#byOrder.length)
    for (let i = 0; i < part.count; i += 1) copyRow(this.#columns, this.#byOrder[i] ?? 0, part, i)
    return part
  }

  /** The first part becomes the index: its columns are ours from now on, and change. */
  #begin(part: IndexColumns): void {
    this.#columns = part
    this.#used = part.count
    const rows = new Int32Array(part.count)
    let count = 0
    for (let row = 0; row < part.count; row += 1) {
      if (part.place[row] === 0) continue
      rows[count] = row
      count += 1
    }
    this.#byOrder = rows.subarray(0, count)
    this.#lookup = undefined
    this.#offsets = undefined
  }

  /** Takes in the rows of one part and gives the numbers of those that are new in the order. */
  #take(part: IndexColumns, removed: Set<number>): Int32Array {
    const rows = new Int32Array(part.count)
    let count = 0
    for (let i = 0; i < part.count; i += 1) {
      const known = this.#findWords(part.low[i] ?? 0, part.high[i] ?? 0)
      if (known >= 0 && part.place[i] !== 0 && part.order[i] === this.#columns.order[known]) {
        copyRow(part, i, this.#columns, known)
        continue
      }
      if (known >= 0) {
        removed.add(known)
        this.#forget(known)
      }
      if (part.place[i] === 0) continue
      rows[count] = this.#append(part, i)
      count += 1
    }
    return rows.subarray(0, count)
  }

  #findWords(low: number, high: number): number {
    if (this.#used === 0) return -1
    this.#lookup ??= this.#makeLookup()
    const lookup = this.#lookup
    const mask = lookup.length - 1
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const entry = lookup[at] ?? 0
      if (entry === 0) return -1
      const row = entry - 1
      if (entry > 0 && this.#columns.low[row] === low && this.#columns.high[row] === high) return row
    }
  }

  #makeOffsets(): Int32Array {
    const offsets = new Int32Array(this.#used)
    for (let offset = 0; offset < this.#byOrder.length; offset += 1)
      offsets[this.#byOrder[offset] ?? 0] = offset
    return offsets
  }

  #makeLookup(): Int32Array {
    let size = 64
    while (size < this.#columns.order.length * 2) size *= 2
    const lookup = new Int32Array(size)
    for (const row of this.#byOrder) enter(lookup, this.#columns.low[row] ?? 0, row)
    return lookup
  }

  /** A hole that the search steps over. Its columns stay for those who read just now. */
  #forget(row: number): void {
    const lookup = this.#lookup
    if (lookup === undefined) return
    const mask = lookup.length - 1
    let at = (this.#columns.low[row] ?? 0) & mask
    while (lookup[at] !== row + 1) at = (at + 1) & mask
    lookup[at] = HOLE
  }

  #append(part: IndexColumns, i: number): number {
    const row = this.#used
    this.#used += 1
    copyRow(part, i, this.#columns, row)
    if (this.#lookup !== undefined) enter(this.#lookup, part.low[i] ?? 0, row)
    return row
  }

  /** Makes room for so many rows, and lets their keys be found: while parts are taken in, only the lookup knows all rows. */
  #reserve(count: number): void {
    const columns = this.#columns
    if (count > columns.order.length) {
      const grown = makeColumns(Math.ceil(count * 1.25))
      for (const name of COLUMN_NAMES) grown[name].set(columns[name].subarray(0, this.#used))
      this.#columns = grown
      this.#lookup = undefined
    }
    this.#lookup ??= this.#makeLookup()
  }
}

const HOLE = -1

/** Puts added rows behind their equals; both lists are in descending order. */
const merge = (old: Int32Array, added: Int32Array, { order }: IndexColumns): Int32Array => {
  if (added.length === 0) return old
  const merged = new Int32Array(old.length + added.length)
  let from = 0
  let to = 0
  for (const row of added) {
    const end = endAbove(old, order, { from, rank: order[row] ?? 0 })
    merged.set(old.subarray(from, end), to)
    to += end - from
    from = end
    merged[to] = row
    to += 1
  }
  merged.set(old.subarray(from), to)
  return merged
}

/** Where the rows end that have at least this rank, from `from` on: it is looked for in growing steps, as it is mostly near. */
const endAbove = (
  rows: Int32Array,
  order: Float64Array,
  { from, rank }: { from: number; rank: number }
): number => {
  const isAbove = (at: number): boolean => (order[rows[at] ?? 0] ?? 0) >= rank
  let low = from
  let step = 1
  while (low + step <= rows.length && isAbove(low + step - 1)) {
    low += step
    step *= 2
  }
  return lowerBound(low, Math.min(rows.length, low + step), at => !isAbove(at))
}

const enter = (lookup: Int32Array, low: number, row: number): void => {
  const mask = lookup.length - 1
  let at = low & mask
  while ((lookup[at] ?? 0) > 0) at = (at + 1) & mask
  lookup[at] = row + 1
}

/** Copies one row of columns. */
export const copyRow = (source: IndexColumns, from: number, target: IndexColumns, to: number): void => {
  target.order[to] = source.order[from] ?? 0
  target.low[to] = source.low[from] ?? 0
  target.high[to] = source.high[from] ?? 0
  target.mark[to] = source.mark[from] ?? 0
  target.place[to] = source.place[from] ?? 0
  target.slot[to] = source.slot[from] ?? 0
}
