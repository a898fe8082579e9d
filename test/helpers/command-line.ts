import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { isAlive } from '../../plugins/storage/file/file-lock.ts'
import { leftProcesses } from '../../scripts/left-processes.ts'
import { closeAgents, usesAgent } from './agents.ts'
import { waitFor } from './device.ts'
import { MAIN } from './main-file.ts'

export { MAIN }

/** What a run of the command line gave. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** The one object on standard output. @throws SyntaxError if it is anything else */
  readonly json: Envelope
}

/** The envelope, loosely typed for assertions. */
export interface Envelope {
  readonly ok: boolean
  // biome-ignore lint/suspicious/noExplicitAny: assertions look at any shape
  readonly data: any
  // biome-ignore lint/suspicious/noExplicitAny: assertions look at any shape
  readonly error: any
  readonly warnings: readonly string[]
  readonly meta: {
    readonly schema: string
    readonly profile: string
    readonly network: string
    readonly account?: string
  }
}

/** How a run differs from the plain one. */
export interface RunOptions {
  readonly home: string
  /** Standard input; empty and closed if left out. */
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

/** A fresh folder for `HOLDFAST_HOME`, removed after the test. */
export const makeHome = (): { readonly home: string; remove(): void } => {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-cli-'))
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) }
}

/** The same, removed by the test itself, which fails if it has left a process behind, such as an agent. */
export const homeFor = (t: ExecutionContext): string => {
  const { home, remove } = makeHome()
  t.teardown(async () => {
    await closeAgents(home)
    const left = await leftProcesses(EMITTED, [], home)
    for (const { pid } of left) process.kill(pid, 'SIGKILL')
    remove()
    if (left.length > 0) throw new Error(`left behind: ${left.map(({ command }) => command).join(', ')}`)
  })
  return home
}

const EMITTED = dirname(dirname(MAIN))

/**
 * The environment of a process that a test starts: nothing of the caller's settings, and no agent. In the agent's suite it
 * uses the agent that runs, and starts none.
 */
export const environmentOf = (
  home: string,
  env: Readonly<Record<string, string>> = {}
): Readonly<Record<string, string>> => ({
  ...{ PATH: process.env.PATH ?? '', HOLDFAST_HOME: home, TZ: 'UTC' },
  ...(usesAgent ? { CI: 'true' } : { HOLDFAST_NO_AGENT: '1' }),
  ...env
})

/** Added for a process that uses the agent that its test has started; where `CI` is set, it starts no other. */
export const WITH_AGENT = { HOLDFAST_NO_AGENT: '', CI: 'true' } as const

/** Starts the command line in a process of its own, in {@link environmentOf}. */
export const startHoldfast = (
  args: readonly string[],
  { home, env = {} }: Pick<RunOptions, 'env' | 'home'>
): ChildProcess => {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: environmentOf(home, env),
    stdio: ['pipe', 'pipe', 'pipe']
  })
  // A command may be gone before everything is written to it.
  child.stdin?.on('error', () => {})
  return child
}

/** Ends the agent that a command has started, and waits until its process has gone. */
export const stopAgent = async (env: Readonly<Record<string, string>>): Promise<void> => {
  const args = [MAIN, 'agent', 'stop', '--json']
  const { json } = await ended(spawn(process.execPath, args, { env: { ...env, ...WITH_AGENT } }))
  const { pid } = json.data
  if (typeof pid === 'number') await waitFor(() => !isAlive(pid))
}

/** Runs the command line to its end. */
export const runHoldfast = (args: readonly string[], options: RunOptions): Promise<Ran> => {
  const child = startHoldfast(args, options)
  child.stdin?.end(options.input ?? '')
  return ended(child)
}

/** What a child said until its end. */
export const ended = (child: ChildProcess): Promise<Ran> =>
  new Promise((resolve, reject) => {
    let stdout = ''
    let stderr = ''
    child.stdout?.setEncoding('utf8').on('data', text => {
      stdout += text
    })
    child.stderr?.setEncoding('utf8').on('data', text => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', code =>
      resolve({
        code,
        stdout,
        stderr,
        get json(): Envelope {
          return JSON.parse(stdout)
        }
      })
    )
  })
