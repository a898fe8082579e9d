import test from 'ava'
import {
  bestEntries,
  locationEntries,
  type PaletteEntry,
  panelEntries,
  scoreEntry,
  searchEntry
} from '../../../../devtools/react/frame/palette-entries.ts'
import { busyEvents, busyView, SAVINGS, TXID } from '../busy-sample.ts'

const all = [...panelEntries(), ...locationEntries(busyView, busyEvents)]
const titlesOf = (query: string): readonly string[] => bestEntries(all, query, 5).map(({ title }) => title)
const placeOf = (query: string) => {
  const [{ target } = searchEntry(busyView, query)] = bestEntries(all, query, 1)
  return target.type === 'go' ? target.place : undefined
}

test('each panel, wallet, account, round, route, repo, plugin, payment and action has an entry', t => {
  const kinds = all.map(({ kind }) => kind)
  const count = (kind: string): number => kinds.filter(one => one === kind).length
  t.is(count('Wallet'), busyView.wallets.size)
  t.is(count('Account'), busyView.accounts.size)
  t.is(count('Round of quotes'), 3)
  t.is(count('Rate route'), busyView.routes.size)
  t.is(count('Repo'), busyView.repos.size)
  t.is(count('Plugin'), busyView.plugins.size)
  t.is(count('Payment'), 1)
  t.true(count('Action') > 10)
  t.deepEqual(titlesOf('').slice(0, 3), ['Engines', 'Quotes', 'Rate routes'])
})

test('an entry leads to its place', t => {
  t.deepEqual(placeOf('savings'), { panel: 'engines', id: SAVINGS })
  t.deepEqual(placeOf('thornbridge'), { panel: 'plugins', id: 'thornbridge' })
  t.deepEqual(placeOf('grace'), { panel: 'engines', filter: 'grace' })
  t.deepEqual(placeOf('round-1'), { panel: 'quotes', id: 'round-1' })
})

test('a transaction leads to all of its payment, and so does what was typed to all that holds it', t => {
  t.deepEqual(placeOf(TXID), { panel: 'hooks', filter: 'spend-1' })
  t.deepEqual(searchEntry(busyView, TXID).target, {
    type: 'go',
    place: { panel: 'hooks', filter: 'spend-1' }
  })
  t.deepEqual(searchEntry(busyView, 'abc').target, { type: 'go', place: { panel: 'hooks', filter: 'abc' } })
})

const entry = (title: string, detail = ''): PaletteEntry => ({
  ...{ kind: 'Wallet', title, detail },
  target: { type: 'go', place: {} }
})

test('what begins with the letters comes before what has them within, and letters apart come last', t => {
  const entries = [
    entry('x sxaxv'),
    entry('My savings'),
    entry('Unsaved'),
    entry('Other', 'sav1'),
    entry('Savings')
  ]
  t.deepEqual(
    bestEntries(entries, 'SAV', 9).map(({ title }) => title),
    ['Savings', 'My savings', 'Unsaved', 'Other', 'x sxaxv']
  )
})

test('every word must be found', t => {
  t.true(scoreEntry(entry('Savings', 'bitcoin'), 'bit wall sav') > 0)
  t.is(scoreEntry(entry('Savings', 'bitcoin'), 'savings litecoin'), 0)
  t.true(scoreEntry(entry('Savings'), '   ') > 0)
})
