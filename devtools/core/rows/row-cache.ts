import type { JournalEvent } from '../journal-event.ts'

/** Remembers the row of each event for as long as the event is kept: a list of ten thousand is drawn ten times a second. */
export const cached = <Row>(rowOf: (event: JournalEvent) => Row): ((event: JournalEvent) => Row) => {
  const rows = new WeakMap<JournalEvent, { readonly row: Row }>()
  return event => {
    const known = rows.get(event)
    if (known !== undefined) return known.row
    const row = rowOf(event)
    rows.set(event, { row })
    return row
  }
}
