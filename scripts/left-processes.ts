import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A process of the command line that belongs to a test. */
export interface TestProcess {
  readonly pid: number
  /** Its program and arguments. */
  readonly command: string
}

/**
 * Finds the processes that run emitted code of a tree for a home among the temporary files, as only tests do. An agent, for
 * example, outlives the command that has started it. None where the system has no `/proc`.
 *
 * @param folder - the folder of the emitted code
 * @param home - the beginning of the path of the home
 */
export const testProcessesOf = (folder: string, home: string = HOMES): readonly TestProcess[] =>
  process.platform === 'linux'
    ? readdirSync('/proc')
        .filter(name => /^\d+$/.test(name))
        .flatMap(name => testProcess(name, folder, home) ?? [])
    : []

const testProcess = (pid: string, folder: string, home: string): TestProcess | undefined => {
  try {
    const [words, variables] = ['cmdline', 'environ'].map(file =>
      readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').slice(0, -1)
    )
    const isOurs = words?.some(word => word.startsWith(join(folder, '/'))) === true
    const isOfTest = variables?.some(variable => variable.startsWith(`HOLDFAST_HOME=${home}`)) === true
    return isOurs && isOfTest ? { pid: Number(pid), command: words.join(' ') } : undefined
  } catch {
    // It has ended meanwhile, or belongs to another user.
    return undefined
  }
}

const HOMES = join(tmpdir(), 'holdfast-')

/** Waits until no such process is left besides some; those that are left after the time of a normal end. */
export const leftProcesses = async (
  folder: string,
  others: readonly TestProcess[],
  home?: string
): Promise<readonly TestProcess[]> => {
  const known = new Set(others.map(({ pid }) => pid))
  const end = performance.now() + END_MS
  for (;;) {
    const left = testProcessesOf(folder, home).filter(({ pid }) => !known.has(pid))
    if (left.length === 0 || performance.now() > end) return left
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

const END_MS = 2000
const POLL_MS = 50
