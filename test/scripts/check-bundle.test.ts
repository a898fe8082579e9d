import test from 'ava'
import { checkBundles } from '../../scripts/check-bundle.ts'

const budgets = [{ files: ['a.js', 'a.css'], limit: 1000 }]

test('a page within its budget passes, one byte more does not, and a page that was not built is named', t => {
  const check = (sizes: Readonly<Record<string, number>>): readonly string[] =>
    checkBundles(budgets, path => sizes[path])
  t.deepEqual(check({ 'a.js': 900, 'a.css': 100 }), [])
  t.deepEqual(check({ 'a.js': 900, 'a.css': 101 }), ['a.js and a.css: 1001 bytes with gzip, 1 too many'])
  t.deepEqual(check({ 'a.js': 900 }), ['a.css does not exist; run npm run build'])
})
