import test from 'ava'
import { groupTests, shareOf } from '../../scripts/test-groups.ts'

test('small test files of one folder share a process, not more than twelve', t => {
  const files = Array.from({ length: 13 }, (_, at) => `kernel/a${at}.test.js`)
  const groups = groupTests(new Map([...files, 'cli/b.test.js'].map(file => [file, "test('it', t => {})"])))
  t.deepEqual([...groups.keys()].sort(), ['cli/all', 'kernel/all-1', 'kernel/all-2'])
  t.deepEqual(
    [...(groups.get('kernel/all-1') ?? []), ...(groups.get('kernel/all-2') ?? [])].sort(),
    files.toSorted()
  )
  t.deepEqual(groups.get('cli/all'), ['cli/b.test.js'])
})

test('a test file with process-wide state has its own process', t => {
  for (const text of [
    'process.env.NO_COLOR = "1"',
    "import { spawn } from 'node:child_process'",
    "import { openPanel } from '../helpers/served-devtools.js'",
    'const start = performance.now()'
  ]) {
    const groups = groupTests(
      new Map([
        ['a/b.test.js', text],
        ['a/c.test.js', '']
      ])
    )
    t.deepEqual(
      [...groups],
      [
        ['a/b', ['a/b.test.js']],
        ['a/all', ['a/c.test.js']]
      ]
    )
  }
})

test('a share of the tests is written as its place and the number of shares', t => {
  t.deepEqual(shareOf('1/2'), { from: 1, of: 2 })
  t.deepEqual(shareOf(), { from: 0, of: 1 })
  for (const text of ['', '2/2', '1', '0/0', '-1/2', 'a/b'])
    t.throws(() => shareOf(text), { message: /not a share/ }, text)
})
