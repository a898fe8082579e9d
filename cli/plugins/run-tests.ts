import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CheckResult, Suite } from '../../testing/suite.ts'
import { CliError } from '../errors/cli-error.ts'
import { packageFolder } from '../terminal/package-folder.ts'
import { bundleTests } from './bundle.ts'
import type { PluginProject } from './plugin-project.ts'
import type { ListedCheck, TestMessage, TestRequest } from './test-program.ts'

/** Options of {@link runPluginTests}. */
export interface PluginTestOptions extends Omit<TestRequest, 'bundle'> {
  /** Ends the process of the tests. */
  readonly signal: AbortSignal
  /** Receives what the tests print. */
  onOutput(text: string): void
  onResult?(result: CheckResult): void
  /** Receives the files of the tests. */
  onBundled?(files: readonly string[]): void
  /** Milliseconds that the process may say nothing once it has loaded, before it is ended. */
  readonly silentMs?: number
}

/** The checks of a plugin with their results, which are none for a list. */
export interface PluginTests {
  readonly suite: Suite
  readonly checks: readonly ListedCheck[]
  readonly results: readonly CheckResult[]
}

/**
 * Bundles the tests of a project and runs them in a process of its own, which ends with them whatever they leave open. A check
 * that keeps the process busy is ended with it, and fails; the checks after it do not run.
 *
 * @throws CliError PLUGIN_REFUSED for a file that cannot be bundled or loaded, or that exports no suite; the reason of the signal
 */
export const runPluginTests = async (
  project: PluginProject,
  options: PluginTestOptions
): Promise<PluginTests> => {
  const { signal, onBundled } = options
  const { code, files } = await bundleTests(project.test)
  onBundled?.(files)
  signal.throwIfAborted()
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tests-'))
  try {
    const bundle = join(folder, 'tests.mjs')
    writeFileSync(bundle, code, { mode: 0o600 })
    return await follow(project, bundle, options)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const follow = async (
  { folder, test }: PluginProject,
  bundle: string,
  { signal, onOutput, onResult, silentMs = SILENT_MS, level, only, isList, isSuiteAlone }: PluginTestOptions
): Promise<PluginTests> => {
  const child = fork(programPath(), [], {
    cwd: folder,
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'))),
    execArgv: ['--enable-source-maps', '--no-warnings'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', onOutput)
  const results: CheckResult[] = []
  let found: Pick<PluginTests, 'checks' | 'suite'> | undefined
  let running: { readonly title: string; readonly since: number } | undefined
  const refuse = (problem: string, hint?: string): CliError =>
    new CliError('PLUGIN_REFUSED', `${test} cannot be tested: ${problem}`, hint === undefined ? {} : { hint })
  const take = (message: TestMessage): void => {
    if (message.type === 'suite') {
      const { suite, checks } = message
      // Reports need no more of a suite than this; its checks run elsewhere.
      found = { suite: { ...suite, checks: [] }, checks }
    } else if (message.type === 'start') running = { title: message.title, since: performance.now() }
    else if (message.type === 'result') {
      running = undefined
      results.push(message.result)
      onResult?.(message.result)
    } else if (message.type === 'problem') throw refuse(message.problem, message.hint)
  }
  const end = await lastWords(child, {
    ...{ signal, silentMs, take },
    send: () => child.send({ bundle, level, only, isList, isSuiteAlone } satisfies TestRequest)
  })
  if (found === undefined) throw refuse(`its process ${end ?? 'says nothing'}`)
  if (end === undefined) return { ...found, results }
  const failed = found.checks.find(({ title }) => title === running?.title)
  if (failed === undefined || running === undefined) throw refuse(`its process ${end}`)
  const result: CheckResult = {
    ...failed,
    outcome: 'failed',
    message: `Its process ${end}; the checks after it did not run`,
    durationMs: Math.round(performance.now() - running.since)
  }
  onResult?.(result)
  return { ...found, results: [...results, result] }
}

interface Conversation {
  readonly signal: AbortSignal
  readonly silentMs: number
  /** @throws what ends it */
  take(message: TestMessage): void
  send(): void
}

/** Reads all that a process says, and ends it. @returns how it ended before its last word; undefined if it did not */
const lastWords = (
  child: ChildProcess,
  { signal, silentMs, take, send }: Conversation
): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const settle = (done: () => void): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      for (const name of ['message', 'exit', 'error']) child.removeAllListeners(name)
      child.on('error', () => {})
      if (child.exitCode === null && child.signalCode === null) {
        child.once('close', done)
        child.kill('SIGKILL')
      } else done()
    }
    const stop = (): void => settle(() => reject(signal.reason))
    const waitFor = (milliseconds: number): NodeJS.Timeout =>
      setTimeout(
        () => settle(() => resolve(`has said nothing for ${Math.round(milliseconds / 1000)} seconds`)),
        milliseconds
      )
    let timer = waitFor(SILENT_MS)
    signal.addEventListener('abort', stop, { once: true })
    child.on('message', (message: TestMessage) => {
      clearTimeout(timer)
      timer = waitFor(silentMs)
      try {
        take(message)
        if (message.type === 'end') settle(() => resolve(undefined))
      } catch (error) {
        settle(() => reject(error))
      }
    })
    child.once('error', error => settle(() => reject(error)))
    child.once('exit', (code, by) =>
      settle(() => resolve(by === null ? `ended with ${code}` : `was ended by ${by}`))
    )
    if (signal.aborted) stop()
    else send()
  })

/** Longer than the minute that a check has. */
const SILENT_MS = 75_000

const programPath = (): string => {
  const folder = packageFolder()?.path
  if (folder === undefined) throw new CliError('INTERNAL', 'The folder of this program is not found')
  return join(folder, 'dist/bin/chunks/test-program.mjs')
}
