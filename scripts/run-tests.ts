import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { leftProcesses, testProcessesOf } from './left-processes.ts'
import { shareOf, writeTestGroups } from './test-groups.ts'
import { summaryOf, testReportOf } from './test-report.ts'

/** Runs ava and shows what it prints; gives that text and its exit code. */
const runAva = (args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ output: string; code: number }> =>
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
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      process.stdout.write(chunk)
    })
    child.on('error', reject)
    child.on('close', code => resolve({ output: Buffer.concat(chunks).toString('utf8'), code: code ?? 1 }))
  })

const [suite = 'unit', ...given] = process.argv.slice(2)
// Long proofs run a drawn tenth, and with this whole (`test/helpers/drawn-runs.ts`).
const args = given
  .filter(arg => arg !== '--full')
  // The tests with nodes are named by what the nodes are of: `npm run test:nodes -- utxo`.
  .map(arg => (suite === 'nodes' && /^[a-z]+$/.test(arg) ? `dist/test/nodes/${arg}/**/*.test.js` : arg))
const full = args.length < given.length ? { HOLDFAST_FULL: '1' } : {}
// Who names files gets each in a process of its own, under its own name.
const isWhole = suite === 'unit' && args.every(arg => arg.startsWith('-'))
if (isWhole) writeTestGroups(process.cwd(), shareOf(process.env.HOLDFAST_TEST_SHARE))
const grouped = isWhole ? { HOLDFAST_TEST_GROUPS: '1' } : {}
const agent = suite === 'agent' ? { HOLDFAST_TEST_AGENT: '1' } : {}
const emitted = join(process.cwd(), 'dist')
const others = testProcessesOf(emitted)
const { output, code } = await runAva(args, { HOLDFAST_SUITE: suite, ...full, ...grouped, ...agent })
const { lines, failed } = summaryOf(testReportOf(output, code), process.env.HOLDFAST_CI === '1')
for (const line of lines) console.log(line)
const left = await leftProcesses(emitted, others)
for (const { pid, command } of left) console.log(`left behind by a test: process ${pid}, ${command}`)
process.exitCode = failed > 0 || left.length > 0 ? 1 : 0
