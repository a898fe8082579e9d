import test from 'ava'
import type { BulkChange } from '../../../kernel/repo/store/bulk.ts'
import type { SealedStore } from '../../../kernel/repo/store/sealed-store.ts'
import { canKeep, countKept, findKept, isKept, listKept, planKept } from '../../../kernel/sync/kept-files.ts'

const DAY_MS = 24 * 3600 * 1000
const NOW = 2_000_000_000_000

/** Entries that are written as a plan of {@link planKept} says. */
const makeKeeper = () => {
  const entries = new Map<string, string>()
  const store = {
    get: (key: string) => entries.get(key),
    entries: (prefix: string) => [...entries].filter(([key]) => key.startsWith(prefix))
  } as unknown as SealedStore
  const keep = (
    reason: 'deleted' | 'replaced',
    paths: string | readonly string[],
    { box = 'box', now = NOW } = {}
  ): void => {
    const writes = new Map<string, string | BulkChange | null>()
    planKept(store, { reason, files: [paths].flat().map(path => [path, box] as const), now }, writes)
    for (const [key, text] of writes) {
      if (text === null) entries.delete(key)
      else entries.set(key, String(text))
    }
  }
  const kept = (now = NOW): string[] =>
    listKept(store, now).map(({ path, keptAt }) => `${path} ${keptAt - NOW}`)
  return { store, keep, kept }
}

test('beyond the limit, the oldest kept text that is neither the first nor the last of its file is dropped', t => {
  const { store, keep, kept } = makeKeeper()
  keep(
    'replaced',
    Array.from({ length: 2995 }, (_, n) => `s${n}`)
  )
  for (let n = 0; n < 3; n += 1) {
    keep('replaced', 'a', { now: NOW + 2000 + n })
    keep('replaced', 'b', { now: NOW + 1000 + n })
  }
  t.is(countKept(store), 3000)
  const often = kept(NOW).filter(text => !text.startsWith('s'))
  t.deepEqual(often, ['a 2002', 'a 2001', 'a 2000', 'b 1002', 'b 1000'])
  keep('replaced', 'c', { now: NOW + 3000 })
  t.deepEqual(kept(NOW).slice(0, 5), ['c 3000', 'a 2002', 'a 2000', 'b 1002', 'b 1000'])
  t.is(countKept(store), 3000)
  keep('replaced', 'd', { now: NOW + 3001 })
  t.false(kept(NOW).includes('s0 0'))
})

test('replaced texts are kept up to five million characters, deleted ones up to a thousand', t => {
  const { store, keep, kept } = makeKeeper()
  for (const [n, length] of [2_000_000, 2_000_000, 1_000_000].entries())
    keep('replaced', `f${n}`, { box: 'x'.repeat(length), now: NOW + n })
  t.deepEqual(kept(NOW), ['f2 2', 'f1 1', 'f0 0'])
  keep('replaced', 'f3', { box: 'x', now: NOW + 3 })
  t.deepEqual(kept(NOW), ['f3 3', 'f2 2', 'f1 1'])
  for (let n = 0; n < 3; n += 1) keep('deleted', `g${n}`, { box: 'x'.repeat(400_000), now: NOW + 10 + n })
  t.deepEqual(kept(NOW).slice(0, 3), ['g2 12', 'g1 11', 'g0 10'])
  t.is(countKept(store), 6)
})

test('kept texts of one moment are listed by path, and only kept entries count as such', t => {
  const { keep, kept } = makeKeeper()
  for (const path of ['b', 'c', 'a']) keep('deleted', path)
  keep('replaced', 'bb')
  t.deepEqual(kept(), ['a 0', 'b 0', 'bb 0', 'c 0'])
  t.deepEqual(['q/x', 'k/x', 'f/x', 'kk/x', ''].map(isKept), [true, true, false, false, false])
})

test('kept texts are found under the keys that they always had', t => {
  const { store, keep } = makeKeeper()
  keep('deleted', 'f/a')
  keep('replaced', 'b')
  const keys = listKept(store, NOW).map(({ keptId }) => keptId)
  t.deepEqual(keys.sort(), ['k/002000000000000/b', 'q/002000000000000/f/a'])
})

test('a text is kept for exactly 30 days, and two texts of one moment are both kept', t => {
  const { store, keep, kept } = makeKeeper()
  keep('deleted', 'f')
  keep('deleted', 'f')
  t.deepEqual(kept(), ['f 1', 'f 0'])
  const end = NOW + 30 * DAY_MS
  t.deepEqual(kept(end), ['f 1', 'f 0'])
  t.deepEqual(kept(end + 1), ['f 1'])
  keep('deleted', 'g', { now: end + 1 })
  t.is(countKept(store), 2)
  for (const { keptId, path } of listKept(store, end + 1))
    t.deepEqual(findKept(store, keptId), { path, box: 'box' })
  t.is(findKept(store, `q/${'0'.repeat(15)}/f`), undefined)
  t.is(findKept(store, 'f/f'), undefined)
})

test('3,000 replaced texts can be kept together, of five million characters in all, and no more', t => {
  const files = (count: number, length = 1): [string, string][] =>
    Array.from({ length: count }, (_, at) => [`f${at}`, 'x'.repeat(length)])
  t.true(canKeep(files(3000)))
  t.false(canKeep(files(3001)))
  t.true(canKeep(files(2, 2_500_000)))
  t.false(canKeep([...files(2, 2_500_000), ['one', 'x']]))
})
