import type { BulkChange, BulkRow, StoreChanges } from './bulk.ts'
import type { LocalStore } from './local-store.ts'
import { type OverlayRow, rowOfChange } from './overlay.ts'

/** A write of many rows that is on its way to segments. */
export interface LargeWrite {
  /** By their whole keys, as they were written. */
  readonly rows: ReadonlyMap<string, OverlayRow>
  readonly entries: ReadonlyMap<string, string | null>
  /** How often later, smaller writes have written a key of it: theirs is newer. */
  readonly touched: Map<string, number>
  /** Rows among the entries that go to segments with it; set when its turn comes. */
  moved: ReadonlyMap<string, OverlayRow>
}

/** Parts changes into rows of tables and entries. */
export const makeLargeWrite = (
  changes: StoreChanges,
  prefixOf: (key: string) => string | undefined
): LargeWrite => {
  const rows = new Map<string, OverlayRow>()
  const entries = new Map<string, string | null>()
  for (const [key, change] of changes) {
    const prefix = prefixOf(key)
    if (prefix === undefined) entries.set(key, plainTextOf(change))
    else rows.set(key, rowOfChange(key.slice(prefix.length), change, 0))
  }
  return { rows, entries, touched: new Map(), moved: new Map() }
}

/** The text of a change of an entry. */
export const plainTextOf = (change: string | BulkChange | null): string | null =>
  change === null || typeof change === 'string' ? change : change.text

/** How many characters a change of a row writes, about. */
export const lengthOf = (key: string, change: string | BulkChange | null): number =>
  key.length + (plainTextOf(change)?.length ?? 0)

/** Says that a smaller write of a key is coming. */
export const touch = ({ touched }: LargeWrite, key: string): void => {
  touched.set(key, (touched.get(key) ?? 0) + 1)
}

/** Says that it failed. */
export const untouch = ({ touched }: LargeWrite, key: string): void => {
  const count = touched.get(key) ?? 0
  if (count > 1) touched.set(key, count - 1)
  else touched.delete(key)
}

/** The rows that a large write takes along: those of its tables, or all if it has none of its own. */
export const movedBy = (
  { rows, touched }: LargeWrite,
  overlay: ReadonlyMap<string, OverlayRow>,
  tableOf: (key: string) => string | undefined
): Map<string, OverlayRow> => {
  const tables = new Set([...rows.keys()].map(tableOf))
  const isMoved = (key: string): boolean => !touched.has(key) && (rows.size === 0 || tables.has(tableOf(key)))
  return new Map([...overlay].filter(([key]) => isMoved(key)))
}

/** The rows and the deleted keys of each table, in the order in which they came. */
export const byTable = (
  { rows, moved }: LargeWrite,
  tableOf: (key: string) => string | undefined
): Map<string, { rows: BulkRow[]; deleted: string[] }> => {
  const tables = new Map<string, { rows: BulkRow[]; deleted: string[] }>()
  for (const [whole, { key, text, order, mark }] of inOrder(moved, rows)) {
    const prefix = tableOf(whole) ?? ''
    let table = tables.get(prefix)
    if (table === undefined) {
      table = { rows: [], deleted: [] }
      tables.set(prefix, table)
    }
    if (text === null) table.deleted.push(key)
    else table.rows.push({ key, text, order, mark })
  }
  return tables
}

/** What a large write changes among the entries: its own, and the rows there that are older than its own. */
export const entriesOf = (
  { rows, entries, touched, moved }: LargeWrite,
  front: LocalStore
): Map<string, string | null> => {
  const changes = new Map<string, string | null>()
  for (const [key, text] of entries) if (!touched.has(key)) changes.set(key, text)
  for (const key of [...moved.keys(), ...rows.keys()]) {
    if (!touched.has(key) && front.get(key) !== undefined) changes.set(key, null)
  }
  return changes
}

/** Older rows and then newer ones; one that keeps its order keeps its place. */
const inOrder = (
  older: ReadonlyMap<string, OverlayRow>,
  newer: ReadonlyMap<string, OverlayRow>
): ReadonlyMap<string, OverlayRow> => {
  if (older.size === 0) return newer
  const all = new Map(older)
  for (const [key, row] of newer) {
    const old = all.get(key)
    if (old !== undefined && (old.text === null || old.order !== row.order)) all.delete(key)
    all.set(key, row)
  }
  return all
}
