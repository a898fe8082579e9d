import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'

/** Runs `.ci/run` where npm is a script that prints the given lines and ends with the given codes. */
const ciWith = (
  t: ExecutionContext,
  suites: Readonly<
    Record<
      | 'test'
      | 'check'
      | 'test:node-versions'
      | 'test:agent'
      | 'test:browser'
      | 'test:proofs'
      | 'test:author'
      | 'test:nodes'
      | 'test:interop',
      readonly [string, number]
    >
  >
): { status: number | null; last: string; output: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-ci-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, '.ci'))
  cpSync('.ci/run', join(folder, '.ci/run'))
  const cases = Object.entries(suites).map(
    ([name, [text, code]]) => `${name}) printf '%s\\n' '${text}'; exit ${code};;`
  )
  const npm = `#!/bin/sh\n[ "$HOLDFAST_CI" = 1 ] || exit 9\n[ "$1" = run ] && shift\ncase "$1" in\n${cases.join('\n')}\nesac\n`
  writeFileSync(join(folder, 'npm'), npm, { mode: 0o755 })
  // A test installs nothing.
  writeFileSync(join(folder, 'apt-get'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const { status, stdout } = spawnSync('bash', ['.ci/run'], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: `${folder}:${process.env.PATH}` }
  })
  return { status, output: stdout, last: stdout.trimEnd().split('\n').at(-1) ?? '' }
}

test('CI sums the counts of its suites and ends with them', t => {
  const { status, last } = ciWith(t, {
    test: ['a test\n5 passed, 0 failed, 2 skipped', 0],
    check: ['9 passed, 0 failed', 0],
    'test:node-versions': ['6 passed, 0 failed', 0],
    'test:agent': ['0 passed, 0 failed', 0],
    'test:browser': ['4 passed, 0 failed', 0],
    'test:proofs': ['3 passed, 0 failed', 0],
    'test:author': ['0 passed, 0 failed', 0],
    'test:nodes': ['0 passed, 0 failed', 0],
    'test:interop': ['2 passed, 0 failed', 0]
  })
  t.is(last, '29 passed, 0 failed')
  t.is(status, 0)
})

/** As ava 6 prints it: a line for each test, what failed between two rules, then the summary. */
const AVA_OUTPUT = `  ✔ one without an unhandled rejection
  ✘ [fail]: two
  ─

  two

  Difference: 3

  ─

  1 test failed

1 passed, 1 failed`

test('CI repeats the failures at its end, with the output of their suite', t => {
  const { output } = ciWith(t, {
    test: [AVA_OUTPUT, 1],
    check: ['✔ links\n✘ layers\n    a problem\n✔ types\n\n8 passed, 1 failed', 1],
    'test:node-versions': ['6 passed, 0 failed', 0],
    'test:agent': ['0 passed, 0 failed', 0],
    'test:browser': ['4 passed, 0 failed', 0],
    'test:proofs': ['3 passed, 0 failed', 0],
    'test:author': ['0 passed, 0 failed', 0],
    'test:nodes': ['0 passed, 0 failed', 0],
    'test:interop': ['2 passed, 0 failed', 0]
  })
  const end = output.slice(output.indexOf('What failed:'))
  t.is(
    end.replace(/\n+/g, '\n'),
    'What failed:\n== npm test: ended with 1\n  ─\n  two\n  Difference: 3\n  ─\n  1 test failed\n  ✘ [fail]: two\n== npm run check: ended with 1\n✘ layers\n    a problem\n24 passed, 2 failed\n'
  )
})

test('CI fails when anything failed', t => {
  const { status, last } = ciWith(t, {
    test: ['5 passed, 2 failed', 1],
    check: ['8 passed, 1 failed', 1],
    'test:node-versions': ['6 passed, 0 failed', 0],
    'test:agent': ['0 passed, 0 failed', 0],
    'test:browser': ['4 passed, 0 failed', 0],
    'test:proofs': ['3 passed, 0 failed', 0],
    'test:author': ['0 passed, 0 failed', 0],
    'test:nodes': ['0 passed, 0 failed', 0],
    'test:interop': ['2 passed, 0 failed', 0]
  })
  t.is(last, '28 passed, 3 failed')
  t.is(status, 1)
})

test('a suite without a count, or that ends badly without a failure, counts as failed', t => {
  const { status, last, output } = ciWith(t, {
    test: ['it broke', 1],
    check: ['9 passed, 0 failed', 4],
    'test:node-versions': ['6 passed, 0 failed', 0],
    'test:agent': ['0 passed, 0 failed', 0],
    'test:browser': ['4 passed, 0 failed', 0],
    'test:proofs': ['3 passed, 0 failed', 0],
    'test:author': ['0 passed, 0 failed', 0],
    'test:nodes': ['0 passed, 0 failed', 0],
    'test:interop': ['', 0]
  })
  t.is(last, '22 passed, 3 failed')
  t.is(status, 1)
  t.regex(output, /npm test printed no count/)
  t.regex(output, /npm run check ended with 4/)
})
