import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { leftProcesses, testProcessesOf } from './left-processes.ts'
import { shareOf, writeTestGroups } from './test-groups.ts'
import { summaryOf, testReportOf } from './test-report.ts'

/**
 * Runs ava and shows what it prints; gives that text and its exit code.
 *
 * Ava's own limit does not end a run in which one test has a long one of its own, or a worker that does not take a signal.
 *
 * @param silence - after so many seconds without a word ava is interrupted, which makes it name what is pending
 */
const runAva = (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  silence: number
): Promise<{ output: string; code: number }> =>
  new Promise((resolve, reject) => {
    const ava = join(process.cwd(), 'node_modules/ava/entrypoints/cli.mjs')
    const color = process.stdout.isTTY && process.env.NO_COLOR === undefined ? ['--color'] : []
    const child = spawn(process.execPath, [ava, ...color, ...args], {
      env: { ...process.env, ...env },
      stdio: ['inherit', 'pipe', 'inherit']
    })
    // A terminal sends Ctrl-C to ava as well; a second one would keep it from tidying up.
    const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (signal !== 'SIGINT' || !hasTerminal) child.kill(signal)
      })
    }
    let isOver = false
    const interrupt = (): void => {
      isOver = true
      console.log(`\nNothing was printed for ${silence} s.`)
      const processes = [...childrenOf(child.pid), child.pid ?? 0]
      child.kill('SIGINT')
      // Ava does not wait for a worker that is deaf to it.
      const kill = (): void => processes.forEach(killIfThere)
      child.once('exit', kill)
      setTimeout(kill, TIDY_MS).unref()
    }
    const timer = setTimeout(interrupt, silence * 1000).unref()
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => {
      if (!isOver) timer.refresh()
      chunks.push(chunk)
      process.stdout.write(chunk)
    })
    child.on('error', reject)
    child.on('close', code => resolve({ output: Buffer.concat(chunks).toString('utf8'), code: code ?? 1 }))
  })

/** Time that ava has to end after an interrupt. */
const TIDY_MS = 10_000

/** None where the system has no `/proc`, or the process has ended. */
const childrenOf = (pid = 0): readonly number[] => {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text
      .split(' ')
      .filter(each => each !== '')
      .map(Number)
  } catch {
    return []
  }
}

const killIfThere = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

const [suite = 'unit', ...given] = process.argv.slice(2)
// Long proofs run a drawn tenth, and with this whole (`test/helpers/drawn-runs.ts`).
const args = given
  .filter(arg => arg !== '--full')
  // The tests with nodes are named by what the nodes are of: `npm run test:nodes -- utxo`.
  .map(arg => (suite === 'nodes' && /^[a-z]+$/.test(arg) ? `dist/test/nodes/${arg}/**/*.test.js` : arg))
const isFull = args.length < given.length || process.env.HOLDFAST_FULL === '1'
const full = isFull ? { HOLDFAST_FULL: '1' } : {}
// Who names files gets each in a process of its own, under its own name.
const isWhole = suite === 'unit' && args.every(arg => arg.startsWith('-'))
if (isWhole) writeTestGroups(process.cwd(), shareOf(process.env.HOLDFAST_TEST_SHARE))
const grouped = isWhole ? { HOLDFAST_TEST_GROUPS: '1' } : {}
const agent = suite === 'agent' ? { HOLDFAST_TEST_AGENT: '1' } : {}
const emitted = join(process.cwd(), 'dist')
const others = testProcessesOf(emitted)
// Whole, a single proof takes half an hour.
const silence = Number(process.env.HOLDFAST_TEST_SILENCE) || (isFull ? 3 * 3600 : 900)
const { output, code } = await runAva(args, { HOLDFAST_SUITE: suite, ...full, ...grouped, ...agent }, silence)
const { lines, failed } = summaryOf(testReportOf(output, code), process.env.HOLDFAST_CI === '1')
for (const line of lines) console.log(line)
const left = await leftProcesses(emitted, others)
for (const { pid, command } of left) console.log(`left behind by a test: process ${pid}, ${command}`)
process.exitCode = failed > 0 || left.length > 0 ? 1 : 0
