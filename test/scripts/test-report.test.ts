import test from 'ava'
import { summaryOf, testReportOf } from '../../scripts/test-report.ts'

const output = `
  - [skip] store › redis keeps a value
  - [todo] swaps › a quote expires
  ✔ store › memory keeps a value (1.2s)
  ✔ interop › logs in to the other wallet (310ms)
    ℹ skipped: the registry is out of reach
  ✔ [expected fail] swaps › a known fault
  ✘ [fail]: store › loses nothing

  ─

  1 test failed
  1 known failure
  1 test skipped
  1 test todo
`

test('a skipped test is listed with its reason and does not count as passed', t => {
  const report = testReportOf(output, 1)
  t.deepEqual(report, {
    passed: 1,
    failed: 1,
    skipped: [
      { title: 'store › redis keeps a value', reason: 'marked so in its source' },
      { title: 'interop › logs in to the other wallet', reason: 'the registry is out of reach' }
    ],
    pending: ['swaps › a quote expires', 'swaps › a known fault']
  })
  const { lines, failed } = summaryOf(report, false)
  t.is(lines.at(-1), '1 passed, 1 failed, 2 skipped, 2 pending')
  t.true(lines.includes('  interop › logs in to the other wallet: the registry is out of reach'))
  t.is(failed, 1)
})

test('a CI machine counts a skipped test as failed', t => {
  const { lines, failed } = summaryOf(testReportOf(output, 1), true)
  t.is(lines.at(-1), '1 passed, 3 failed, 2 pending')
  t.is(failed, 3)
})

test('a run that fails without a failed test, or runs nothing, counts as one failure', t => {
  t.is(testReportOf('\n  3 tests passed\n\n  1 uncaught exception\n', 1).failed, 1)
  t.is(testReportOf('  ✘ Couldn’t find any files to test', 1).failed, 1)
  t.is(testReportOf('', 0).failed, 1)
  t.is(testReportOf('\n  3 tests passed\n', 0).failed, 0)
})

test('colours do not hide the counts', t => {
  t.is(testReportOf('\n  \u001B[32m3 tests passed\u001B[39m\n', 0).passed, 3)
})
