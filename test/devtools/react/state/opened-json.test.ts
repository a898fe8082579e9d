import test from 'ava'
import { openedJson, panelNames } from '../../../../devtools/react/state/location.ts'
import { busyEvents, busyView, SAVINGS } from '../busy-sample.ts'
import { makeSampleClient } from '../sample-client.ts'

const client = makeSampleClient({ view: busyView, events: busyEvents })

for (const [panel, id, text] of [
  ['engines', SAVINGS, 'watching 42 addresses'],
  ['quotes', 'round-2 thornbridge', 'gives 0.8 % more'],
  ['rates', 'BTC iso:EUR', 'hops'],
  ['sync', SAVINGS, 'pendingCount'],
  ['hooks', '302', 'spendChanged'],
  ['plugins', 'harbour', 'PLUGIN_BROKEN'],
  ['logs', '297', 'logged']
] as const) {
  test(`the open item of ${panel} is JSON`, t => {
    const json = openedJson(client, { panel, id, filter: '' })
    t.is(typeof JSON.parse(json), 'object')
    t.true(json.includes(text))
  })
}

test('a whole round is a list of its quotes', t => {
  const quotes = JSON.parse(openedJson(client, { panel: 'quotes', id: 'round-1', filter: '' }))
  t.is(quotes.length, 3)
})

test('where nothing is open there is nothing', t => {
  for (const panel of panelNames) {
    t.is(openedJson(client, { panel, filter: '' }), '')
    t.is(openedJson(client, { panel, id: 'gone', filter: '' }), '')
  }
})
