import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { closeAgents } from './agents.ts'
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
  readonly meta: { readonly schema: string; readonly profile: string; readonly account?: string }
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

/** The same, removed by the test itself. */
export const homeFor = (t: ExecutionContext): string => {
  const { home, remove } = makeHome()
  t.teardown(async () => {
    await closeAgents(home)
    remove()
  })
  return home
}

/** Starts the command line in a process of its own, with nothing of the caller's settings. */
export const startHoldfast = (
  args: readonly string[],
  { home, env = {} }: Pick<RunOptions, 'env' | 'home'>
): ChildProcess =>
  spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH ?? '', HOLDFAST_HOME: home, TZ: 'UTC', ...env },
    stdio: ['pipe', 'pipe', 'pipe']
  })

/** Runs the command line to its end. */
export const runHoldfast = (args: readonly string[], options: RunOptions): Promise<Ran> => {
  const child = startHoldfast(args, options)
  // A command that needs no input may be gone before it is written.
  child.stdin?.on('error', () => {})
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
