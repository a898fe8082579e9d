import type { BulkChange } from '../../kernel/repo/store/bulk.ts'

/** What a sealed store holds, as a plain list: entries are texts, rows are changes of the table `t/`. */
export type Rows = Map<string, string | BulkChange>

/** The list after a write. A row that keeps its order keeps its place, and another one goes to the end. */
export const applied = (before: Rows, changes: ReadonlyMap<string, string | BulkChange | null>): Rows => {
  const after: Rows = new Map(before)
  for (const [key, change] of changes) {
    const old = after.get(key)
    const stays =
      typeof old === 'object' && typeof change === 'object' && change !== null && old.order === change.order
    if (change === null || !stays) after.delete(key)
    if (change !== null) after.set(key, change)
  }
  return after
}

/** The list as one text, without what a store does not give back: its rows from the highest order on. */
export const spelt = (rows: Rows): string => {
  const entries = [...rows].filter(([, change]) => typeof change === 'string').sort()
  const ordered = [...rows].flatMap(([key, change]) =>
    typeof change === 'string'
      ? []
      : [[key, { text: change.text, order: change.order, mark: change.mark }] as const]
  )
  ordered.sort(([, left], [, right]) => (right.order ?? 0) - (left.order ?? 0))
  return JSON.stringify([...entries, ...ordered])
}
