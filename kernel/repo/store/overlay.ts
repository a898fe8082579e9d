import type { BulkChange } from './bulk.ts'
import type { BulkPrefixes } from './bulk-prefixes.ts'
import type { LocalStore } from './local-store.ts'

/** A row of a table that is still among the entries in memory, newer than what the table has on the disk. */
export interface OverlayRow {
  readonly key: string
  /** Null is a deletion. */
  readonly text: string | null
  readonly order: number
  readonly mark: number
  /** Grows with each new row, so that rows of one order stand in the order in which they came. */
  readonly sequence: number
}

/** A change as a row. */
export const rowOfChange = (
  key: string,
  change: string | BulkChange | null,
  sequence: number
): OverlayRow => {
  if (change === null) return { key, text: null, order: 0, mark: 0, sequence }
  if (typeof change === 'string') return { key, text: change, order: 0, mark: 0, sequence }
  const { text, order = 0, mark = 0 } = change
  return { key, text, order, mark, sequence }
}

/** What an entry in memory holds for a row: its numbers and its text; nothing for a deletion. */
export const overlayText = ({ text, order, mark, sequence }: OverlayRow): string =>
  text === null ? '' : `${order} ${mark} ${sequence} ${text}`

/** The inverse of {@link overlayText}. */
const parseOverlay = (key: string, entry: string): OverlayRow => {
  if (entry === '') return { key, text: null, order: 0, mark: 0, sequence: 0 }
  const first = entry.indexOf(' ')
  const second = entry.indexOf(' ', first + 1)
  const third = entry.indexOf(' ', second + 1)
  return {
    key,
    text: entry.slice(third + 1),
    order: Number(entry.slice(0, first)),
    mark: Number(entry.slice(first + 1, second)),
    sequence: Number(entry.slice(second + 1, third))
  }
}

/** The rows of all tables that are among the entries of a store. */
export class Overlay {
  readonly #front: LocalStore
  readonly #prefixes: BulkPrefixes
  /** Characters, about; unknown until it is first wanted. */
  #length: number | undefined
  #sequence = 0

  constructor(front: LocalStore, prefixes: BulkPrefixes) {
    this.#front = front
    this.#prefixes = prefixes
  }

  /** How many characters its rows have, about, with their keys. */
  get length(): number {
    this.#length ??= this.#count()
    return this.#length
  }

  /** The row of a key, if there is one here. */
  find(table: string, key: string): OverlayRow | undefined {
    const entry = this.length === 0 ? undefined : this.#front.get(table + key)
    return entry === undefined ? undefined : parseOverlay(key, entry)
  }

  /** The rows of one table. */
  *rowsOf(table: string): Generator<OverlayRow> {
    if (this.length === 0) return
    for (const [key, entry] of this.#front.entries(table)) yield parseOverlay(key.slice(table.length), entry)
  }

  /** All rows that are durable by their whole keys, in the order in which they came. */
  durable(): Map<string, OverlayRow> {
    const rows: [key: string, row: OverlayRow][] = []
    if (this.length === 0) return new Map()
    for (const root of this.#prefixes.roots) {
      for (const [key, entry] of this.#front.durableEntries(root)) {
        const table = this.#prefixes.tableOf(key)
        if (table !== undefined) rows.push([key, parseOverlay(key.slice(table.length), entry)])
      }
    }
    return new Map(rows.sort(([, left], [, right]) => left.sequence - right.sequence))
  }

  /** A row to be written here; one that keeps its order keeps its place among its equals. */
  rowOf(table: string, key: string, change: string | BulkChange | null): OverlayRow {
    const old = this.find(table, key)
    this.#sequence += 1
    const row = rowOfChange(key, change, this.#sequence)
    this.#length = this.length + table.length + key.length + (row.text?.length ?? 0)
    return old !== undefined && old.text !== null && old.order === row.order
      ? { ...row, sequence: old.sequence }
      : row
  }

  /** Rows have left: they are counted anew when that is wanted, and no longer read, to no end, with each opening. */
  rowsLeft(): void {
    this.#length = undefined
    this.#front.tidySoon()
  }

  #count(): number {
    let length = 0
    for (const root of this.#prefixes.roots) {
      for (const [key, entry] of this.#front.entries(root)) {
        if (this.#prefixes.tableOf(key) === undefined) continue
        length += key.length + entry.length
        this.#sequence = Math.max(this.#sequence, parseOverlay(key, entry).sequence)
      }
    }
    return length
  }
}
