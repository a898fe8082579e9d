import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median } from '../measure.ts'
import { atMost, check, type Row, type Section, type SectionResult, WAITS_LINE } from '../section.ts'

/** A command in a process of its own and in the agent. */
export const agent: Section = () =>
  withHome(async (home, secrets) => {
    const alone = await wallTimes(() => run(home, 'balance', ...secrets))
    const first = await firstTimes(home, secrets)
    return withAgent(home, secrets, async () => {
      const empty: number[] = []
      const warm: number[] = []
      for (let round = -3; round < ROUNDS; round += 1) {
        const [bare, through] = [
          await wallOf(() => node(['-e', '0'])),
          await wallOf(() => run(home, 'balance'))
        ]
        if (round >= 0) {
          empty.push(bare)
          warm.push(through)
        }
      }
      const above = median(warm.map((wall, at) => wall - (empty[at] ?? Number.NaN)))
      return {
        rows: [
          { name: 'empty node', wallMs: median(empty) },
          { name: 'balance, in a process of its own', wallMs: median(alone) },
          { name: 'balance, which starts the agent', wallMs: median(first) },
          {
            name: 'balance, in the agent',
            wallMs: median(warm),
            facts: { 'ms above an empty node': above },
            goals: [atMost('at most 25 ms of wall time above an empty node', above, 25)]
          }
        ],
        notes: [
          'A light account with one Bitcoin wallet on the fake world, which is in the agent’s process; the command of its own ' +
            'logs in by PIN. The client sends its arguments to the agent and copies the output.'
        ]
      }
    })
  })

/** What an agent with many wallets costs in which nothing happens; only where Linux says it. */
export const idleAgent: Section = () =>
  withHome((home, secrets) =>
    withAgent(home, secrets, async server => ({
      rows: process.platform === 'linux' ? await idleRows(home, server) : [],
      notes: [
        'The agent has a light account with 200 Bitcoin wallets open, and nothing happens for three minutes, in which each repo ' +
          'is synced once, after one in which they settle. It runs beside the other sections, which take the caches of the ' +
          'processor from it. Memory is what the process has in RAM, the fake world included.'
      ]
    }))
  )

/** Gives a home with a light account and a wallet, and the flags of its PIN, which goes at the end. */
const withHome = async (
  use: (home: string, secrets: readonly string[]) => Promise<SectionResult>
): Promise<SectionResult> => {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  const pin = join(home, 'pin')
  await writeFile(pin, '2468', { mode: 0o600 })
  const secrets = ['--pin-file', pin]
  try {
    await run(home, 'account', 'create', '--light', ...secrets)
    await run(home, 'wallets', 'create', 'bitcoin', '--name', 'Savings', ...secrets)
    return await use(home, secrets)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

/** Gives the agent of a home, in which its account is open and which is ended at the end. */
const withAgent = async (
  home: string,
  secrets: readonly string[],
  use: (server: ChildProcess) => Promise<SectionResult>
): Promise<SectionResult> => {
  const server = await startAgent(home)
  try {
    await run(home, 'agent', 'unlock', ...secrets)
    return await use(server)
  } finally {
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    await ended
  }
}

const ROUNDS = 15
const WALLETS = 200
/** The new wallets are uploaded meanwhile, and each is synced once. */
const SETTLE_MS = 60_000
/** A sync period of an agent that nobody uses. */
const IDLE_MS = 180_000
const COMMAND = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url))

const node = (
  args: readonly string[],
  home = '',
  env: Readonly<Record<string, string>> = {}
): Promise<{ readonly stdout: string }> =>
  promisify(execFile)(process.execPath, [...args], {
    env: { PATH: process.env.PATH, HOLDFAST_HOME: home, ...env },
    maxBuffer: 100_000_000
  })

const run = (home: string, ...args: readonly string[]): Promise<void> => runWith({ CI: '1' }, home, args)

/** Runs a command that succeeds; where `CI` is set, it starts no agent. */
const runWith = async (
  env: Readonly<Record<string, string>>,
  home: string,
  args: readonly string[]
): Promise<void> => {
  const { stdout } = await node([COMMAND, ...args, '--json'], home, env)
  check((JSON.parse(stdout) as { readonly ok: boolean }).ok, args.join(' '))
}

const wallOf = async (call: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await call()
  return performance.now() - started
}

const wallTimes = async (call: () => Promise<unknown>): Promise<readonly number[]> => {
  const times: number[] = []
  for (let round = 0; round < 5; round += 1) times.push(await wallOf(call))
  return times
}

/** A command that finds no agent, and starts one, which is stopped again. */
const firstTimes = async (home: string, secrets: readonly string[]): Promise<readonly number[]> => {
  const times: number[] = []
  for (let round = 0; round < 5; round += 1) {
    times.push(await wallOf(() => runWith({}, home, ['balance', ...secrets])))
    await run(home, 'agent', 'stop')
    // The next command has to wait until the agent has left.
    await run(home, 'account', 'list', '--no-agent')
  }
  return times
}

const startAgent = async (home: string): Promise<ChildProcess> => {
  const child = spawn(process.execPath, [COMMAND, 'agent', 'run', '--idle', 'never'], {
    env: { PATH: process.env.PATH, HOLDFAST_HOME: home },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc']
  })
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', code => reject(new Error(`the agent ended with ${code}`)))
  })
  return child
}

const idleRows = async (home: string, { pid = 0 }: ChildProcess): Promise<readonly Row[]> => {
  const batch = join(home, 'wallets.json')
  const rows = Array.from({ length: WALLETS - 1 }, (_, at) => ({ type: 'bitcoin', name: `W${at}` }))
  await writeFile(batch, JSON.stringify(rows))
  await run(home, 'wallets', 'create', '--batch', batch)
  await run(home, 'balance')
  console.log(WAITS_LINE)
  await sleep(SETTLE_MS)
  const before = await cpuMs(pid)
  await sleep(IDLE_MS)
  const share = (((await cpuMs(pid)) - before) / IDLE_MS) * 100
  const megabytes = await residentMb(pid)
  return [
    {
      name: `idle agent with ${WALLETS} wallets`,
      facts: { '% of a core': share, MB: megabytes },
      goals: [atMost('at most 0.3 % of a core', share, 0.3), atMost('at most 120 MB in RAM', megabytes, 120)]
    }
  ]
}

/** CPU time so far; the clock of `/proc` ticks a hundred times a second. */
const cpuMs = async (pid: number): Promise<number> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const residentMb = async (pid: number): Promise<number> =>
  Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000
