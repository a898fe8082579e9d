import { spawn } from 'node:child_process'
import { chmodSync, closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { openTestAgent, usesAgent } from '../helpers/agents.ts'
import { ended, environmentOf, homeFor, MAIN, type Ran, WITH_AGENT } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'

const PIN = '2468'

const homeOfAlice = async (t: ExecutionContext): Promise<string> => {
  const home = homeFor(t)
  const input = JSON.stringify({ password: 'correct horse battery staple', pin: PIN })
  const made = await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  t.is(made.code, 0, made.stderr)
  return home
}

/** Runs a process whose descriptor 3 is a pipe with a text, or an open file; none if left out. */
const runWith = (
  home: string,
  args: readonly string[],
  third?: string | number,
  env: Readonly<Record<string, string>> = {}
): Promise<Ran> => {
  const child = spawn(process.execPath, [MAIN, ...args, '--json'], {
    env: environmentOf(home, env),
    stdio: [
      'ignore',
      'pipe',
      'pipe',
      typeof third === 'number' ? third : third === undefined ? 'ignore' : 'pipe'
    ]
  })
  if (typeof third === 'string') {
    const pipe = child.stdio[3] as Readable & Writable
    // One that refuses the number, or the length, may be gone before everything is written.
    pipe.on('error', () => {})
    pipe.end(third)
  }
  return ended(child)
}

test('a command takes its secrets from a pipe or a private file that it inherits', async t => {
  const home = await homeOfAlice(t)
  const read = ['data', 'stores', '--secrets-fd', '3']
  t.is((await runWith(home, read, `{"pin":"${PIN}"}`)).code, 0)
  const wrong = await runWith(home, read, '{"pin":"9999"}')
  t.is(wrong.json.error.code, 'PASSWORD')
  t.notRegex(wrong.stdout + wrong.stderr, /9999/)
  const path = join(home, 'secrets.json')
  writeFileSync(path, `{"pin":"${PIN}"}\n`, { mode: 0o600 })
  const runOnFile = async (): Promise<Ran> => {
    const file = openSync(path, 'r')
    try {
      return await runWith(home, read, file)
    } finally {
      closeSync(file)
    }
  }
  t.is((await runOnFile()).code, 0)
  chmodSync(path, 0o644)
  t.is((await runOnFile()).json.error.message, 'The descriptor of --secrets-fd can be read by others')
})

test('a descriptor that brings no object is refused with the reason', async t => {
  const home = await homeOfAlice(t)
  const messageOf = async (args: readonly string[], third?: string): Promise<string> => {
    const { json, code } = await runWith(home, ['data', 'stores', ...args], third)
    t.is(code, json.error.exitCode)
    return json.error.message
  }
  t.is(
    await messageOf(['--secrets-fd', '2'], '{}'),
    'The descriptor of --secrets-fd must be a whole number from 3 to 1023'
  )
  t.is(await messageOf(['--secrets-fd', '900'], '{}'), 'The descriptor of --secrets-fd is not open')
  t.is(await messageOf(['--secrets-fd', '3']), 'The descriptor of --secrets-fd is no file, pipe or socket')
  t.is(
    await messageOf(['--secrets-fd', '3'], `{"pin":"${'1'.repeat(70_000)}"}`),
    'The descriptor of --secrets-fd is too large'
  )
  t.regex(
    await messageOf(['--secrets-fd', '3'], 'pin=1'),
    /^The descriptor of --secrets-fd must be one JSON object/
  )
})

test('no number makes a process wait for a pipe of its own', async t => {
  const terminal = new URL('../../cli/terminal/process-terminal.js', import.meta.url)
  const script = `
    const { readDescriptor } = (await import('${terminal}')).processTerminal()
    for (let number = 3; number < 64; number += 1)
      await readDescriptor(number, 100).then(() => console.log(number, 'read'), () => console.log('refused'))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' })
  t.teardown(() => child.kill('SIGKILL'))
  const { stdout, stderr } = await ended(child)
  t.deepEqual(
    stdout.trim().split('\n'),
    Array.from({ length: 61 }, () => 'refused'),
    stderr
  )
})

test('a command in an agent takes its secrets from a descriptor of its client', async t => {
  const home = await homeOfAlice(t)
  // In the agent's suite, the account was made in an agent, which still runs.
  const agent = usesAgent ? undefined : await openTestAgent({ home })
  t.teardown(() => agent?.close())
  const runInAgent = (args: readonly string[], third?: string): Promise<Ran> =>
    runWith(home, args, third, WITH_AGENT)
  const unlock = ['agent', 'unlock', '--secrets-fd', '3']
  const wrong = await runInAgent(unlock, '{"pin":"9999"}')
  t.is(wrong.json.error.code, 'PASSWORD')
  const closed = await runInAgent(['agent', 'unlock', '--secrets-fd', '900'])
  t.is(closed.json.error.message, 'The descriptor of --secrets-fd is not open')
  t.is((await runInAgent(unlock, `{"pin":"${PIN}"}`)).json.data.open, true)
  t.is((await runInAgent(['data', 'stores'])).code, 0, 'the account is open')
})
