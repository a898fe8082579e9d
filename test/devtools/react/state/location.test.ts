import test from 'ava'
import fc from 'fast-check'
import {
  locationText,
  panelNames,
  parseLocation,
  placeAfter,
  startLocation
} from '../../../../devtools/react/state/location.ts'
import { readPreferences } from '../../../../devtools/react/state/preferences.ts'

test('every place survives its way through an address', t => {
  const places = fc.record(
    {
      panel: fc.constantFrom(...panelNames),
      id: fc.string({ unit: 'binary', minLength: 1 }),
      filter: fc.string({ unit: 'binary' })
    },
    { requiredKeys: ['panel', 'filter'] }
  )
  fc.assert(fc.property(places, place => void t.deepEqual(parseLocation(locationText(place)), place)))
  t.pass()
})

test('an address says where it leads', t => {
  t.is(locationText({ panel: 'engines', id: 'a/b=', filter: 'x y' }), '#/engines/a%2Fb%3D?filter=x+y')
  t.is(locationText({ panel: 'logs', filter: '' }), '#/logs')
})

test('a lone surrogate, which no address can hold, does not prevent the navigation', t => {
  t.is(locationText({ panel: 'sync', id: 'a\ud800', filter: '\ud800' }), '#/sync/a%EF%BF%BD?filter=%EF%BF%BD')
})

test('foreign and damaged addresses lead to the start or as far as they can', t => {
  for (const fragment of ['', '#', '#/', '#/nowhere/1', '#token=abc', 'engines']) {
    t.deepEqual(parseLocation(fragment), startLocation)
  }
  t.deepEqual(parseLocation('#/sync/%E0%A4%A'), { panel: 'sync', id: '%E0%A4%A', filter: '' })
})

test('another panel starts without the choice and the filter of the one before', t => {
  const here = { panel: 'engines', id: 'w', filter: 'bit' } as const
  t.deepEqual(placeAfter(here, { panel: 'logs' }), { panel: 'logs', filter: '' })
  t.deepEqual(placeAfter(here, { id: 'v' }), { panel: 'engines', id: 'v', filter: 'bit' })
  t.deepEqual(placeAfter(here, { filter: '' }), { panel: 'engines', id: 'w', filter: '' })
  t.deepEqual(placeAfter(here, { panel: 'engines' }), { panel: 'engines', filter: 'bit' })
})

test('preferences that are missing, damaged or of another kind are the defaults', t => {
  const defaults = { theme: 'system', hasShortcuts: true } as const
  for (const text of [null, '', '{', 'null', '7', '{"theme":"pink","hasShortcuts":1}']) {
    t.deepEqual(readPreferences(text), defaults)
  }
  t.deepEqual(readPreferences('{"theme":"dark","hasShortcuts":false}'), {
    theme: 'dark',
    hasShortcuts: false
  })
})
