import type { DevtoolsClient } from '../../core/client/client.ts'
import type { JournalEvent } from '../../core/model/facts.ts'
import type { View } from '../../core/model/slices.ts'
import type { PanelLocation, PanelName } from './location.ts'

/** Returns the open row as JSON for the clipboard; empty if no row is open. */
export const openedJson = (
  { view, events }: Pick<DevtoolsClient, 'events' | 'view'>,
  { panel, id }: PanelLocation
): string => {
  const found = id === undefined ? undefined : finders[panel](view.getSnapshot(), events.getSnapshot(), id)
  return found === undefined ? '' : JSON.stringify(found, undefined, 2)
}

type Find = (view: View, events: readonly JournalEvent[], id: string) => unknown

const eventOf: Find = (_, events, id) => events.find(({ seq }) => String(seq) === id)

const finders: Readonly<Record<PanelName, Find>> = {
  engines: (view, _, id) => {
    const [engine, wallet] = [view.engines.get(id), view.wallets.get(id)]
    return engine === undefined ? undefined : { engine, wallet }
  },
  // The place of a quote is its id, that of a round leads to all of its quotes.
  quotes: (view, _, id) => {
    const quotes = [...view.quotes.values()].filter(({ roundId }) => roundId === id)
    return view.quotes.get(id) ?? (quotes.length === 0 ? undefined : quotes)
  },
  rates: (view, _, id) => view.routes.get(id),
  sync: (view, _, id) => view.repos.get(id),
  hooks: eventOf,
  plugins: (view, _, id) => view.plugins.get(id),
  logs: eventOf
}
