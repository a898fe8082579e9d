import { type ChildProcess, spawn } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { join, relative } from 'node:path'
import type { FileReport } from './run-test-files.ts'

/** How a run of test files ended, and with which of them. */
export type RunEnd =
  | { readonly end: 'passed' }
  | { readonly end: 'failed' | 'late'; readonly file: string; readonly title: string }

/** A copy of the built tree in which code may be broken; the real one is only read. */
export interface MutantTree {
  readonly folder: string
  /** Puts other text in the place of an emitted file, and gives what was there. */
  write(file: string, text: string): string
  /** Runs test files in one process until one fails or takes longer than `limitMs` allows it. */
  run(files: readonly string[], options: RunOptions): Promise<RunEnd>
  /** Ends what runs in it. */
  stop(): void
}

export interface RunOptions {
  readonly limitMs: (file: string) => number
  readonly env?: NodeJS.ProcessEnv
}

const NODE_ARGUMENTS = ['--max-semi-space-size=64', '--disallow-code-generation-from-strings']
const START_LIMIT_MS = 60_000

/** Copies `dist` of `root` to `folder`, with links to everything else that tests read. */
export const makeMutantTree = (root: string, folder: string): MutantTree => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'tmp'), { recursive: true })
  for (const name of readdirSync(root)) {
    if (name === 'dist' || name === '.build' || name === '.git') continue
    if (name === 'package.json') copyFileSync(join(root, name), join(folder, name))
    else symlinkSync(join(root, name), join(folder, name))
  }
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true })
  useOwnRunner(folder)
  const running = new Set<ChildProcess>()
  return {
    folder,
    write(file, text) {
      const before = readFileSync(join(folder, file), 'utf8')
      writeFileSync(join(folder, file), text)
      return before
    },
    run: (files, options) => runFiles({ folder, running }, files, options),
    stop() {
      for (const child of running) killGroup(child)
    }
  }
}

const useOwnRunner = (folder: string): void => {
  const runner = join(folder, 'dist/scripts/run-test-files.js')
  const tests = readdirSync(join(folder, 'dist/test'), { withFileTypes: true, recursive: true })
  for (const entry of tests) {
    if (!entry.isFile() || !entry.name.endsWith('.js')) continue
    const path = join(entry.parentPath, entry.name)
    const text = readFileSync(path, 'utf8')
    const from = relative(entry.parentPath, runner)
    writeFileSync(
      path,
      text.replace(/^import test(, \{\})? from 'ava';$/m, `import { test } from '${from}';`)
    )
  }
}

const runFiles = (
  { folder, running }: { folder: string; running: Set<ChildProcess> },
  files: readonly string[],
  { limitMs, env }: RunOptions
): Promise<RunEnd> =>
  new Promise((resolve, reject) => {
    // A group of its own: what the tests start ends with it.
    const child = spawn(process.execPath, [...NODE_ARGUMENTS, 'dist/scripts/run-test-files.js', ...files], {
      cwd: folder,
      env: { ...process.env, TMPDIR: join(folder, 'tmp'), ...env },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true
    })
    running.add(child)
    let file = files[0] ?? ''
    let title = ''
    let isLate = false
    const expire = (): void => {
      isLate = true
      killGroup(child)
    }
    let timer = setTimeout(expire, START_LIMIT_MS)
    child.on('message', (report: FileReport) => {
      clearTimeout(timer)
      file = report.file
      title = report.title ?? ''
      timer = setTimeout(expire, report.state === 'started' ? limitMs(file) : START_LIMIT_MS)
    })
    child.on('error', reject)
    child.on('close', code => {
      clearTimeout(timer)
      running.delete(child)
      killGroup(child)
      if (code === 0) resolve({ end: 'passed' })
      else resolve({ end: isLate ? 'late' : 'failed', file, title })
    })
  })

const killGroup = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}
