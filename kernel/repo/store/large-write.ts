import type { BulkChange, BulkRow, StoreChanges } from './bulk.ts'
import type { BulkPrefixes } from './bulk-prefixes.ts'
import { type OverlayRow, rowOfChange } from './overlay.ts'

/** A write of many rows that is on its way to segments. */
export interface LargeWrite {
  readonly changes: StoreChanges
  /** How often later, smaller writes have written a key of it: theirs is newer. */
  readonly touched: Map<string, number>
  /** Rows among the entries that go to segments with it, by their whole keys; set when its turn comes. */
  moved: ReadonlyMap<string, OverlayRow>
}

/** What one table gets, in the order in which it came. */
export interface TableRows {
  readonly rows: readonly BulkRow[]
  readonly deleted: readonly string[]
}

/** The text of a change of an entry. */
export const plainTextOf = (change: string | BulkChange | null): string | null =>
  change === null || typeof change === 'string' ? change : change.text

/** Whether the rows of a write have so many characters or more, with their keys. */
export const isLarge = (changes: StoreChanges, { tableOf }: BulkPrefixes, limit: number): boolean => {
  let length = 0
  for (const [key, change] of changes) {
    if (tableOf(key) === undefined) continue
    length += key.length + (plainTextOf(change)?.length ?? 0)
    if (length >= limit) return true
  }
  return false
}

/** The first key of a row with half a character: it could never leave the entries, and would keep all others there. */
export const unwritableOf = (changes: StoreChanges, { tableOf }: BulkPrefixes): string | undefined => {
  for (const [key, change] of changes) {
    if (tableOf(key) !== undefined && HALF_CHARACTER.test(key + (plainTextOf(change) ?? ''))) return key
  }
  return undefined
}

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

/** A row that a large write has of a key, or takes along; undefined if it has none, or not the newest. */
export const rowIn = (large: LargeWrite, whole: string, key: string): OverlayRow | undefined => {
  const change = large.changes.get(whole)
  return change === undefined ? large.moved.get(whole) : rowOfChange(key, change, 0)
}

/**
 * Sets which rows among the entries a large write takes along: those of its tables, so that they stay before its own; all,
 * if it has none of its own.
 */
export const takeAlong = (
  large: LargeWrite,
  overlay: ReadonlyMap<string, OverlayRow>,
  { tableOf }: BulkPrefixes
): void => {
  if (overlay.size === 0) return
  const tables = new Set<string | undefined>()
  for (const key of large.changes.keys()) tables.add(tableOf(key))
  const isMoved = (key: string): boolean => large.changes.size === 0 || tables.has(tableOf(key))
  large.moved = new Map([...overlay].filter(([key]) => isMoved(key)))
}

/** A large write sorted by where it goes. */
export interface SortedWrite {
  readonly tables: ReadonlyMap<string, TableRows>
  readonly entries: Map<string, string | null>
}

/** Sorts a large write; `breathe` is called again and again. */
export const sortWrite = async (
  large: LargeWrite,
  { tableOf }: BulkPrefixes,
  breathe: () => Promise<void> | undefined
): Promise<SortedWrite> => {
  const sorting: Sorting = { tableOf, rows: new Map(), entries: new Map() }
  for (const [whole, row] of large.moved) rowsOf(sorting, tableOf(whole) ?? '').push(row)
  const changes = large.changes.entries()
  while (sortSome(sorting, changes)) await breathe()
  const newest = large.moved.size === 0 ? (rows: OverlayRow[]) => rows : newestOf
  const tables = new Map([...sorting.rows].map(([table, rows]) => [table, partOf(newest(rows))]))
  return { tables, entries: sorting.entries }
}

/**
 * Leaves of the entries of a large write those that nobody has written since, and removes the rows that it has taken along,
 * unless somebody has written them since, too.
 */
export const settleEntries = (
  { touched, moved }: LargeWrite,
  entries: Map<string, string | null>
): Map<string, string | null> => {
  for (const key of touched.keys()) entries.delete(key)
  for (const key of moved.keys()) if (!touched.has(key)) entries.set(key, null)
  return entries
}

const HALF_CHARACTER = /\p{Surrogate}/u
/** How many changes are sorted without a pause. */
const GROUP = 512

interface Sorting extends Pick<BulkPrefixes, 'tableOf'> {
  readonly rows: Map<string, OverlayRow[]>
  readonly entries: Map<string, string | null>
}

/** False when none are left. */
const sortSome = (
  sorting: Sorting,
  changes: Iterator<[key: string, change: string | BulkChange | null]>
): boolean => {
  for (let count = 0; count < GROUP; count += 1) {
    const next = changes.next()
    if (next.done === true) return false
    const [key, change] = next.value
    const table = sorting.tableOf(key)
    if (table === undefined) sorting.entries.set(key, plainTextOf(change))
    else rowsOf(sorting, table).push(rowOfChange(key.slice(table.length), change, 0))
  }
  return true
}

const rowsOf = ({ rows: tables }: Sorting, table: string): OverlayRow[] => {
  const known = tables.get(table)
  if (known !== undefined) return known
  const rows: OverlayRow[] = []
  tables.set(table, rows)
  return rows
}

/** One row for each key, the newest; one that keeps its order keeps its place. */
const newestOf = (rows: readonly OverlayRow[]): OverlayRow[] => {
  const newest = new Map<string, OverlayRow>()
  for (const row of rows) {
    const old = newest.get(row.key)
    if (old !== undefined && (old.text === null || old.order !== row.order)) newest.delete(row.key)
    newest.set(row.key, row)
  }
  return [...newest.values()]
}

const partOf = (all: readonly OverlayRow[]): TableRows => {
  if (all.every(row => row.text !== null)) return { rows: all as readonly BulkRow[], deleted: [] }
  const rows: BulkRow[] = []
  const deleted: string[] = []
  for (const row of all) {
    if (row.text === null) deleted.push(row.key)
    else rows.push(row as BulkRow)
  }
  return { rows, deleted }
}
