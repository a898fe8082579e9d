import test from 'ava'
import { groupTests } from '../../scripts/test-groups.ts'

test('small test files of one folder share a process, not more than eight', t => {
  const files = Array.from({ length: 9 }, (_, at) => `kernel/a${at}.test.js`)
  const groups = groupTests(new Map([...files, 'cli/b.test.js'].map(file => [file, "test('it', t => {})"])))
  t.deepEqual([...groups.keys()].sort(), ['cli/all', 'kernel/all-1', 'kernel/all-2'])
  t.deepEqual([...(groups.get('kernel/all-1') ?? []), ...(groups.get('kernel/all-2') ?? [])].sort(), files)
  t.deepEqual(groups.get('cli/all'), ['cli/b.test.js'])
})

test('a test file with hooks, an order, or anything that a process has once has a process of its own', t => {
  for (const text of [
    'test.serial("it", t => {})',
    'test.after.always(remove)',
    'process.env.NO_COLOR = "1"',
    "import { spawn } from 'node:child_process'",
    "import { runInProcess } from '../helpers/in-process.js'",
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
