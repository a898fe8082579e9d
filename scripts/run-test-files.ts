import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Runs test files one after another in this one process, with ava's own runner, and stops at the first failure.
 *
 * A process for each file, as ava has it, costs more than most of our tests: what is shared here is what they import.
 * The parent hears of each file before and after; the code tells whether all passed. In the
 * copies of the tree that the mutants have, the test files import `test` from here.
 */

/** The part of ava's `lib/runner.js` that is used here. */
interface Runner {
  readonly chain: Chain
  on(name: 'stateChange', listener: (state: { readonly type: string; readonly title?: string }) => void): void
  on(name: 'finish' | 'error', listener: () => void): void
}

type Chain = ((...args: readonly unknown[]) => unknown) & Readonly<Record<string, unknown>>

/** What a test file says to its parent process. */
export interface FileReport {
  readonly file: string
  readonly state: 'started' | 'passed' | 'failed'
  /** Of the first test that failed. */
  readonly title?: string
}

let runner: Runner | undefined

const chain = (): Chain => {
  if (runner === undefined) throw new Error('No test file is running.')
  return runner.chain
}

/** Stands for ava's `test` in a file that is run here. */
export const test: object = new Proxy((): void => undefined, {
  apply: (_target, _self, args: unknown[]) => chain()(...args),
  get: (_target, name) => chain()[String(name)]
})

const report = (said: FileReport): void => void process.send?.(said)

const fail = (): never => process.exit(1)

const unhandled = new Set<Promise<unknown>>()

const importAva = (path: string): Promise<Record<string, unknown>> =>
  import(pathToFileURL(join(process.cwd(), 'node_modules/ava/lib', path)).href)

const runFile = async (file: string, Runner: new (options: object) => Runner): Promise<void> => {
  const path = join(process.cwd(), file)
  const current = new Runner({ file: path, projectDir: process.cwd(), failFast: true })
  runner = current
  await new Promise<void>((resolve, reject) => {
    current.on('stateChange', ({ type, title = '' }) => {
      if (type !== 'test-failed' && type !== 'hook-failed') return
      process.send?.({ file, state: 'failed', title } satisfies FileReport, fail)
    })
    current.on('error', fail)
    current.on('finish', resolve)
    import(pathToFileURL(path).href).catch(reject)
  })
  // As ava does: a rejection counts once the turn has passed in which it could still be handled.
  await new Promise(resolve => setImmediate(resolve))
  if (unhandled.size > 0) fail()
}

const main = async (): Promise<void> => {
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', (_reason, promise) => unhandled.add(promise))
  process.on('rejectionHandled', promise => unhandled.delete(promise))
  process.channel?.unref()
  const { set } = (await importAva('chalk.js')) as { set: (options: object) => void }
  set({ level: 0 })
  const { default: Runner } = (await importAva('runner.js')) as { default: new (options: object) => Runner }
  for (const file of process.argv.slice(2)) {
    report({ file, state: 'started' })
    await runFile(file, Runner)
    report({ file, state: 'passed' })
  }
  process.exit(0)
}

main().catch(fail)
