import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { agentFolder, readRecord } from '../../../cli/agent/agent-files.ts'
import { profilePaths } from '../../../cli/profile/paths.ts'
import { testProcessesOf } from '../../../scripts/left-processes.ts'
import { runAsClient } from '../../helpers/agent-client.ts'
import { openTestAgent, type TestAgentOptions } from '../../helpers/agents.ts'
import {
  ended,
  environmentOf,
  homeFor,
  MAIN,
  type Ran,
  runHoldfast,
  startHoldfast,
  stopAgent
} from '../../helpers/command-line.ts'
import { waitFor } from '../../helpers/device.ts'
import { onTerminal, runOnTerminal } from '../../helpers/on-terminal.ts'

const PIN = '246813'
const SECRETS = JSON.stringify({ pin: PIN })
/** As a user's environment: commands may start an agent. */
const MAY_START = { HOLDFAST_NO_AGENT: '', CI: '' }
const ALONE = { HOLDFAST_NO_AGENT: '1' }
const EMITTED = dirname(dirname(MAIN))
const onLinux = process.platform === 'linux' ? test : test.skip
const READ = ['wallets', 'list', '--json']

interface Stage {
  readonly home: string
  /** Runs a command as a user does, in a process of its own. */
  run(args: readonly string[], how?: { input?: string; env?: Readonly<Record<string, string>> }): Promise<Ran>
  /** The process of the agent; undefined if none runs. */
  agent(): number | undefined
}

/** A home with a light account and a wallet, made without an agent. */
const openStage = async (t: ExecutionContext): Promise<Stage> => {
  const home = homeFor(t)
  t.teardown(() => stopAgent(environmentOf(home)))
  const run: Stage['run'] = (args, { input = '', env = {} } = {}) =>
    runHoldfast(args, { home, input, env: { ...MAY_START, ...env } })
  const alone = { input: SECRETS, env: ALONE }
  succeeded(await run(['account', 'create', '--light', '--secrets-stdin'], alone))
  succeeded(await run(['wallets', 'create', 'bitcoin', '--name', 'Savings', '--secrets-stdin'], alone))
  return { home, run, agent: () => readRecord(stateOf(home))?.pid }
}

const succeeded = (ran: Ran): Ran => {
  if (ran.code !== 0) throw new Error(ran.stdout + ran.stderr)
  return ran
}

const stateOf = (home: string): string => profilePaths('default', { HOLDFAST_HOME: home }).state

const withSecret = (...args: readonly string[]): readonly string[] => [...args, '--secrets-stdin']

test('the first command that opens an account starts the agent, and a secret of a flag opens nothing for the next', async t => {
  const { run, agent } = await openStage(t)
  t.is(agent(), undefined)
  const first = succeeded(await run(withSecret(...READ), { input: SECRETS }))
  t.is(first.stderr, '')
  t.is(first.json.data.wallets.length, 1)
  const { data } = succeeded(await run(['agent', 'status', '--json'])).json
  t.like(data, { running: true, pid: agent(), idleMs: 900_000, lingerMs: 60_000, accounts: [] })
  t.is((await run(READ)).json.error.code, 'PROMPT_IMPOSSIBLE')
  succeeded(await run(withSecret('agent', 'unlock'), { input: SECRETS }))
  t.is(succeeded(await run(READ)).json.data.wallets.length, 1)
  t.is((await run(['agent', 'stop', '--json'])).json.data.pid, data.pid)
  await waitFor(() => agent() === undefined)
  t.like((await run(['agent', 'status', '--json'])).json.data, { running: false })
})

test('agent unlock and login start the agent, and keep the account open', async t => {
  const { home, run } = await openStage(t)
  for (const command of ['agent unlock', 'login']) {
    succeeded(await run(withSecret(...command.split(' ')), { input: SECRETS }))
    t.is(succeeded(await run(READ)).json.data.wallets.length, 1, command)
    await stopAgent(environmentOf(home))
  }
})

onTerminal(
  'a secret that is typed opens the account for the commands that follow, and the first says so',
  async t => {
    const { home, run } = await openStage(t)
    const typed = [[/PIN of/, `${PIN}\r`]] as const
    const ran = await runOnTerminal(t, ['wallets', 'list'], { home, typed, env: MAY_START })
    t.is(ran.code, 0, ran.screen)
    t.regex(
      ran.screen.replace(/\s+/g, ' '),
      /stays open for 15 min after the last command \(holdfast agent lock\)/
    )
    const next = await runOnTerminal(t, ['wallets', 'list'], { home, typed: [], env: MAY_START })
    t.is(next.code, 0, next.screen)
    t.notRegex(next.screen, /stays open/)
    t.is(succeeded(await run(READ)).json.data.wallets.length, 1)
  }
)

test('what opens no account starts no agent', async t => {
  const { run, agent } = await openStage(t)
  for (const command of [
    '--version',
    '--help',
    'wallets --help',
    'wallets list --help',
    'help exit-codes',
    'completion bash',
    'account list',
    'fake chain show',
    'rates get BTC iso:USD',
    'agent status',
    'agent stop',
    'agent lock'
  ]) {
    await run(command.split(' '))
    t.is(agent(), undefined, command)
  }
})

test('a command line that the parser refuses starts no agent, and ends with 2', async t => {
  const { run, agent } = await openStage(t)
  for (const [command, env = {}] of [
    ['wallets list --lable x'],
    ['wallets list --al'],
    ['wallets list Savings Pocket'],
    ['wallets list --account'],
    ['wallets list --json=1'],
    ['wallets list --timeout soon'],
    ['wallets list --color pink'],
    ['wallets list --pin-file'],
    ['wallets show'],
    ['wallets list --fields a'],
    ['address Savings --qr --no-qr'],
    ['send Savings --fee huge --to x --amount 1'],
    ['wallets list', { HOLDFAST_TIMEOUT: 'soon' }]
  ] as readonly (readonly [string, Readonly<Record<string, string>>?])[]) {
    const ran = await run(command.split(' '), { env })
    t.is(ran.code, 2, `${command}: ${ran.stderr}`)
    t.is(agent(), undefined, command)
  }
})

test('with --no-agent, HOLDFAST_NO_AGENT or CI no agent is started', async t => {
  const { run, agent } = await openStage(t)
  const how = [
    [['--no-agent'], {}],
    [[], { HOLDFAST_NO_AGENT: '1' }],
    [[], { CI: 'true' }]
  ] as const
  for (const [flags, env] of how) {
    const ran = succeeded(await run(withSecret(...READ, ...flags, '-v'), { input: SECRETS, env }))
    t.is(ran.json.data.wallets.length, 1)
    t.is(agent(), undefined)
    t.notRegex(ran.stderr, /agent/)
  }
})

test('where CI is set, an agent that runs is used', async t => {
  const { run } = await openStage(t)
  succeeded(await run(withSecret('login'), { input: SECRETS }))
  t.is(succeeded(await run(READ, { env: { CI: 'true' } })).json.data.wallets.length, 1)
})

test('first commands at once start one agent, and each gets its result', async t => {
  const { home, run, agent } = await openStage(t)
  const runs = await Promise.all(
    Array.from({ length: 4 }, () => run(withSecret(...READ), { input: SECRETS }))
  )
  for (const ran of runs) t.is(succeeded(ran).json.data.wallets.length, 1)
  const pid = agent()
  t.not(pid, undefined)
  const isOne = (): boolean => {
    const pids = testProcessesOf(EMITTED, home).map(found => found.pid)
    return process.platform !== 'linux' || (pids.length === 1 && pids[0] === pid)
  }
  // Those that came second are ended by their commands.
  await waitFor(isOne)
  t.is((await run(['agent', 'status', '--json'])).json.data.pid, pid)
})

test('where no agent can start, the command runs without one, and says why with -v', async t => {
  const { home, run, agent } = await openStage(t)
  const failing = async (reason: RegExp, env: Readonly<Record<string, string>> = {}): Promise<void> => {
    const quiet = succeeded(await run(withSecret(...READ), { input: SECRETS, env }))
    t.is(quiet.stderr, '')
    const ran = succeeded(await run(withSecret(...READ, '-v'), { input: SECRETS, env }))
    t.is(ran.json.data.wallets.length, 1)
    const lines = ran.stderr.split('\n').filter(line => /agent/.test(line))
    t.is(lines.length, 1, ran.stderr)
    t.regex(lines[0] ?? '', reason)
    t.regex(lines[0] ?? '', /^The agent could not start: .*; the command runs without one$/)
    t.notRegex(ran.stderr, /Unexpected|INTERNAL/)
    t.is(agent(), undefined)
  }
  const folder = agentFolder(stateOf(home))
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o755)
  if (process.platform !== 'win32') await failing(/The folder .*agent can be used by others;/)
  chmodSync(folder, 0o700)
  const file = join(home, 'file')
  writeFileSync(file, '')
  if (process.platform !== 'win32') {
    await failing(/cannot be made \(ENOTDIR\);/, { XDG_RUNTIME_DIR: file })
  }
  const crash = join(home, 'crash.cjs')
  writeFileSync(crash, "if (process.argv.includes('run')) process.exit(7)")
  await failing(/: its process ended with 7;/, { NODE_OPTIONS: `--require ${crash}` })
})

test('a killed agent leaves nothing locked: the next command starts another one, with the world as it was', async t => {
  const { run, agent } = await openStage(t)
  succeeded(await run(withSecret('login'), { input: SECRETS }))
  succeeded(await run(['fake', 'chain', 'fund', 'Savings', '0.5 BTC']))
  succeeded(await run(['fake', 'chain', 'mine', '1']))
  const killed = agent() ?? 0
  process.kill(killed, 'SIGKILL')
  const read = withSecret('balance', '--json')
  const after = succeeded(await run(read, { input: SECRETS }))
  t.is(after.json.data.balances[0].native, '50000000')
  const second = agent() ?? 0
  t.not(second, killed)
  t.is((await run(READ)).json.error.code, 'PROMPT_IMPOSSIBLE', 'the keys went with the killed one')
  process.kill(second, 'SIGKILL')
  const alone = succeeded(await run(read, { input: SECRETS, env: ALONE }))
  t.is(alone.json.data.balances[0].native, '50000000')
})

onLinux(
  'a command that is stopped while its agent starts ends at once, and the agent serves the next one',
  async t => {
    const { home, run, agent } = await openStage(t)
    const slow = join(home, 'slow.cjs')
    const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)'
    writeFileSync(slow, `if (process.argv.includes('run')) ${wait}`)
    const env = { ...MAY_START, NODE_OPTIONS: `--require ${slow}` }
    const child = startHoldfast(withSecret(...READ), { home, env })
    const over = ended(child)
    child.stdin?.end(SECRETS)
    await waitFor(() => testProcessesOf(EMITTED, home).length === 2)
    child.kill('SIGINT')
    t.is((await over).code, 130)
    await waitFor(() => agent() !== undefined)
    const pid = agent()
    succeeded(await run(withSecret('login'), { input: SECRETS }))
    t.is(agent(), pid)
  }
)

test('after an update the first command ends the agent of the old version, and starts its own', async t => {
  const { home, run, agent } = await openStage(t)
  const old = await openTestAgent({ home, version: 'old' })
  t.teardown(() => old.close())
  t.is(agent(), process.pid)
  t.is(succeeded(await run(withSecret(...READ), { input: SECRETS })).json.data.wallets.length, 1)
  await old.closed
  t.not(agent() ?? process.pid, process.pid)
})

test('each profile has an agent of its own', async t => {
  const { home, run, agent } = await openStage(t)
  t.teardown(() => stopAgent(environmentOf(home, { HOLDFAST_PROFILE: 'other' })))
  const create = withSecret('account', 'create', '--light', '--profile', 'other')
  succeeded(await run(create, { input: SECRETS }))
  t.is(agent(), undefined)
  const status = async (...flags: readonly string[]): Promise<unknown> =>
    (await run(['agent', 'status', '--json', ...flags])).json.data.running
  t.deepEqual([await status(), await status('--profile=other')], [false, true])
})

test('an agent that is not used leaves the profile to a command with --no-agent', async t => {
  const { run, agent } = await openStage(t)
  succeeded(await run(withSecret(...READ), { input: SECRETS }))
  t.not(agent(), undefined)
  succeeded(await run(withSecret(...READ), { input: SECRETS, env: ALONE }))
  t.is(agent(), undefined)
})

test('what speaks to the agent explains why it does not', async t => {
  const { home, run } = await openStage(t)
  succeeded(await run(withSecret('login'), { input: SECRETS }))
  for (const words of ['agent stop', 'agent lock', 'agent status', 'agent unlock']) {
    const args = [...words.split(' '), '--json']
    const { error } = (await run(args, { env: ALONE })).json
    t.like(error, { code: 'USAGE', hint: 'Run it with HOLDFAST_NO_AGENT=0, or unset the variable.' }, words)
    t.regex((await run([...args, '--no-agent'])).json.error.message, /leave out --no-agent$/)
  }
  await stopAgent(environmentOf(home))
  const started = succeeded(await run(['agent', 'start'], { env: ALONE }))
  t.regex(started.stderr, /do not use it, since HOLDFAST_NO_AGENT is set/)
  t.like((await run(['agent', 'status', '--json'], { env: { HOLDFAST_NO_AGENT: '0' } })).json.data, {
    running: true
  })
})

const openLingering = async (t: ExecutionContext, options: Partial<TestAgentOptions> = {}) => {
  const home = homeFor(t)
  const agent = await openTestAgent({ home, lingerMs: 60_000, ...options })
  t.teardown(() => agent.close())
  let isOver = false
  agent.closed.then(() => {
    isOver = true
  })
  return {
    home,
    agent,
    isOver: () => isOver,
    run: (...args: readonly string[]) => runAsClient(home, args, { input: SECRETS }),
    /** Lets a time pass for the agent. */
    pass: (milliseconds: number) =>
      agent.tick({ wall: Date.now(), monotonic: performance.now() + milliseconds })
  }
}

test('an agent that a command has started ends when no account is open and no command came for its time', async t => {
  const { run, pass, isOver } = await openLingering(t)
  succeeded(await run('account', 'create', '--light', '--secrets-stdin'))
  pass(3_600_000)
  succeeded(await run('agent', 'lock'))
  t.false(isOver(), 'an account was open')
  pass(10_000)
  succeeded(await run('agent', 'status'))
  t.false(isOver(), 'a command came')
  await waitFor(() => {
    pass(70_000)
    return isOver()
  })
})

test('agent start keeps an agent that a command has started', async t => {
  const { run, pass, isOver } = await openLingering(t)
  const status = async (): Promise<unknown> => (await run('agent', 'status', '--json')).json.data
  t.like((await run('agent', 'start', '--json')).json.data, { running: true, started: false })
  pass(3_600_000)
  t.like(await status(), { lingerMs: 0 })
  succeeded(await run('agent', 'start', '--idle', '1h'))
  t.like(await status(), { idleMs: 3_600_000 })
  t.false(isOver())
})

test('an agent whose folder is removed or taken by another ends, and leaves the record of the other alone', async t => {
  const { home, pass, agent } = await openLingering(t)
  const folder = agentFolder(stateOf(home))
  renameSync(folder, `${folder}-gone`)
  mkdirSync(folder, { mode: 0o700 })
  const other = JSON.stringify({ pid: process.pid, socket: join(folder, 'other'), token: 'other' })
  writeFileSync(join(folder, 'agent.json'), other)
  pass(0)
  await agent.closed
  t.is(readRecord(stateOf(home))?.token, 'other')
})
