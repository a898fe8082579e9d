import { useCallback, useEffect, useState } from 'react'
import { page } from './dom.ts'
import { locationText, type PanelLocation, parseLocation, startLocation } from './location.ts'

/** Where the panel is, and the way elsewhere. `isLinked`: kept in the address of the page. */
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

/** Where the address leads, or where the panel starts when that says nothing. */
const linkedPlace = (start: PanelLocation): PanelLocation => {
  const fragment = page?.location.hash ?? ''
  return fragment.startsWith('#/') ? parseLocation(fragment) : start
}

/** Where `place` leads from `location`: another panel starts without choice and filter, and so does a panel named anew. */
export const placeAfter = (location: PanelLocation, place: Partial<PanelLocation>): PanelLocation => {
  const panel = place.panel ?? location.panel
  const isSame = panel === location.panel
  const id = 'panel' in place ? place.id : (place.id ?? location.id)
  const filter = place.filter ?? (isSame ? location.filter : '')
  return id === undefined ? { panel, filter } : { panel, id, filter }
}
