import { PassThrough } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import type { AgentServer } from '../../../cli/agent/agent-server.ts'
import { CliError } from '../../../cli/errors/cli-error.ts'
import { type ClientRun, runAsClient } from '../../helpers/agent-client.ts'
import { openTestAgent, type TestAgentOptions } from '../../helpers/agents.ts'
import { homeFor, type Ran } from '../../helpers/command-line.ts'
import { waitFor } from '../../helpers/device.ts'
import { openPanel } from '../../helpers/panel-socket.ts'

const PIN = '246813'
const IDLE_MS = 900_000

interface Running {
  /** All that it has printed. */
  text(): string
  readonly ended: Promise<Ran>
  stop(): Promise<Ran>
}

interface Stage {
  readonly agent: AgentServer
  run(args: readonly string[], options?: ClientRun): Promise<Ran>
  /** Starts a command that stays, and waits until it has printed something. */
  start(args: readonly string[], options?: ClientRun & { until?: RegExp }): Promise<Running>
  /** Lets the agent see a time of its own clock. */
  tickAt(monotonic: number): void
  /** Lets the idle time pass, counted from now. */
  passIdleTime(): void
  isLocked(): Promise<boolean>
}

/** An agent with an open account. */
const openStage = async (t: ExecutionContext, options: Partial<TestAgentOptions> = {}): Promise<Stage> => {
  const home = homeFor(t)
  const agent = await openTestAgent({ home, idleMs: IDLE_MS, ...options })
  t.teardown(() => agent.close())
  const run: Stage['run'] = (args, how) => runAsClient(home, args, how)
  const made = await run(['account', 'create', 'alice', '--secrets-stdin'], {
    input: JSON.stringify({ password: 'correct horse battery', pin: PIN })
  })
  if (made.code !== 0) throw new Error(made.stderr)
  // The wall clock goes on with the process: if it were ahead, the machine was suspended.
  const tickAt = (monotonic: number): void => agent.tick({ wall: Date.now(), monotonic })
  return {
    ...{ agent, run, tickAt },
    async start(args, { until = /\n/, ...how } = {}) {
      const controller = new AbortController()
      let text = ''
      const ended = run(args, {
        ...how,
        signal: controller.signal,
        onOutput: more => {
          text += more
        }
      })
      t.teardown(() => controller.abort(STOP))
      const early = await Promise.race([ended, waitFor(() => until.test(text))])
      if (early !== undefined) throw new Error(`it has ended: ${early.stdout}${early.stderr}`)
      return {
        ended,
        text: () => text,
        stop() {
          controller.abort(STOP)
          return ended
        }
      }
    },
    passIdleTime: () => tickAt(performance.now() + IDLE_MS + 1000),
    async isLocked() {
      const { accounts } = (await run(['agent', 'status', '--json'])).json.data
      return accounts.length === 0
    }
  }
}

const STOP = new CliError('INTERRUPTED', 'Stopped')

for (const command of ['balance --watch', 'tx watch', 'sync watch']) {
  test(`${command} that is left open does not keep the account open, and ends with the reason`, async t => {
    const { run, start, passIdleTime, isLocked } = await openStage(t)
    await run(['wallets', 'create', 'bitcoin', '--name', 'Savings'])
    const stream = await start([...command.split(' '), '--json'])
    passIdleTime()
    const { code, stdout, stderr } = await stream.ended
    t.is(code, 3)
    t.is(JSON.parse(stdout.trim().split('\n').at(-1) ?? '').error.code, 'LOGGED_OUT')
    t.regex(stderr, /^hint: The agent drops its keys after some time without use/m)
    t.true(await isLocked())
  })
}

test('a question that nobody answers does not keep the account open, and a key that is typed does', async t => {
  const { start, tickAt, isLocked, run } = await openStage(t)
  const keyboard = new PassThrough()
  const login = ['login', 'alice', '--with', 'pin']
  const prompting = await start(login, { stdin: keyboard, isOnTerminal: true, until: /PIN of/ })
  const before = performance.now()
  keyboard.write('2')
  await waitFor(() => /\*/.test(prompting.text()))
  tickAt(before + IDLE_MS)
  t.false(await isLocked(), 'a key was typed')
  await prompting.stop()
  const second = await start(login, { stdin: new PassThrough(), isOnTerminal: true, until: /PIN of/ })
  tickAt(performance.now() + IDLE_MS + 1000)
  await waitFor(isLocked)
  t.is((await run(['balance', '--json'])).json.error.code, 'PROMPT_IMPOSSIBLE')
  await second.stop()
})

test('a standard input that stays open does not keep the account open', async t => {
  const { passIdleTime, isLocked, run } = await openStage(t)
  const controller = new AbortController()
  const endless = new PassThrough()
  const waiting = run(['balance', '--secrets-stdin'], { signal: controller.signal, stdin: endless })
  endless.write('{')
  await waitFor(async () => {
    passIdleTime()
    return isLocked()
  })
  controller.abort(STOP)
  t.is((await waiting).code, 130)
})

test('a command that works counts as use, however long it takes', async t => {
  let proceed = (): void => {}
  const working = new Promise<void>(resolve => {
    proceed = resolve
  })
  let mustWait = false
  const { run, agent, passIdleTime, isLocked } = await openStage(t, {
    onAgent: async () => {
      if (!mustWait) return
      mustWait = false
      await working
    }
  })
  mustWait = true
  const slow = run(['balance'])
  await waitFor(() => agent.status.commands === 1 && !mustWait)
  passIdleTime()
  t.false(await isLocked())
  proceed()
  t.is((await slow).code, 0)
})

test('a panel that is left open does not keep the account open, and an action in it does', async t => {
  const { start, tickAt, isLocked } = await openStage(t)
  const serving = await start(['devtools', '--json'])
  const { client } = openPanel(/"url":"([^"]+)"/.exec(serving.text())?.[1] ?? '')
  t.teardown(() => client.close())
  await waitFor(() => client.status.getSnapshot().connection === 'live')
  const before = performance.now()
  await client.runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  tickAt(before + IDLE_MS)
  t.false(await isLocked(), 'a person has mined a block')
  tickAt(performance.now() + IDLE_MS + 1000)
  await waitFor(isLocked)
  t.is(client.status.getSnapshot().connection, 'live', 'the panel stays, and can log in')
})

test('a panel that shows rules and proposals, whose changes it watches, does not keep the account open', async t => {
  const { start, run, tickAt, isLocked } = await openStage(t)
  const serving = await start(['devtools', '--json'])
  const { client } = openPanel(/"url":"([^"]+)"/.exec(serving.text())?.[1] ?? '')
  t.teardown(() => client.close())
  await waitFor(() => client.status.getSnapshot().connection === 'live')
  const [{ loginId: accountId }] = (await run(['agent', 'status', '--json'])).json.data.accounts
  const left = performance.now()
  const shown: unknown[] = []
  const failures: unknown[] = []
  const listener = {
    onOutput: (output: object) => void shown.push(output),
    onFailure: (error: unknown) => void failures.push(error)
  }
  client.watch?.('proposal.list', {}, listener)
  client.watch?.('policy.list', { accountId }, listener)
  await waitFor(() => shown.length === 2)
  tickAt(left + IDLE_MS + 0.1)
  await waitFor(isLocked)
  t.deepEqual(failures, [])
  await t.throwsAsync(client.runAction('policy.list', { accountId }), { message: /log/i })
})

test('a panel or stream that the end of the agent cuts off says what happened, and what to do', async t => {
  for (const [end, said] of [
    ['stop', /^error: The agent was stopped \(TERMINATED\)$/m],
    [
      'retire',
      /^error: The agent has ended: a command of another version of holdfast was started \(TERMINATED\)$/m
    ]
  ] as const) {
    const { run, start } = await openStage(t)
    const open = [await start(['devtools']), await start(['balance', '--watch', '--json'])]
    if (end === 'stop') await run(['agent', 'stop'])
    else await t.throwsAsync(run(['account', 'list'], { version: 'another' }), { message: /No agent took/ })
    for (const { ended } of open) {
      const { code, stderr } = await ended
      t.is(code, 143)
      t.regex(stderr, said)
      t.regex(stderr, /^hint: Run the command again\.$/m)
    }
  }
})
