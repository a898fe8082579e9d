import { PassThrough, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientOptions, runByAgent } from '../../cli/agent/client.ts'
import { runCli } from '../../cli/run.ts'
import type { Plugin } from '../../kernel/index.ts'
import { agentOf, closeAgents, TEST_VERSION, usesAgent } from './agents.ts'
import type { Ran, RunOptions } from './command-line.ts'
import { CHEAP_SNRP } from './device.ts'

/** How a run in this process differs from the plain one. */
export interface InProcessOptions extends RunOptions {
  /** Aborted as by Ctrl-C. */
  readonly signal?: AbortSignal
  /** How long a stop waits for a payment; without an end, so that no busy machine cuts it off, if left out. */
  readonly payingGraceMs?: number
  /** Besides those that ship. */
  readonly plugins?: readonly Plugin[]
  /** Hears standard output as it comes. */
  readonly onOutput?: (text: string) => void
}

/**
 * Runs the command line in this process, with passwords that are cheap to check: many runs take no longer than one
 * process. What a process adds, such as signals and exits, is left to the tests that start one.
 */
export const runInProcess = async (
  args: readonly string[],
  {
    home,
    input = '',
    env = {},
    signal,
    payingGraceMs = 2 ** 31 - 1,
    plugins = [],
    onOutput
  }: InProcessOptions
): Promise<Ran> => {
  const [stdout, stderr] = [collector(onOutput), collector()]
  // The kernel's timers keep no process alive; a process of its own has a terminal that does.
  const alive = setInterval(() => {}, 60_000)
  const request = {
    argv: args,
    terminal: {
      stdin: Readable.from(input === '' ? [] : [input]) as unknown as NodeJS.ReadStream,
      stdout: stdout.stream,
      stderr: stderr.stream,
      environment: { HOLDFAST_HOME: home, ...env }
    },
    signal: signal ?? new AbortController().signal
  }
  const run = async (): Promise<number> =>
    (await byAgent(request, plugins)) ??
    (await runCli({ ...request, passwordSnrp: CHEAP_SNRP, payingGraceMs, plugins }))
  const code = await run().finally(() => clearInterval(alive))
  return {
    code,
    stdout: stdout.text(),
    stderr: stderr.text(),
    get json() {
      return JSON.parse(stdout.text())
    }
  }
}

const CLIENT_START_MS = 40

/** Runs a command in the agent of its home, if the tests run so; undefined if it has to run in this process. */
const byAgent = async (
  request: Omit<ClientOptions, 'version'>,
  plugins: readonly Plugin[]
): Promise<number | undefined> => {
  const { HOLDFAST_HOME: home = '', HOLDFAST_PROFILE = 'default' } = request.terminal.environment
  if (!usesAgent || home === '') return undefined
  // An agent has the plugins that it was started with.
  if (plugins.length > 0) {
    await closeAgents(home)
    return undefined
  }
  // These run in a process of their own, and some refuse while an agent has the profile.
  const { argv, terminal } = request
  const isAlone = argv[0] === 'profile' || argv.includes('--store') || terminal.environment.HOLDFAST_STORE
  if (isAlone) return undefined
  const at = request.argv.indexOf('--profile')
  await agentOf(home, at === -1 ? HOLDFAST_PROFILE : (request.argv[at + 1] ?? ''))
  // As long as a client takes to start; until then a kernel delivers what the command before has caused.
  await sleep(CLIENT_START_MS)
  return runByAgent({ ...request, version: TEST_VERSION })
}

const collector = (
  receive?: (text: string) => void
): { readonly stream: NodeJS.WriteStream; text(): string } => {
  const chunks: string[] = []
  const stream = new PassThrough()
  stream.setEncoding('utf8').on('data', (text: string) => {
    chunks.push(text)
    receive?.(text)
  })
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => chunks.join('') }
}
