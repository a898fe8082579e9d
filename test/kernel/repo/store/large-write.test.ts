import test from 'ava'
import type { BulkChange } from '../../../../kernel/repo/store/bulk.ts'
import { parseBulkPrefixes } from '../../../../kernel/repo/store/bulk-prefixes.ts'
import {
  isLarge,
  type LargeWrite,
  rowIn,
  settleEntries,
  sortWrite,
  takeAlong,
  touch,
  untouch,
  unwritableOf
} from '../../../../kernel/repo/store/large-write.ts'
import { type OverlayRow, rowOfChange } from '../../../../kernel/repo/store/overlay.ts'

const prefixes = parseBulkPrefixes(['p/', 'q/'])

type Changes = [key: string, change: string | BulkChange | null][]

const largeOf = (changes: Changes, moved: readonly OverlayRow[] = []): LargeWrite => ({
  changes: new Map(changes),
  touched: new Map(),
  moved: new Map(moved.map(row => [`p/${row.key}`, row]))
})

const sorted = (large: LargeWrite): ReturnType<typeof sortWrite> =>
  sortWrite(large, prefixes, () => undefined)

test('only the letters of its rows and their keys make a write large', t => {
  const changes = new Map<string, string | BulkChange | null>([
    ['other', 'x'.repeat(1000)],
    ['p/a', '12345'],
    ['q/b', null],
    ['p/c', { text: '12' }]
  ])
  t.true(isLarge(changes, prefixes, 16))
  t.false(isLarge(changes, prefixes, 17))
})

test('a key or text with half a character is found among rows, and allowed among entries', t => {
  t.is(unwritableOf(new Map([['other', '\ud800']]), prefixes), undefined)
  t.is(
    unwritableOf(
      new Map([
        ['p/a', 'a'],
        ['p/b', '\ud800']
      ]),
      prefixes
    ),
    'p/b'
  )
  t.is(unwritableOf(new Map([['p/\ud800', null]]), prefixes), 'p/\ud800')
})

test('a large write is sorted by table: older rows that it includes come first, and each key is there once', async t => {
  const changes: Changes = Array.from({ length: 600 }, (_, i) => [`q/${i}`, String(i)])
  const large = largeOf(
    [
      ['p/moves', { text: 'new', order: 2 }],
      ['p/stays', { text: 'new', order: 1 }],
      ['entry', '1'],
      ['gone', null],
      ...changes
    ],
    [
      rowOfChange('moves', { text: 'old', order: 1 }, 0),
      rowOfChange('stays', { text: 'old', order: 1 }, 1),
      rowOfChange('only', { text: 'old', order: 1 }, 2),
      rowOfChange('deleted', null, 3)
    ]
  )
  const { tables, entries } = await sorted(large)
  t.deepEqual(
    tables.get('p/')?.rows.map(({ key, text }) => `${key} ${text}`),
    ['stays new', 'only old', 'moves new']
  )
  t.deepEqual(tables.get('p/')?.deleted, ['deleted'])
  t.deepEqual(
    tables.get('q/')?.rows.map(({ text }) => text),
    changes.map(([, text]) => text as string)
  )
  t.deepEqual(
    [...entries],
    [
      ['entry', '1'],
      ['gone', null]
    ]
  )
})

test('a row that is written again after its deletion comes at the end', async t => {
  const moved = [rowOfChange('a', null, 0), rowOfChange('b', 'x', 1)]
  const { tables } = await sorted(largeOf([['p/a', '1']], moved))
  t.deepEqual(
    tables.get('p/')?.rows.map(({ key }) => key),
    ['b', 'a']
  )
})

test('a large write includes the rows in memory of its tables, or of all tables if it has no rows', t => {
  const overlay = new Map([
    ['p/a', rowOfChange('a', '1', 0)],
    ['q/b', rowOfChange('b', '2', 1)]
  ])
  const keysAfter = (changes: Changes, of: typeof overlay): string[] => {
    const large = largeOf(changes)
    takeAlong(large, of, prefixes)
    return [...large.moved.keys()]
  }
  t.deepEqual(keysAfter([['p/c', '3']], overlay), ['p/a'])
  t.deepEqual(keysAfter([], overlay), ['p/a', 'q/b'])
  t.deepEqual(keysAfter([], new Map()), [])
})

test('later writes stay newer than a large one until all of them have failed', t => {
  const large = largeOf([['p/a', { text: '1', order: 7 }]], [rowOfChange('b', '2', 0)])
  t.is(rowIn(large, 'p/a', 'a')?.order, 7)
  t.is(rowIn(large, 'p/b', 'b')?.text, '2')
  t.is(rowIn(large, 'p/c', 'c'), undefined)
  touch(large, 'p/b')
  touch(large, 'p/b')
  untouch(large, 'p/b')
  t.true(large.touched.has('p/b'))
  const entries = (): [string, string | null][] => [
    ...settleEntries(
      large,
      new Map([
        ['x', '1'],
        ['p/b', '3']
      ])
    )
  ]
  t.deepEqual(entries(), [['x', '1']])
  untouch(large, 'p/b')
  untouch(large, 'p/b')
  t.false(large.touched.has('p/b'))
  t.deepEqual(entries(), [
    ['x', '1'],
    ['p/b', null]
  ])
})

test('a key that smaller writes touch stays touched until the last of them has failed', t => {
  const large = largeOf([])
  for (let n = 0; n < 4; n += 1) touch(large, 'p/a')
  for (let n = 0; n < 4; n += 1) {
    t.true(large.touched.has('p/a'), `after ${n} failures`)
    untouch(large, 'p/a')
  }
  t.false(large.touched.has('p/a'))
})
