import { useCallback, useEffect, useState } from 'react'
import type { DevtoolsClient } from '../../core/client/client.ts'
import type { JournalEvent } from '../../core/model/facts.ts'
import type { View } from '../../core/model/slices.ts'
import { page } from './dom.ts'

/** The panels, in the order of their tabs. */
export const panelNames = ['engines', 'quotes', 'rates', 'rules', 'sync', 'hooks', 'plugins', 'logs'] as const

/** The name of a panel, as links spell it. */
export type PanelName = (typeof panelNames)[number]

/** The titles of the tabs. */
export const panelTitles: Readonly<Record<PanelName, string>> = {
  engines: 'Engines',
  quotes: 'Quotes',
  rates: 'Rate routes',
  rules: 'Rules',
  sync: 'Sync',
  hooks: 'Hooks',
  plugins: 'Plugins',
  logs: 'Logs'
}

/** The location of the panel. All of it is in the address, so that links and reloads keep it. */
export interface PanelLocation {
  readonly panel: PanelName
  /** The chosen wallet, round, route, repo, plugin or event. */
  readonly id?: string
  readonly filter: string
}

/** The default start location. */
export const startLocation: PanelLocation = { panel: 'engines', filter: '' }

/** Reads `#/engines/<id>?filter=…`; {@link startLocation} for a fragment that is none of ours. */
export const parseLocation = (fragment: string): PanelLocation => {
  const [, name = '', id = '', query = ''] = /^#\/([a-z]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(fragment) ?? []
  const panel = panelNames.find(known => known === name)
  if (panel === undefined) return startLocation
  const filter = new URLSearchParams(query).get('filter') ?? ''
  const chosen = decoded(id)
  return chosen === '' ? { panel, filter } : { panel, id: chosen, filter }
}

/** The fragment of a place, the opposite of {@link parseLocation}. */
export const locationText = ({ panel, id, filter }: PanelLocation): string => {
  const place = id === undefined ? `#/${panel}` : `#/${panel}/${encodeURIComponent(wellFormed(id))}`
  return filter === '' ? place : `${place}?${new URLSearchParams({ filter })}`
}

/** Half of a letter, which no address can hold, becomes the mark for that; an id in a recording may have one. */
const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd')

/** A damaged escape stands for itself: a link that a mail program cut must not break the panel. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The location of the panel, and a function that changes it. `isLinked`: kept in the address of the page. */
export const usePanelLocation = (
  isLinked: boolean,
  start: PanelLocation = startLocation
): readonly [PanelLocation, (place: Partial<PanelLocation>) => void] => {
  const [location, setLocation] = useState(() => (isLinked ? linkedPlace(start) : start))
  useEffect(() => {
    if (!isLinked) return
    const follow = (): void => setLocation(linkedPlace(start))
    page?.addEventListener('hashchange', follow)
    return () => page?.removeEventListener('hashchange', follow)
  }, [isLinked, start])
  const go = useCallback(
    (place: Partial<PanelLocation>) => {
      const next = placeAfter(location, place)
      setLocation(next)
      if (!isLinked || page === undefined) return
      // Typing a filter is no step to go back through; another panel or row is.
      const isStep = next.panel !== location.panel || next.id !== location.id
      // Whole: a fragment alone would be of the page's base, which may be elsewhere.
      const { pathname, search } = page.location
      const address = `${pathname}${search}${locationText(next)}`
      if (isStep) page.history.pushState(null, '', address)
      else page.history.replaceState(null, '', address)
    },
    [location, isLinked]
  )
  return [location, go]
}

/** Returns the location in the address, or the start location. */
const linkedPlace = (start: PanelLocation): PanelLocation => {
  const fragment = page?.location.hash ?? ''
  return fragment.startsWith('#/') ? parseLocation(fragment) : start
}

/**
 * Returns the location after a change: another panel starts without choice and filter, and so does a panel that is
 * named again.
 */
export const placeAfter = (location: PanelLocation, place: Partial<PanelLocation>): PanelLocation => {
  const panel = place.panel ?? location.panel
  const isSame = panel === location.panel
  const id = 'panel' in place ? place.id : (place.id ?? location.id)
  const filter = place.filter ?? (isSame ? location.filter : '')
  return id === undefined ? { panel, filter } : { panel, id, filter }
}

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
    return view.quotes.get(id) ?? view.orders.get(id) ?? (quotes.length === 0 ? undefined : quotes)
  },
  rates: (view, _, id) => view.routes.get(id),
  rules: () => undefined,
  sync: (view, _, id) => view.repos.get(id),
  hooks: eventOf,
  plugins: (view, _, id) => view.plugins.get(id),
  logs: eventOf
}
