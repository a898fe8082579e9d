import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { isAlive } from '../../plugins/storage/file/file-lock.ts'
import { waitFor } from '../helpers/device.ts'

const SCRIPT = fileURLToPath(new URL('../../scripts/run-tests.js', import.meta.url))
const MODULES = join(process.cwd(), 'node_modules')

test('a run whose test hangs, under a long limit of its own and deaf to signals, is ended, and names it', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'run-tests-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'dist'))
  symlinkSync(MODULES, join(folder, 'node_modules'))
  const config = "export default { files: ['dist/*.test.js'], timeout: '60s', workerThreads: false }\n"
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'ava.config.js'), config)
  writeFileSync(
    join(folder, 'dist/hangs.test.js'),
    `import { writeFileSync } from 'node:fs'
import test from 'ava'
writeFileSync('pid', String(process.pid))
process.on('SIGTERM', () => {})
test('this one ends', t => t.pass())
test('this one does not', async t => {
  t.timeout(3_600_000)
  await new Promise(resolve => setTimeout(resolve, 500))
  for (;;);
})
`
  )
  const { AVA_PATH: _, ...others } = process.env
  const run = (silence: number): Promise<{ stdout: string; code: unknown }> =>
    new Promise(resolve => {
      const env = { ...others, NO_COLOR: '1', HOLDFAST_TEST_SILENCE: `${silence}` }
      const args = [SCRIPT, 'unit', 'dist/hangs.test.js']
      execFile(process.execPath, args, { cwd: folder, env }, (error, stdout) =>
        resolve({ stdout, code: error?.code ?? 0 })
      )
    })
  let silence = 4
  let ran = await run(silence)
  // On a busy machine ava may need longer than that to begin.
  for (; !ran.stdout.includes('this one ends') && silence < 200; ran = await run(silence)) silence *= 4
  const { stdout, code } = ran
  t.is(code, 1)
  t.regex(stdout, /this one ends/)
  t.true(stdout.includes(`Nothing was printed for ${silence} s.`))
  t.regex(stdout, /1 tests? were pending in .*hangs\.test\.js\n+.*this one does not/)
  t.regex(stdout, /\n1 passed, 1 failed\n$/)
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  await waitFor(() => !isAlive(pid))
})
