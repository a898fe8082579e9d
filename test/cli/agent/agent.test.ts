import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { type AgentRecord, agentFolder, readRecord } from '../../../cli/agent/agent-files.ts'
import { type AgentServer, socketPath } from '../../../cli/agent/agent-server.ts'
import { runByAgent } from '../../../cli/agent/client.ts'
import { accountCommands, credentialCommands } from '../../../cli/commands/account-commands.ts'
import { deviceCommands } from '../../../cli/commands/device-commands.ts'
import { CliError } from '../../../cli/errors/cli-error.ts'
import { profilePaths } from '../../../cli/profile/paths.ts'
import { type ClientRun, runAsClient } from '../../helpers/agent-client.ts'
import { openTestAgent, TEST_VERSION, type TestAgentOptions } from '../../helpers/agents.ts'
import { homeFor, MAIN, type Ran, runHoldfast } from '../../helpers/command-line.ts'
import { waitFor } from '../../helpers/device.ts'

const PASSWORD = 'correct horse battery staple'

interface Stage {
  readonly home: string
  readonly agent: AgentServer
  readonly record: AgentRecord
  run(args: readonly string[], options?: ClientRun): Promise<Ran>
}

const open = async (t: ExecutionContext, options: Partial<TestAgentOptions> = {}): Promise<Stage> => {
  const home = options.home ?? homeFor(t)
  const agent = await openTestAgent({ home, ...options })
  t.teardown(() => agent.close())
  const record = readRecord(stateOf(home))
  if (record === undefined) throw new Error('The agent left no record')
  return { home, agent, record, run: (args, how) => runAsClient(home, args, how) }
}

const stateOf = (home: string): string => profilePaths('default', { HOLDFAST_HOME: home }).state

const secrets = (given: Readonly<Record<string, string>>): ClientRun => ({ input: JSON.stringify(given) })

const createAlice = async ({ run }: Stage): Promise<void> => {
  const made = await run(
    ['account', 'create', 'alice', '--secrets-stdin', '--json'],
    secrets({ password: PASSWORD, pin: '2468' })
  )
  if (made.code !== 0) throw new Error(made.stdout)
}

test('what a command logs in to stays open for the next one, until the agent is locked', async t => {
  const stage = await open(t)
  await createAlice(stage)
  t.is((await stage.run(['wallets', 'create', 'bitcoin', '--name', 'Savings'])).code, 0)
  const { data } = (await stage.run(['balance', '--json'])).json
  t.is(data.balances[0].name, 'Savings')
  t.deepEqual(
    (await stage.run(['agent', 'status', '--json'])).json.data.accounts.map(
      ({ username }: { username: string }) => username
    ),
    ['alice']
  )
  t.is((await stage.run(['agent', 'lock'])).code, 0)
  t.is((await stage.run(['balance', '--json'])).json.error.code, 'PROMPT_IMPOSSIBLE')
  t.is((await stage.run(['agent', 'unlock', '--secrets-stdin'], secrets({ pin: '2468' }))).code, 0)
  t.is((await stage.run(['balance'])).code, 0)
})

test('a secret that a flag gives is checked although the account is open, and opens it for one command only', async t => {
  const stage = await open(t)
  await createAlice(stage)
  const wrong = await stage.run(['balance', '--json', '--secrets-stdin'], secrets({ password: 'wrong' }))
  t.is(wrong.json.error.code, 'PASSWORD')
  t.is((await stage.run(['balance'])).code, 0, 'the failure has not closed the account')
  await stage.run(['agent', 'lock'])
  t.is((await stage.run(['balance', '--secrets-stdin'], secrets({ password: PASSWORD }))).code, 0)
  t.is((await stage.run(['balance', '--json'])).json.error.code, 'PROMPT_IMPOSSIBLE')
})

test('logout and forget close the account that the agent keeps', async t => {
  const stage = await open(t)
  await createAlice(stage)
  t.is((await stage.run(['logout'])).code, 0)
  t.deepEqual((await stage.run(['agent', 'status', '--json'])).json.data.accounts, [])
  await stage.run(['login', 'alice', '--secrets-stdin'], secrets({ pin: '2468' }))
  await stage.run(['account', 'create', '--light', '--secrets-stdin'], secrets({ pin: '1357' }))
  const forgotten = await stage.run(['account', 'forget', 'alice', '--yes'])
  t.is(forgotten.code, 0, forgotten.stderr)
})

test('without use for the idle time, and after a suspend, the agent drops its keys', async t => {
  const stage = await open(t, { idleMs: 900_000 })
  await createAlice(stage)
  const openCount = async (): Promise<number> =>
    (await stage.run(['agent', 'status', '--json'])).json.data.accounts.length
  t.is(await openCount(), 1)
  stage.agent.tick({ wall: Date.now() + 10_000, monotonic: performance.now() + 10_000 })
  t.is(await openCount(), 1, 'ten seconds are no idle time')
  stage.agent.tick({ wall: Date.now() + 15_000, monotonic: performance.now() + 1_000_000 })
  await waitFor(async () => (await openCount()) === 0)
  const clocks: Readonly<Record<string, number>> = { 'stands still': 0, 'goes on': 600_000 }
  for (const [what, gone] of Object.entries(clocks)) {
    await stage.run(['agent', 'unlock', '--secrets-stdin'], secrets({ pin: '2468' }))
    t.is(await openCount(), 1)
    stage.agent.tick()
    stage.agent.tick({ wall: Date.now() + 600_000, monotonic: performance.now() + gone })
    await waitFor(async () => (await openCount()) === 0)
    t.pass(`in a suspend, the monotonic clock ${what}`)
  }
})

test('twenty clients at once each get their own result', async t => {
  const stage = await open(t)
  await createAlice(stage)
  await stage.run(['wallets', 'create', 'bitcoin', '--name', 'Savings'])
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      stage.run(['wallets', 'create', 'bitcoin', '--name', `W${at}`, '--json'])
    )
  )
  t.deepEqual(
    results.map(({ code }) => code),
    results.map(() => 0)
  )
  const names = results.map(({ json }) => json.data.wallet.name)
  t.deepEqual(
    names,
    results.map((_, at) => `W${at}`)
  )
  t.is((await stage.run(['wallets', 'list', '--json'])).json.data.wallets.length, 21)
})

test('two devices of a profile live in one agent and see the same account', async t => {
  const stage = await open(t)
  await createAlice(stage)
  await stage.run(['wallets', 'create', 'bitcoin', '--name', 'Savings'])
  await stage.run(['sync'])
  const phone = await stage.run(
    ['login', 'alice', '--device', 'phone', '--with', 'password', '--secrets-stdin'],
    secrets({ password: PASSWORD })
  )
  t.is(phone.code, 0, phone.stderr)
  await stage.run(['sync', '--device', 'phone'])
  const { wallets } = (await stage.run(['wallets', 'list', '--device', 'phone', '--json'])).json.data
  t.deepEqual(
    wallets.map(({ name }: { name: string }) => name),
    ['Savings']
  )
})

test('a command that is stopped ends with its own code, and the agent goes on', async t => {
  const stage = await open(t)
  await createAlice(stage)
  const controller = new AbortController()
  const watching = stage.run(['balance', '--watch', '--json'], {
    signal: controller.signal,
    onOutput: () => controller.abort(new CliError('INTERRUPTED', 'Stopped'))
  })
  const ran = await watching
  t.is(ran.code, 0)
  t.regex(ran.stdout, /"event":"end","reason":"stopped"/)
  t.is((await stage.run(['balance'])).code, 0)
})

test('a stream ends after --timeout as it does after Ctrl-C', async t => {
  const stage = await open(t)
  await createAlice(stage)
  const ran = await stage.run(['balance', '--watch', '--json', '--timeout', '300ms'])
  t.is(ran.code, 0)
  t.regex(ran.stdout, /"event":"end","reason":"stopped"/)
})

test('a client that is killed stops its command, and leaves nothing behind', async t => {
  const stage = await open(t)
  await createAlice(stage)
  const { socket, token } = stage.record
  const client = connect(socket)
  // The agent closes at once, whatever is still on its way.
  client.on('error', () => {})
  const send = (frame: object): void => void client.write(`${JSON.stringify(frame)}\n`)
  send({ type: 'hello', token, version: TEST_VERSION })
  const plain = { isTerminal: false }
  const place = { cwd: '/', pid: 1, environment: { HOLDFAST_HOME: stage.home } }
  send({
    type: 'run',
    argv: ['balance', '--watch', '--json'],
    ...place,
    stdin: plain,
    stdout: plain,
    stderr: plain
  })
  await new Promise(resolve => client.once('data', resolve))
  t.is(stage.agent.status.commands, 1)
  client.destroy()
  await waitFor(() => stage.agent.status.commands === 0)
  t.is((await stage.run(['balance'])).code, 0)
})

const answerTo = (socket: string, text: string): Promise<string> =>
  new Promise(resolve => {
    const client = connect(socket, () => client.write(text))
    let answer = ''
    client.on('data', bytes => {
      answer += String(bytes)
    })
    // The agent closes at once, whatever is still on its way.
    client.on('error', () => {})
    client.on('close', () => resolve(answer))
  })

test('a client without the token, with an old one or with none, gets no answer', async t => {
  const { record } = await open(t)
  const hello = (token: unknown): string =>
    `${JSON.stringify({ type: 'hello', token, version: TEST_VERSION })}\n`
  const run = `${JSON.stringify({ type: 'run', argv: ['agent', 'status'] })}\n`
  for (const text of [
    hello('x'.repeat(record.token.length)) + run,
    hello('') + run,
    hello(null) + run,
    run,
    'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'POST /api HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}',
    'x'.repeat(5000),
    '[1]\n',
    '\n'
  ])
    t.is(await answerTo(record.socket, text), '', JSON.stringify(text.slice(0, 60)))
})

test('a trusted client that sends nonsense is disconnected', async t => {
  const { record, run } = await open(t)
  const hello = `${JSON.stringify({ type: 'hello', token: record.token, version: TEST_VERSION })}\n`
  for (const text of [
    '{"type":"run"}\n',
    '{"type":"run","argv":[1],"cwd":"/"}\n',
    'x'.repeat(1_100_000),
    '{\n'
  ])
    t.is(await answerTo(record.socket, hello + text), '{"type":"hello"}\n', text.slice(0, 30))
  t.is((await run(['agent', 'status'])).code, 0)
})

test('folder, record and socket belong to their owner alone', async t => {
  const { home, record } = await open(t)
  const folder = agentFolder(stateOf(home))
  t.is(statSync(folder).mode & 0o777, 0o700)
  t.is(statSync(join(folder, 'agent.json')).mode & 0o777, 0o600)
  t.is(statSync(record.socket).mode & 0o777, 0o600)
})

test('a folder that others can use, and a link, are refused by both sides', async t => {
  for (const spoil of ['open', 'link'] as const) {
    const home = homeFor(t)
    const folder = agentFolder(stateOf(home))
    if (spoil === 'open') mkdirSync(folder, { recursive: true, mode: 0o755 })
    else {
      mkdirSync(stateOf(home), { recursive: true })
      mkdirSync(join(home, 'elsewhere'), { mode: 0o700 })
      symlinkSync(join(home, 'elsewhere'), folder)
    }
    await t.throwsAsync(openTestAgent({ home }), { message: /can be used by others|is no folder/ })
    writeFileSync(
      join(folder, 'agent.json'),
      JSON.stringify({ pid: 1, socket: join(folder, 'socket'), token: 'x' })
    )
    await t.throwsAsync(runAsClient(home, ['agent', 'status']), { code: 'AGENT_REFUSED' })
  }
})

test('one agent a profile: a second one is refused, and what a killed one left is replaced', async t => {
  const first = await open(t)
  await t.throwsAsync(openTestAgent({ home: first.home }), { code: 'AGENT_RUNNING' })
  const home = homeFor(t)
  const folder = agentFolder(stateOf(home))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // As `kill -9` leaves them: a socket without a process, and the lock of a process that is gone.
  const stale = socketPath({ stateFolder: stateOf(home), environment: { HOLDFAST_HOME: home } })
  writeFileSync(stale, '')
  writeFileSync(join(folder, 'agent.json'), JSON.stringify({ pid: 999_999_999, socket: stale, token: 'old' }))
  const lock = {
    pid: 999_999_999,
    host: (await import('node:os')).hostname(),
    holder: 'holdfast agent',
    started: '',
    birth: ''
  }
  writeFileSync(join(folder, 'lock'), JSON.stringify(lock))
  await t.throwsAsync(runAsClient(home, ['agent', 'status']), { message: 'No agent took the command' })
  const healed = await open(t, { home })
  t.is((await healed.run(['agent', 'status'])).code, 0)
})

test('an agent of another version ends for a newer client, with all that it holds', async t => {
  const stage = await open(t)
  await createAlice(stage)
  await t.throwsAsync(stage.run(['balance'], { version: 'another' }), {
    message: 'No agent took the command'
  })
  await stage.agent.closed
  t.is(readRecord(stateOf(stage.home)), undefined)
  // Its locks are free.
  const next = await open(t, { home: stage.home, version: 'another' })
  t.is((await next.run(['account', 'list'], { version: 'another' })).code, 0)
})

test('a client is one file: alone in another folder, it runs commands in the agent', async t => {
  const home = homeFor(t)
  const main = join(home, 'copy', 'holdfast.js')
  mkdirSync(dirname(main))
  cpSync(MAIN, main)
  writeFileSync(join(home, 'copy', 'package.json'), JSON.stringify({ name: 'holdfast', version: 'copied' }))
  const stage = await open(t, { home, version: `copied ${Math.round(statSync(main).mtimeMs)}` })
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'agent', 'status', '--json'], {
    env: { HOLDFAST_HOME: home }
  })
  t.is(JSON.parse(stdout).data.pid, stage.agent.status.pid)
  await t.throwsAsync(promisify(execFile)(process.execPath, [main, '--no-agent', '--version']), {
    message: /run\.mjs/
  })
})

test('agent stop ends the agent after its answer', async t => {
  const stage = await open(t)
  const stopped = await stage.run(['agent', 'stop', '--json'])
  t.like(stopped.json.data, { running: false, pid: process.pid })
  await stage.agent.closed
  t.is(readRecord(stateOf(stage.home)), undefined)
})

test('paths are those of the client, and an output file is its own', async t => {
  const stage = await open(t)
  await createAlice(stage)
  const before = process.cwd()
  const folder = join(stage.home, 'work')
  mkdirSync(folder)
  writeFileSync(join(folder, 'pin.txt'), '2468\n', { mode: 0o600 })
  await stage.run(['agent', 'lock'])
  process.chdir(folder)
  try {
    t.is((await stage.run(['data', 'stores', '--pin-file', 'pin.txt'])).code, 0)
    await stage.run(['agent', 'unlock', '--pin-file', './pin.txt'])
    await stage.run(['data', 'set', 'notes', 'one', '--value-stdin'], { input: 'text' })
    const got = await stage.run(['data', 'get', 'notes', 'one', '-o', 'out.txt'])
    t.is(got.code, 0, got.stderr)
  } finally {
    process.chdir(before)
  }
  t.is(readFileSync(join(folder, 'out.txt'), 'utf8'), 'text')
  rmSync(join(folder, 'out.txt'))
})

test('offline holds for the command that says it, and for no other', async t => {
  const stage = await open(t)
  await createAlice(stage)
  await stage.run(['wallets', 'create', 'bitcoin', '--name', 'Savings'])
  const [offline, online] = await Promise.all([
    stage.run(['account', 'available', 'somebody', '--offline', '--json']),
    stage.run(['account', 'available', 'somebody', '--json'])
  ])
  t.is(offline.json.error.code, 'NETWORK')
  t.is(online.json.data.available, true)
  t.is((await stage.run(['balance', '--offline', '--json'])).json.warnings.length, 1)
  t.deepEqual((await stage.run(['balance', '--json'])).json.warnings, [])
})

test('the tour and another profile run in the process of the client', async t => {
  const { home, run } = await open(t)
  await t.throwsAsync(run(['demo']), { message: 'No agent took the command' })
  await t.throwsAsync(run(['balance', '--profile', 'other']), { message: 'No agent took the command' })
  await t.throwsAsync(runAsClient(home, ['agent', 'status', '--no-agent']), {
    message: 'No agent took the command'
  })
})

test('a socket path that is too long for the system is made among the temporary files', t => {
  const long = { stateFolder: join('/tmp', 'x'.repeat(120)), environment: {}, platform: 'linux' } as const
  t.true(Buffer.byteLength(socketPath(long)) <= 103)
  t.regex(
    socketPath({ ...long, environment: { XDG_RUNTIME_DIR: '/run/user/1000' } }),
    /^\/run\/user\/1000\/holdfast\/[0-9a-f]{16}\/socket$/
  )
  t.regex(socketPath({ ...long, platform: 'win32' }), /^\\\\\.\\pipe\\holdfast-[0-9a-f]{32}$/)
})

test('what a command writes to both streams arrives in its order', async t => {
  const stage = await open(t)
  await createAlice(stage)
  const order: string[] = []
  const streams = ['stdout', 'stderr'].map(name => {
    const stream = new PassThrough()
    stream.setEncoding('utf8').on('data', (text: string) => order.push(`${name} ${text}`))
    return Object.assign(stream, { isTTY: true, columns: 80, rows: 24 }) as unknown as NodeJS.WriteStream
  })
  const [stdout, stderr] = streams as [NodeJS.WriteStream, NodeJS.WriteStream]
  const terminal = {
    stdin: Readable.from([]) as unknown as NodeJS.ReadStream,
    stdout,
    stderr,
    environment: { HOLDFAST_HOME: stage.home }
  }
  const { signal } = new AbortController()
  await runByAgent({
    argv: ['wallets', 'create', 'bitcoin', '--name', 'Savings'],
    terminal,
    signal,
    version: TEST_VERSION
  })
  order.length = 0
  t.is(await runByAgent({ argv: ['balance'], terminal, signal, version: TEST_VERSION }), 0)
  const result = order.findIndex(line => line.startsWith('stdout') && line.includes('Savings'))
  t.true(
    order.slice(0, result).some(line => line.includes('syncing')),
    'the step comes first'
  )
  t.regex(order[result - 1] ?? '', /^stderr \r.\[K$/, 'then its line is cleared')
})

const payee = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

const fund = async (stage: Stage): Promise<void> => {
  await createAlice(stage)
  await stage.run(['wallets', 'create', 'bitcoin', '--name', 'Savings'])
  for (let coin = 0; coin < 3; coin += 1) await stage.run(['fake', 'chain', 'fund', 'Savings', '0.5 BTC'])
  await stage.run(['fake', 'chain', 'mine'])
  await stage.run(['balance'])
}

const pay = ({ run }: Stage, ...more: readonly string[]): Promise<Ran> =>
  run(['send', 'Savings', '--to', payee, '--amount', '0.2 BTC', '--yes', '--json', ...more])

test('the same payment by two commands at once is made once, and a third is refused as well', async t => {
  const stage = await open(t)
  await fund(stage)
  const both = await Promise.all([pay(stage), pay(stage)])
  t.deepEqual(both.map(({ code }) => code).sort(), [0, 5])
  const refused = both.find(({ code }) => code === 5)
  t.is(refused?.json.error.code, 'CONFIRMATION_REQUIRED')
  t.is((await pay(stage)).json.error.code, 'CONFIRMATION_REQUIRED')
  t.is((await stage.run(['tx', 'open', '--json'])).json.data.openPayments.length, 1)
})

test('nothing is paid with --offline, although the agent is connected', async t => {
  const stage = await open(t)
  await fund(stage)
  t.is((await pay(stage, '--offline')).json.error.code, 'USAGE')
  t.is((await stage.run(['tx', 'open', '--json'])).json.data.openPayments.length, 0)
})

test('three commands at once that want a new address get three', async t => {
  const stage = await open(t)
  await fund(stage)
  const shown = await Promise.all([1, 2, 3].map(() => stage.run(['address', 'new', 'Savings', '--json'])))
  t.is(new Set(shown.map(({ json }) => json.data.address)).size, 3)
})

/** Runs a command whose output goes into a stream of the test. */
const runInto = (
  home: string,
  argv: readonly string[],
  stdout: NodeJS.WritableStream
): Promise<number | undefined> =>
  runByAgent({
    argv,
    version: TEST_VERSION,
    signal: new AbortController().signal,
    terminal: {
      stdin: Readable.from([]) as unknown as NodeJS.ReadStream,
      stdout: stdout as NodeJS.WriteStream,
      stderr: new PassThrough().resume() as unknown as NodeJS.WriteStream,
      environment: { HOLDFAST_HOME: home }
    }
  })

const storeText = async (stage: Stage): Promise<string> => {
  await createAlice(stage)
  const text = 'a line of the text\n'.repeat(40_000)
  const set = await stage.run(['data', 'set', 'notes', 'long', '--value-stdin'], { input: text })
  if (set.code !== 0) throw new Error(set.stderr)
  return text
}

test('a slow reader gets the whole output and the exit code', async t => {
  const stage = await open(t)
  const text = await storeText(stage)
  const chunks: Buffer[] = []
  const slow = new Writable({
    highWaterMark: 1024,
    write(chunk: Buffer, _, done) {
      chunks.push(chunk)
      setTimeout(done, 20)
    }
  })
  t.is(await runInto(stage.home, ['data', 'get', 'notes', 'long'], slow), 0)
  t.is(Buffer.concat(chunks).toString().trimEnd(), text.trimEnd())
})

test('a reader that does not read keeps neither the agent nor its keys', async t => {
  const stage = await open(t)
  await storeText(stage)
  const stuck = new Writable({ highWaterMark: 1024, write() {} })
  // The client waits for its reader for ever, as it would without an agent.
  runInto(stage.home, ['data', 'get', 'notes', 'long'], stuck).catch(() => {})
  await waitFor(() => stage.agent.status.commands === 1)
  t.is((await stage.run(['agent', 'stop'])).code, 0)
  await stage.agent.closed
  t.is(readRecord(stateOf(stage.home)), undefined)
})

test('a lock during a login wins: the account is not kept', async t => {
  const stage = await open(t)
  await createAlice(stage)
  await stage.run(['agent', 'lock'])
  await stage.run(['fake', 'net', 'latency', '300ms'])
  const unlocking = stage.run(['agent', 'unlock', '--secrets-stdin'], secrets({ pin: '2468' }))
  await waitFor(() => stage.agent.status.commands === 1)
  await new Promise(resolve => setTimeout(resolve, 150))
  await stage.agent.lock()
  const unlocked = await unlocking
  t.regex(unlocked.stderr, /the agent was locked meanwhile/)
  t.regex(unlocked.stdout, /alice is not open in the agent/)
  t.deepEqual((await stage.run(['agent', 'status', '--json'])).json.data.accounts, [])
})

test('input after its end harms nobody', async t => {
  const stage = await open(t)
  const { socket, token } = stage.record
  const client = connect(socket)
  // The agent closes at once, whatever is still on its way.
  client.on('error', () => {})
  const send = (frame: object): void => void client.write(`${JSON.stringify(frame)}\n`)
  send({ type: 'hello', token, version: TEST_VERSION })
  const plain = { isTerminal: false }
  const place = { cwd: '/', pid: 1, environment: { HOLDFAST_HOME: stage.home } }
  send({
    type: 'run',
    argv: ['balance', '--secrets-stdin'],
    ...place,
    stdin: plain,
    stdout: plain,
    stderr: plain
  })
  send({ type: 'input-end' })
  send({ type: 'input', bytes: 'YWJj' })
  await new Promise(resolve => client.once('data', resolve))
  client.destroy()
  t.is((await stage.run(['agent', 'status'])).code, 0)
})

test('input that no command reads ends its client before it fills the memory of the agent', async t => {
  const stage = await open(t)
  const { socket, token } = stage.record
  const client = connect(socket)
  client.on('error', () => {})
  client.resume()
  const isOver = new Promise<void>(resolve => client.once('close', () => resolve()))
  const send = (frame: object): boolean => client.write(`${JSON.stringify(frame)}\n`)
  send({ type: 'hello', token, version: TEST_VERSION })
  const plain = { isTerminal: false }
  const place = { cwd: '/', pid: 1, environment: { HOLDFAST_HOME: stage.home } }
  send({ type: 'run', argv: ['sync', 'watch'], ...place, stdin: plain, stdout: plain, stderr: plain })
  const bytes = Buffer.alloc(500_000).toString('base64')
  for (let sent = 0; sent < 400 && !client.destroyed; sent += 1)
    if (!send({ type: 'input', bytes }))
      await Promise.race([isOver, new Promise(resolve => client.once('drain', resolve))])
  await isOver
  t.is((await stage.run(['agent', 'status'])).code, 0)
})

test('a link to the home is the same agent', async t => {
  const stage = await open(t)
  await createAlice(stage)
  const link = `${stage.home}-link`
  symlinkSync(stage.home, link)
  t.teardown(() => rmSync(link))
  const { data } = (await runAsClient(link, ['agent', 'status', '--json'])).json
  t.is(data.accounts.length, 1)
})

test('an agent that does not answer is reported with its process, and a stop ends the wait', async t => {
  const home = homeFor(t)
  const folder = agentFolder(stateOf(home))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const socket = join(folder, 'socket')
  // As a frozen process: it accepts, and says nothing.
  const frozen = createServer(() => {}).listen(socket)
  t.teardown(() => frozen.close())
  await once(frozen, 'listening')
  writeFileSync(join(folder, 'agent.json'), JSON.stringify({ pid: 12_345, socket, token: 'x' }))
  await t.throwsAsync(runAsClient(home, ['balance'], { answerMs: 50 }), {
    code: 'AGENT_REFUSED',
    message: /process 12345/
  })
  const controller = new AbortController()
  controller.abort(new CliError('INTERRUPTED', 'Stopped'))
  await t.throwsAsync(runAsClient(home, ['balance'], { signal: controller.signal, answerMs: 50 }), {
    code: 'INTERRUPTED',
    message: /what had begun may still be done/
  })
})

test('an agent that takes a connection while it is being killed is as none: the command runs without it', async t => {
  const home = homeFor(t)
  const folder = agentFolder(stateOf(home))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const socket = join(folder, 'socket')
  // It has read the command, or not, and answered nothing.
  const killed = createServer(client => {
    client.destroy()
    killed.close()
  }).listen(socket)
  await once(killed, 'listening')
  writeFileSync(join(folder, 'agent.json'), JSON.stringify({ pid: 12_345, socket, token: 'x' }))
  await t.throwsAsync(runAsClient(home, ['balance']), { message: 'No agent took the command' })
})

test('the error of an agent that is killed during a question or a step has a line of its own', async t => {
  for (const [said, expected] of [
    ['Sign and send it? [y/N] ', 'Sign and send it? [y/N] \n'],
    ['done\n', 'done\n']
  ] as const) {
    const home = homeFor(t)
    const folder = agentFolder(stateOf(home))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const socket = join(folder, 'socket')
    const output = { type: 'output', to: 'stderr', bytes: Buffer.from(said).toString('base64') }
    const lines = [{ type: 'hello' }, output].map(frame => `${JSON.stringify(frame)}\n`)
    const killed = createServer(client => client.end(lines.join(''))).listen(socket)
    t.teardown(() => killed.close())
    await once(killed, 'listening')
    writeFileSync(join(folder, 'agent.json'), JSON.stringify({ pid: 12_345, socket, token: 'x' }))
    let text = ''
    const onOutput = (more: string): void => {
      text += more
    }
    const run = runAsClient(home, ['send'], { stdin: new PassThrough(), isOnTerminal: true, onOutput })
    await t.throwsAsync(run, { code: 'AGENT_LOST' })
    t.is(text, expected)
  }
})

test('times are those of the client’s time zone', async t => {
  const stage = await open(t)
  await fund(stage)
  const dateIn = async (zone: string): Promise<string> => {
    const ran = await stage.run(['tx', 'list', 'Savings', '--limit', '1'], { environment: { TZ: zone } })
    return ran.stdout.split('\t')[0] ?? ''
  }
  const [tokyo, utc] = [await dateIn('Asia/Tokyo'), await dateIn('UTC')]
  t.regex(utc, /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$/)
  t.is(Date.parse(`${tokyo}Z`) - Date.parse(`${utc}Z`), 9 * 3_600_000)
  t.regex(
    await dateIn('EST5EDT,M3.2.0'),
    /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$/,
    'another form is left to the process'
  )
})

test('a secret is shown only after a login of its own, although the account is open', async t => {
  const stage = await open(t)
  await createAlice(stage)
  t.is((await stage.run(['account', 'key', '--reveal', '--json'])).json.error.code, 'PROMPT_IMPOSSIBLE')
  const shown = await stage.run(
    ['account', 'key', '--reveal', '--json', '--secrets-stdin'],
    secrets({ pin: '2468' })
  )
  t.is(typeof shown.json.data.loginKey, 'string')
  t.is((await stage.run(['balance'])).code, 0)
})

test('who can get in is changed only after a login of its own, although the account is open', async t => {
  const stage = await open(t)
  await createAlice(stage)
  const needing: string[] = []
  for (const { name, needsNewLogin } of [...accountCommands, ...credentialCommands, ...deviceCommands]) {
    if (needsNewLogin !== true) continue
    needing.push(name)
    const args = [...name.split(' '), ...(/username|approve/.test(name) ? ['new-name'] : [])]
    const { json } = await stage.run([...args, '--yes', '--json'])
    t.is(json.error.code, 'PROMPT_IMPOSSIBLE', name)
    t.regex(json.error.message, /PIN/, `${name} asks for what opens the account`)
  }
  t.true(needing.includes('account pin set') && needing.includes('lobby approve'))
  const wrong = secrets({ pin: '1111', 'new-pin': '3333' })
  const changePin = ['account', 'pin', 'set', '--json', '--secrets-stdin']
  t.is((await stage.run(changePin, wrong)).json.error.code, 'PASSWORD')
  const right = secrets({ pin: '2468', 'new-pin': '3333' })
  t.is((await stage.run(changePin, right)).code, 0)
  t.is((await stage.run(['balance'])).code, 0)
})

test('a light account without a PIN has no secret to ask for, and can be given one', async t => {
  const stage = await open(t)
  const made = ['account', 'create', '--light', '--secrets-stdin']
  t.is((await stage.run(made, secrets({ pin: '2468' }))).code, 0)
  const removed = ['account', 'pin', 'remove', '--yes', '--json', '--secrets-stdin']
  t.is((await stage.run(removed, secrets({ pin: '2468' }))).code, 0)
  const named = await stage.run(
    ['account', 'username', 'set', 'alice', '--json', '--secrets-stdin'],
    secrets({ 'new-password': 'correct horse battery staple' })
  )
  t.is(named.code, 0, named.stdout)
})

test('a command with a store of its own says that the agent has the fake world open, and runs once that is served', async t => {
  const stage = await open(t)
  await createAlice(stage)
  const { home } = stage
  const list = (...flags: readonly string[]): Promise<Ran> =>
    runHoldfast(['account', 'list', '--json', ...flags], { home })
  const store = ['--store', pathToFileURL(join(home, 'elsewhere')).href]
  const nextOf = ({ error }: Ran['json']): readonly string[] =>
    error.next.map(({ command }: { readonly command: string }) => command)
  const beside = (await list(...store)).json
  t.like(beside.error, {
    code: 'AGENT_RUNNING',
    message: 'The agent of the profile default has its fake world open'
  })
  t.deepEqual(nextOf(beside), ['holdfast agent stop', 'holdfast fake start'])
  t.deepEqual(nextOf((await list('--no-agent')).json), ['holdfast agent stop'])

  const stop = new AbortController()
  let served: Promise<Ran> | undefined
  await new Promise<void>(resolve => {
    served = stage.run(['fake', 'start', '--json'], { signal: stop.signal, onOutput: () => resolve() })
  })
  const ran = await list(...store)
  t.is(ran.code, 0, ran.stdout)
  t.deepEqual(ran.json.data.accounts, [])
  stop.abort()
  await served
  t.is((await stage.run(['agent', 'status', '--json'])).json.data.accounts.length, 1)
})
