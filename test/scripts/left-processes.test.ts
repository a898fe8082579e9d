import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { leftProcesses, testProcessesOf } from '../../scripts/left-processes.ts'

const script = fileURLToPath(new URL('../scripts/no-such-file.js', import.meta.url))

test('a process that a test leaves behind is found, one of a user is not, and neither is one that ends', async t => {
  if (process.platform !== 'linux') {
    t.log('skipped: other systems list no processes')
    t.pass()
    return
  }
  const start = async (home: string): Promise<ReturnType<typeof spawn>> => {
    const child = spawn(process.execPath, ['-e', WAIT, script], {
      env: { HOLDFAST_HOME: home },
      stdio: ['ignore', 'pipe', 'ignore']
    })
    t.teardown(() => child.kill('SIGKILL'))
    await once(child.stdout ?? child, 'data')
    return child
  }
  const folder = dirname(script)
  const before = testProcessesOf(folder)
  const [left] = [await start(join(tmpdir(), 'holdfast-left')), await start('/home/alice')]
  const found = await leftProcesses(folder, before)
  t.deepEqual(
    found.map(({ pid }) => pid),
    [left.pid]
  )
  t.regex(found[0]?.command ?? '', /no-such-file\.js/)
  left.kill('SIGKILL')
  t.deepEqual(await leftProcesses(folder, before), [])
})

const WAIT = "console.log('ready'); setInterval(() => {}, 60_000)"
