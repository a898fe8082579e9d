import test from 'ava'
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

test('a mutant holds the whole file with one change, and finds its line again', t => {
  const source = 'const a = 1\n  export const b = a + 2\n'
  const [, plus] = findMutants('dist/kernel/a.js', source)
  t.is(plus?.text, 'const a = 1\n  export const b = a - 2\n')
  t.is(plus?.row, 2)
  t.is(plus?.line, 'export const b = a + 2')
  t.is(plus?.start, source.indexOf('a + 2'))
})
