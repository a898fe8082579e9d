import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { findStale } from '../../scripts/judged-mutants.ts'
import { findMutants } from '../../scripts/mutants.ts'

const changesIn = (source: string): readonly string[] =>
  findMutants('dist/kernel/a.js', source).map(({ change }) => change)

test('operators, conditions, numbers, results and calls are broken, each on its own', t => {
  t.deepEqual(changesIn('export const f = (a, b) => a < b && !a'), [
    '< → <=',
    '< → >=',
    '&& → ||',
    '!a → (a)'
  ])
  t.deepEqual(changesIn('export function f(a) { if (a) g(1); return [a, 2n] }'), [
    'a → true',
    'a → false',
    'g(1); → ;',
    '1 → 2',
    'return [a, 2n] → return undefined;',
    '[a, 2n] → []',
    '2n → 3n'
  ])
  t.deepEqual(changesIn('export function f(a) { throw new Error(a) }'), ['throw new Error(a) → ;'])
})

test('a change that a file has again is numbered, so that each is judged alone', t => {
  t.deepEqual(changesIn('f(); f()\ng()\nf(); f()').slice(0, 5), [
    'f(); → ;',
    'f() → ;',
    'g() → ;',
    'f(); → ; (2)',
    'f() → ; (2)'
  ])
  t.deepEqual(changesIn('export const f = (a, b, c) => a && b && c'), ['&& → ||', '&& → || (2)'])
})

test('what is no behaviour is left alone', t => {
  t.deepEqual(changesIn("import { a } from './a.js'\nexport const b = { 1: a, c: 'text' }"), [])
  t.deepEqual(changesIn('export const f = (a, i) => a[i] ?? 0'), ['?? → &&'])
  t.deepEqual(changesIn('export const f = (a, b) => a in b ? 1 : -1'), [
    'a in b → true',
    'a in b → false',
    '-1 → (1)'
  ])
  t.deepEqual(changesIn('export const f = a => ({ ...(a === undefined ? {} : { a }) })'), [
    'a === undefined → true',
    '=== → !=='
  ])
  t.deepEqual(changesIn('export const f = a => (a === undefined ? 0 : a)').slice(0, 2), [
    'a === undefined → true',
    'a === undefined → false'
  ])
  t.deepEqual(changesIn('const [a = 0, , [b = 1]] = f(2)'), ['2 → 3'])
  t.deepEqual(changesIn('const { a = 0 } = f(2)'), ['0 → 1', '2 → 3'])
  t.deepEqual(changesIn('export function f(a) { a.fill(0); return undefined; }'), [])
  t.deepEqual(changesIn('export function f() { return false; }'), ['false → true'])
  t.deepEqual(changesIn('const MAX_FILES = 4 * 1024;\nexport const WAIT_MS = 30;'), ['* → /'])
  t.deepEqual(changesIn('const VERSION = 4;\nif (a > MAX_FILES) f(5)').includes('5 → 6'), true)
  t.true(changesIn('const VERSION = 4').includes('4 → 5'))
})

test('a limit or batch size is not mutated by one, and an amount of money is', t => {
  t.false(changesIn('for (let i = 1; i < MAX_TRIES; i += 2) f()').includes('< → <='))
  t.true(changesIn('for (let i = 1; i < MAX_TRIES; i += 2) f()').includes('< → >='))
  t.true(changesIn('f(a <= WAIT_MS)').includes('<= → >'))
  t.false(changesIn('f(a <= WAIT_MS)').includes('<= → <'))
  t.true(changesIn('f(a <= limit)').includes('<= → <'))
  for (const room of ['kernel/wallet/spend', 'plugins/currency/utxo/wallet']) {
    const inMoney = findMutants(`dist/${room}/a.js`, 'const MAX_CHAIN = 25;\nf(a > MAX_CHAIN)')
    t.deepEqual(
      inMoney.map(({ change }) => change),
      ['25 → 26', 'f(a > MAX_CHAIN) → ;', '> → >=', '> → <=']
    )
  }
  t.deepEqual(changesIn('const SLICE = 128 * 1024;\nexport const GROUP = 64;\nconst DISK_GROUP = 8;'), [
    '* → /'
  ])
  t.true(changesIn('const GROUPED = 64;').includes('64 → 65'))
})

test('the order of two things that are never equal is broken where they differ', t => {
  t.deepEqual(changesIn('l.sort((a, b) => (a.key < b.key ? -1 : 1))').slice(1), [
    'a.key < b.key → true',
    'a.key < b.key → false',
    '< → >=',
    '-1 → (1)'
  ])
  t.true(changesIn('f(gain > 0n ? -1 : 1)').includes('> → >='))
  t.true(changesIn('f(a < b ? -1 : 2)').includes('< → <='))
})

test('a turn of the event loop between two pieces of work is left alone', t => {
  t.deepEqual(changesIn('await breathe();\nawait this.#place.clock.turn();'), [])
  t.deepEqual(changesIn('await settle();'), ['await settle(); → ;'])
})

test('a mutant holds the whole file with one change, and finds its line again', t => {
  const source = 'const a = 1\n  export const b = a + 2\n'
  const [, plus] = findMutants('dist/kernel/a.js', source)
  t.is(plus?.text, 'const a = 1\n  export const b = a - 2\n')
  t.is(plus?.row, 2)
  t.is(plus?.line, 'export const b = a + 2')
  t.is(plus?.start, source.indexOf('a + 2'))
})

test('a judged place whose file, line or change is gone is stale', t => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-mutants-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'dist'))
  writeFileSync(join(root, 'dist/a.js'), 'const a = 1\nf(a < 2)\n')
  const judged = { file: 'dist/a.js', line: 'f(a < 2)', change: '< → <=', reason: '' }
  const moved = { ...judged, file: 'dist/b.js' }
  const rewritten = { ...judged, line: 'f(a < 3)' }
  const unchanged = { ...judged, change: '< → <' }
  t.deepEqual(findStale(root, [judged, moved, rewritten, unchanged]), [moved, rewritten, unchanged])
})
