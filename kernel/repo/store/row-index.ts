import { lowerBound } from '../../base/lower-bound.ts'
import { type Head, type HeadColumns, makeHeadColumns } from './block.ts'

/** 64 bits: the lower half, then the upper. */
export type KeyHash = readonly [low: number, high: number]

/** The living rows of some blocks, which an index takes in. */
export interface PlacedRows {
  readonly block: number
  readonly count: number
  readonly columns: HeadColumns
}

/**
 * The index of one table in memory: where each living row stands, without its key and text.
 *
 * Rows have numbers for as long as the index lives; a row that is gone keeps its hash, at block 0. They stand in descending
 * order, and of one order the lower sequence first.
 */
export class RowIndex {
  readonly hashOf: (key: string) => KeyHash
  #columns = NO_COLUMNS
  /** The block of each row; 0 for one that is gone. */
  #block = NO_BLOCKS
  #used = 0
  #byOrder = NO_ROWS
  /** Row numbers plus one by hash, with linear probing. */
  #lookup = NO_ROWS
  /** Blocks whose heads have a row that a later one has, too: damage shows them again. */
  stale: ReadonlySet<number> = NONE
  /** The highest sequence of its rows. */
  #sequence = 0

  /** @param heads - in ascending order of their numbers */
  constructor(hashOf: (key: string) => KeyHash, heads: readonly Head[]) {
    this.hashOf = hashOf
    this.#reserve(heads.reduce((sum, { count }) => sum + count, 0))
    // Two heads have one row only where an older state of one of them is read, after damage: then the later one is right.
    for (const head of heads) this.#append(head)
    if (this.#used === 0) return
    const rows: number[] = []
    for (let row = 0; row < this.#used; row += 1) if (this.#block[row] !== 0) rows.push(row)
    this.#byOrder = Int32Array.from(this.#sorted(rows))
  }

  /** The number of living rows. */
  get count(): number {
    return this.#byOrder.length
  }

  /** The living rows in their order: one that is in use is never changed. */
  get byOrder(): Int32Array {
    return this.#byOrder
  }

  /** Whether most of its memory is of rows that are gone. */
  get isWasteful(): boolean {
    return this.#used > 2 * this.count + 4096
  }

  /** A sequence that no row has yet. */
  nextSequence(): number {
    this.#sequence += 1
    return this.#sequence
  }

  /** The living row of a hash, or -1. */
  find([low, high]: KeyHash): number {
    const mask = this.#lookup.length - 1
    for (let at = low & mask; mask >= 0; at = (at + 1) & mask) {
      const entry = this.#lookup[at] ?? 0
      if (entry === 0) return -1
      const row = entry - 1
      if (this.#columns.low[row] === low && this.#columns.high[row] === high && this.#block[row] !== 0)
        return row
    }
    return -1
  }

  /** Where a row stands. It may be gone by now; its hash stays. */
  at(row: number): RowPlace {
    const { order, sequence, low, high, mark, slot } = this.#columns
    return {
      block: this.#block[row] ?? 0,
      slot: slot[row] ?? 0,
      order: order[row] ?? 0,
      sequence: sequence[row] ?? 0,
      mark: mark[row] ?? 0,
      hash: [low[row] ?? 0, high[row] ?? 0]
    }
  }

  orderOf(row: number): number {
    return this.#columns.order[row] ?? 0
  }

  markOf(row: number): number {
    return this.#columns.mark[row] ?? 0
  }

  blockOf(row: number): number {
    return this.#block[row] ?? 0
  }

  /** The place of a living row in the order. */
  offsetOf(row: number): number {
    return lowerBound(0, this.count, offset => this.#compare(this.#byOrder[offset] ?? 0, row) >= 0)
  }

  /** How many rows have a higher order. */
  offsetAt(order: number): number {
    return lowerBound(0, this.count, offset => this.orderOf(this.#byOrder[offset] ?? 0) <= order)
  }

  /** The living rows of some blocks, without those of `except`; in their order. */
  rowsIn(blocks: ReadonlySet<number>, except: ReadonlySet<number>): Map<number, number[]> {
    const found = new Map<number, number[]>([...blocks].map(block => [block, []]))
    if (blocks.size === 0) return found
    const isWanted = new Uint8Array(Math.max(...blocks) + 1)
    for (const block of blocks) isWanted[block] = 1
    for (const row of this.#byOrder) {
      const block = this.#block[row] ?? 0
      if (isWanted[block] === 1 && !except.has(row)) found.get(block)?.push(row)
    }
    return found
  }

  /** The columns of some rows, for a head. */
  columnsOf(rows: readonly number[]): HeadColumns {
    const columns = makeHeadColumns(rows.length)
    for (const [to, row] of rows.entries()) copyRow(this.#columns, row, columns, to)
    return columns
  }

  /** Removes rows, and takes in those of new blocks: one of a hash that is left has moved there, and keeps its order and sequence. */
  apply(removed: ReadonlySet<number>, placed: readonly PlacedRows[]): void {
    this.stale = NONE
    for (const row of removed) this.#block[row] = 0
    this.#reserve(placed.reduce((sum, { count }) => sum + count, this.#used))
    const added: number[] = []
    for (const { block, count, columns } of placed) {
      for (let i = 0; i < count; i += 1) {
        const known = this.find([columns.low[i] ?? 0, columns.high[i] ?? 0])
        if (known < 0) added.push(this.#take(block, columns, i))
        else {
          this.#columns.mark[known] = columns.mark[i] ?? 0
          this.#columns.slot[known] = columns.slot[i] ?? 0
          this.#block[known] = block
        }
      }
    }
    if (removed.size > 0) this.#byOrder = this.#byOrder.filter(row => !removed.has(row))
    if (added.length > 0) this.#byOrder = this.#merged(this.#sorted(added))
  }

  #append({ block, count, columns }: Head): void {
    for (let i = 0; i < count; i += 1) {
      const known = this.find([columns.low[i] ?? 0, columns.high[i] ?? 0])
      if (known >= 0) {
        this.stale = new Set([...this.stale, this.blockOf(known)])
        this.#block[known] = 0
      }
      this.#take(block, columns, i)
    }
  }

  #take(block: number, columns: HeadColumns, i: number): number {
    const row = this.#used
    this.#used += 1
    copyRow(columns, i, this.#columns, row)
    this.#block[row] = block
    this.#sequence = Math.max(this.#sequence, columns.sequence[i] ?? 0)
    enter(this.#lookup, columns.low[i] ?? 0, row)
    return row
  }

  /** Makes room for so many rows. */
  #reserve(count: number): void {
    if (count <= this.#block.length) return
    const room = this.#used === 0 ? count : Math.ceil(count * 1.25)
    const grown = makeHeadColumns(room)
    for (const name of ['order', 'sequence', 'low', 'high', 'mark', 'slot'] as const)
      grown[name].set(this.#columns[name].subarray(0, this.#used))
    this.#columns = grown
    const block = new Uint32Array(room)
    block.set(this.#block.subarray(0, this.#used))
    this.#block = block
    if (this.#lookup.length >= 2 * room) return
    let size = 4
    while (size < room * 2) size *= 2
    this.#lookup = new Int32Array(size)
    for (let row = 0; row < this.#used; row += 1)
      if (block[row] !== 0) enter(this.#lookup, grown.low[row] ?? 0, row)
  }

  #compare(left: number, right: number): number {
    const { order, sequence } = this.#columns
    return (order[right] ?? 0) - (order[left] ?? 0) || (sequence[left] ?? 0) - (sequence[right] ?? 0)
  }

  #sorted(rows: number[]): number[] {
    return rows.sort((left, right) => this.#compare(left, right))
  }

  /** The living rows with others, which are sorted. */
  #merged(added: readonly number[]): Int32Array {
    const old = this.#byOrder
    const merged = new Int32Array(old.length + added.length)
    let from = 0
    let to = 0
    for (const row of added) {
      const end = this.#endBefore(row, from)
      merged.set(old.subarray(from, end), to)
      to += end - from
      from = end
      merged[to] = row
      to += 1
    }
    merged.set(old.subarray(from), to)
    return merged
  }

  /** How many living rows stand before a new one: it is looked for in growing steps from `from` on, as it is mostly near. */
  #endBefore(row: number, from: number): number {
    const old = this.#byOrder
    const isBefore = (at: number): boolean => this.#compare(old[at] ?? 0, row) < 0
    let low = from
    let step = 1
    while (low + step <= old.length && isBefore(low + step - 1)) {
      low += step
      step *= 2
    }
    return lowerBound(low, Math.min(old.length, low + step), at => !isBefore(at))
  }
}

// Most wallets have tables without rows: these are never written to.
const NO_COLUMNS: HeadColumns = makeHeadColumns(0)
const NO_BLOCKS: Uint32Array = new Uint32Array(0)
const NO_ROWS: Int32Array = new Int32Array(0)
const NONE: ReadonlySet<never> = new Set()

/** What an index knows of a row. */
export interface RowPlace {
  /** 0 if the row is gone. */
  readonly block: number
  readonly slot: number
  readonly order: number
  readonly sequence: number
  readonly mark: number
  readonly hash: KeyHash
}

/**
 * Makes the function that hashes the keys of a table to 64 bits under a secret seed, {@link TableSecrets.seed}.
 *
 * Two runs of multiply and rotate with a final avalanche: no cryptography. By accident 100,000 keys meet once in four billion tables.
 */
export const makeKeyHash = ([first = 0, second = 0]: Uint32Array): ((key: string) => KeyHash) => {
  return text => {
    let low = first
    let high = second
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i)
      low = Math.imul(((low << 5) | (low >>> 27)) ^ code, 0x9e3779b1)
      high = Math.imul(((high << 7) | (high >>> 25)) ^ code, 0x85ebca77)
    }
    const mixed = mix(low ^ text.length ^ (high >>> 16), 0x85ebca6b, 0xc2b2ae35)
    return [mixed >>> 0, mix(high ^ mixed, 0xcc9e2d51, 0x1b873593) >>> 0]
  }
}

const mix = (word: number, first: number, second: number): number => {
  const once = Math.imul(word ^ (word >>> 16), first)
  const twice = Math.imul(once ^ (once >>> 13), second)
  return twice ^ (twice >>> 16)
}

const enter = (lookup: Int32Array, low: number, row: number): void => {
  const mask = lookup.length - 1
  let at = low & mask
  while ((lookup[at] ?? 0) > 0) at = (at + 1) & mask
  lookup[at] = row + 1
}

const copyRow = (source: HeadColumns, from: number, target: HeadColumns, to: number): void => {
  target.order[to] = source.order[from] ?? 0
  target.sequence[to] = source.sequence[from] ?? 0
  target.low[to] = source.low[from] ?? 0
  target.high[to] = source.high[from] ?? 0
  target.mark[to] = source.mark[from] ?? 0
  target.slot[to] = source.slot[from] ?? 0
}
