import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import { parseRange, parseRate } from '../../cli/commands/fake/control-world.ts'
import { CliError } from '../../cli/errors/cli-error.ts'
import { leaveOut, usesAgent } from '../helpers/agents.ts'
import { type Envelope, homeFor, type Ran } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { readVectorFile } from '../vectors/vector.ts'

const DAY = 86_400_000
const [marble, kestrel] = readVectorFile('world').vectors.map(({ inputs }) => inputs)

const STOP = new CliError('INTERRUPTED', 'Stopped')

const dataOf = (t: ExecutionContext, ran: Ran, schema: string): Envelope['data'] =>
  succeeded(t, ran, schema).data

interface Runner {
  readonly home: string
  run(...args: readonly string[]): Promise<Ran>
  runAs(secrets: object, ...args: readonly string[]): Promise<Ran>
  /** Starts a command that runs until `stop`, and waits until it has said something that fits. */
  start(said: RegExp, ...args: readonly string[]): Promise<{ stop(): Promise<Ran> }>
}

/** Runs commands in a home of their own. */
const makeRunner = (t: ExecutionContext): Runner => {
  const home = homeFor(t)
  return {
    home,
    run: (...args) => runInProcess([...args, '--json'], { home }),
    runAs: (secrets, ...args) =>
      runInProcess([...args, '--json', '--secrets-stdin'], { home, input: JSON.stringify(secrets) }),
    async start(said, ...args) {
      const controller = new AbortController()
      let text = ''
      let receive = (): void => {}
      const received = new Promise<void>(resolve => {
        receive = () => (said.test(text) ? resolve() : undefined)
      })
      const onOutput = (more: string): void => {
        text += more
        receive()
      }
      const ran = runInProcess([...args, '--json'], { home, signal: controller.signal, onOutput })
      await Promise.race([received, ran.then(({ stdout }) => t.regex(stdout, said))])
      const stop = (): Promise<Ran> => {
        controller.abort(STOP)
        return ran
      }
      t.teardown(stop)
      return { stop }
    }
  }
}

test('a latency is a time or a range, a rate a share or a percentage', t => {
  t.deepEqual(parseRange('200ms'), { from: 200, to: 200 })
  t.deepEqual(parseRange('50-200ms'), { from: 50, to: 200 })
  t.deepEqual(parseRange('500ms-2s'), { from: 500, to: 2000 })
  t.deepEqual(parseRange('0'), { from: 0, to: 0 })
  t.deepEqual(parseRange('1s-2'), { from: 1000, to: 2000 })
  for (const text of ['', '5', 'x', '-5ms', '200-50ms', '6m', '1ms-', '1.5s']) {
    t.throws(() => parseRange(text), { code: 'USAGE' }, text)
  }
  t.deepEqual(['0', '0.25', '1', '20%', '100%', '0%'].map(parseRate), [0, 0.25, 1, 0.2, 1, 0])
  for (const text of ['', '2', '101%', '-1', '0.x', '%', '1e3']) {
    t.throws(() => parseRate(text), { code: 'USAGE' }, text)
  }
})

test('the network and clock settings of a world persist between commands', async t => {
  const { run, runAs } = makeRunner(t)
  const offline = dataOf(t, await run('fake', 'net', 'offline'), 'fake.net.offline/1')
  t.deepEqual(offline, { online: false, latencyMs: { from: 0, to: 0 }, failRate: 0 })
  failed(t, await runAs({ pin: '1234' }, 'account', 'create', '--light'), 'NETWORK', 20)
  dataOf(t, await run('fake', 'net', 'online'), 'fake.net.online/1')
  const slow = dataOf(t, await run('fake', 'net', 'latency', '10-20ms'), 'fake.net.latency/1')
  t.deepEqual(slow, { online: true, latencyMs: { from: 10, to: 20 }, failRate: 0 })
  const made = await runAs({ pin: '1234' }, 'account', 'create', '--light')
  t.is(made.code, 0, made.stderr)
  const lossy = dataOf(t, await run('fake', 'net', 'fail', '100%'), 'fake.net.fail/1')
  t.deepEqual([lossy.failRate, lossy.latencyMs.to], [1, 20])
  failed(t, await runAs({ pin: '1234' }, 'account', 'create', '--light'), 'NETWORK', 20)
  const set = dataOf(t, await run('fake', 'clock', 'set', '2050-01-05'), 'fake.clock.set/1')
  t.regex(set.now, /^2050-01-05T00:00/)
  failed(t, await run('fake', 'clock', 'set', '2040-01-05'), 'USAGE', 2)
  failed(t, await run('fake', 'clock', 'advance', 'soon'), 'USAGE', 2)
  t.regex(dataOf(t, await run('fake', 'clock', 'show'), 'fake.clock.show/1').now, /^2050-01-05T00:0/)
})

test('a served world accepts clock and network changes, and loads and dumps users', async t => {
  const { home, run, runAs, start } = makeRunner(t)
  const served = await start(/\n/, 'fake', 'start')
  const later = dataOf(t, await run('fake', 'clock', 'advance', '7d'), 'fake.clock.advance/1')
  t.true(Math.abs(Date.parse(later.now) - Date.now() - 7 * DAY) < 60_000)
  t.true(Math.abs(later.aheadSeconds - 7 * 86_400) < 60)
  const slow = dataOf(t, await run('fake', 'net', 'latency', '5ms'), 'fake.net.latency/1')
  t.deepEqual(slow.latencyMs, { from: 5, to: 5 })

  // Its codes are those of the time there.
  const other = join(home, 'marble.json')
  writeFileSync(other, JSON.stringify(marble.fakeUser))
  dataOf(t, await run('fake', 'user', 'load', other), 'fake.user.load/1')
  const { password: secret, otpKey_base32 } = marble.credentials
  const logged = await runAs({ password: secret, 'otp-key': otpKey_base32 }, 'login', 'marble heron')
  t.is(logged.code, 0, logged.stderr)

  const path = join(home, 'kestrel.json')
  writeFileSync(path, JSON.stringify(kestrel.fakeUser))
  dataOf(t, await run('fake', 'user', 'load', path), 'fake.user.load/1')
  failed(t, await run('fake', 'user', 'load', path), 'ACCOUNT_EXISTS', 12)
  const out = join(home, 'dumped.json')
  const { username, password } = kestrel.credentials
  const dumped = await runAs({ password }, 'fake', 'user', 'dump', username, '-o', out, '--reveal')
  t.like(dataOf(t, dumped, 'fake.user.dump/1'), { username, file: out })
  t.is(JSON.parse(readFileSync(out, 'utf8')).loginKey, kestrel.fakeUser.loginKey)
  t.is((await served.stop()).code, 0)
})

test('a user is loaded, logs in, and is dumped as it was, into a private file', async t => {
  const { home, run, runAs } = makeRunner(t)
  const path = join(home, 'marble.json')
  writeFileSync(path, JSON.stringify(marble.fakeUser))
  t.deepEqual(dataOf(t, await run('fake', 'user', 'list'), 'fake.user.list/1'), { users: [] })
  const loaded = dataOf(t, await run('fake', 'user', 'load', path), 'fake.user.load/1')
  t.deepEqual(loaded, { loginId: marble.credentials.loginId_base58, username: 'marble heron' })
  const { users } = dataOf(t, await run('fake', 'user', 'ls'), 'fake.user.list/1')
  t.deepEqual(users, [
    {
      loginId: loaded.loginId,
      created: '2024-02-03T04:05:06.000Z',
      lastLogin: '2024-05-06T07:08:09.000Z',
      logins: 2,
      hasName: true,
      hasTwoFactor: true
    }
  ])

  const { username, password, otpKey_base32 } = marble.credentials
  const logged = await runAs({ password, 'otp-key': otpKey_base32 }, 'login', username)
  t.is(logged.code, 0, logged.stderr)
  const out = join(home, 'dumped.json')
  const dump = ['fake', 'user', 'dump', username, '-o', out]
  failed(t, await runAs({ password }, ...dump), 'CONFIRMATION_REQUIRED', 5)
  failed(t, await runAs({ password }, ...dump, '--yes', '--confirm', 'somebody'), 'DECLINED', 5)
  const dumped = await runAs({ password }, ...dump, '--yes', '--confirm', username)
  const reported = dataOf(t, dumped, 'fake.user.dump/1')
  t.like(reported, { loginId: loaded.loginId, username, file: out, repos: 3 })
  t.is(statSync(out).mode & 0o777, 0o600)
  const { lastLogin, ...user } = JSON.parse(readFileSync(out, 'utf8'))
  t.true(lastLogin > marble.fakeUser.lastLogin)
  t.like(user, { username, loginKey: marble.fakeUser.loginKey, server: marble.fakeUser.server })
  t.false(dumped.stdout.includes(user.loginKey))
  // A file that is there is never overwritten.
  failed(t, await runAs({ password }, ...dump, '--reveal'), 'USAGE', 2)
  failed(t, await runAs({ password }, 'fake', 'user', 'dump', username, '--reveal'), 'USAGE', 2)
})

test('a file that is no user is refused with what is wrong, and one that is missing is named', async t => {
  const { home, run } = makeRunner(t)
  const path = join(home, 'bad.json')
  failed(t, await run('fake', 'user', 'load', path), 'NOT_FOUND', 6)
  for (const text of ['{', '[]', JSON.stringify({ ...marble.fakeUser, loginKey: 5 })]) {
    writeFileSync(path, text)
    const { code, json } = await run('fake', 'user', 'load', path)
    t.is(json.error.code, 'CORRUPT_FILE', text.slice(0, 20))
    t.is(json.error.details.path, path)
    t.true((code ?? 0) > 0)
  }
})

test('fake requests lists the requests to a served world by path and status, and follows them until stopped', async t => {
  const { run, runAs, start } = makeRunner(t)
  const served = await start(/\n/, 'fake', 'start')
  const made = await runAs({ pin: '1234' }, 'account', 'create', '--light')
  t.is(made.code, 0, made.stderr)
  const { requests } = dataOf(t, await run('fake', 'requests'), 'fake.requests/1')
  t.like(requests[0], { sequence: 1, method: 'POST', path: '/api/v2/login/create', status: 201 })
  t.true(Date.parse(requests[0].at) > 0 && requests[0].durationMs >= 0)
  const filtered = await run('fake', 'requests', '--path', '/create', '--status', '201')
  t.is(dataOf(t, filtered, 'fake.requests/1').requests.length, 1)
  t.deepEqual(dataOf(t, await run('fake', 'requests', '--status', '599'), 'fake.requests/1'), {
    requests: []
  })

  const following = await start(/"seq":2/, 'fake', 'requests', '--follow', '--path', '/login')
  await runAs({ pin: '1234' }, 'account', 'create', '--light')
  const { code, stdout } = await following.stop()
  t.is(code, 0)
  const events = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  t.like(events[0], { event: 'request', seq: 1, data: { path: '/api/v2/login/create' } })
  t.deepEqual(events.at(-1), { event: 'end', reason: 'stopped' })
  t.true(events.every(({ event, data }) => event === 'end' || data.path.includes('/login')))
  await served.stop()
})

const alone = usesAgent ? leaveOut : test

alone(
  'a world that lives only as long as a command has no requests to show, and nothing to follow',
  async t => {
    const { run } = makeRunner(t)
    const { code, json } = await run('fake', 'requests')
    t.is(code, 0)
    t.deepEqual(json.data, { requests: [] })
    t.is(json.warnings.length, 1)
    failed(t, await run('fake', 'requests', '--follow'), 'WORLD_NOT_SHARED', 4)
  }
)
