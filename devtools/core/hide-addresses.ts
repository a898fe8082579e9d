import { redactFact, redactRow } from './redact.ts'
import type { SliceName } from './slices.ts'
import { type SlicePatch, type Slices, sliceNames } from './slices.ts'
import type { TableMessage } from './view-fold.ts'

/**
 * The same message without addresses and transaction ids (pure). Those that are hidden already stay as they are.
 *
 * @param salt - makes the marks of one kernel mean nothing for another
 */
export const hideAddresses = (message: TableMessage, salt: string): TableMessage => {
  const options = { hideAddresses: true, salt }
  const rowsOf = (slice: SliceName, rows: SlicePatch['changed']): SlicePatch['changed'] =>
    rows.map(([id, row]) => [id, redactRow(slice, row as Slices[typeof slice], options)])
  const events = message.events.map(event => ({
    ...event,
    data: redactFact(event.hook, event.data, options) ?? {}
  }))
  if (message.type === 'batch') {
    const patches = message.patches.map(patch => ({ ...patch, changed: rowsOf(patch.slice, patch.changed) }))
    return { ...message, patches, events }
  }
  const slices = Object.fromEntries(sliceNames.map(name => [name, rowsOf(name, message.slices[name])]))
  return { ...message, slices, events } as unknown as TableMessage
}
