import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { unitTests } from './mutant-tests.ts'

/**
 * What there is once in a process: the environment, the streams, the clock and the children. A file that uses one of them runs in
 * a process of its own. So does one that draws with Ink, which loads too late to share a file, and one that runs the suite of
 * currencies: what a broken one never does is waited for, and tests of a shared process wait one after another.
 */
const ALONE =
  /\b(?:process\.(?:env|on|exitCode)|globalThis|syncBuiltinESMExports|performance\.now)\b|node:(?:child_process|http|net)|helpers\/served-devtools\.js|ink-testing-library|\bcurrencySuite\(/

/** The most files in one process: if it ends early, the tests of them all are missing. */
const MOST = 12

/**
 * Decides which test files share a process: those of one folder that need none of their own. Most of them take less time than
 * a process takes to start and to load the kernel (pure).
 *
 * @param texts - the emitted test files, by their paths below the folder of the tests
 * @returns the files of each process, by the name that ava shows in front of their titles
 */
export const groupTests = (texts: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> => {
  const groups = new Map<string, readonly string[]>()
  const folders = new Map<string, string[]>()
  for (const [file, text] of texts) {
    if (ALONE.test(text)) groups.set(file.replace('.test.js', ''), [file])
    else folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), file])
  }
  for (const [folder, files] of folders) {
    const count = Math.ceil(files.length / MOST)
    for (let at = 0; at < count; at += 1) {
      const name = join(folder, count === 1 ? 'all' : `all-${at + 1}`)
      groups.set(
        name,
        files.filter((_, place) => place % count === at)
      )
    }
  }
  return groups
}

// The timers of a kernel keep no process alive, and a test that waits for one of them may be the only one that runs. In a
// process with many files no test waits for the work of all the others: they run one after another, which ava offers only
// together with one process after another.
const headOf = (root: string): string => `import { registerCompletionHandler } from 'ava'
import Runner from ${JSON.stringify(pathToFileURL(join(root, 'node_modules/ava/lib/runner.js')).href)}
const alive = setInterval(() => {}, 60_000)
registerCompletionHandler(() => clearInterval(alive))
const { start } = Runner.prototype
Runner.prototype.start = function (...args) {
  this.serial = true
  return start.apply(this, args)
}
`

/** A part of the groups: every `of`th, from `from` on. */
export interface TestShare {
  readonly from: number
  readonly of: number
}

/**
 * Reads which part of the tests is to run.
 *
 * @param text - such as `1/2` for every second group from the second on; without it, all
 * @throws Error for any other text
 */
export const shareOf = (text = '0/1'): TestShare => {
  const [, from = '', of = ''] = /^(\d{1,3})\/(\d{1,3})$/.exec(text) ?? []
  if (from === '' || Number(from) >= Number(of))
    throw new Error(`${text} is not a share of the tests; write one such as 0/2`)
  return { from: Number(from), of: Number(of) }
}

/**
 * Writes a file for each process of `npm test` into `dist/groups`; it imports the test files that share the process.
 *
 * @param share - the groups to write; those of all shares together are all groups
 */
export const writeTestGroups = (root: string, share: TestShare): void => {
  const tests = join(root, 'dist/test')
  const folder = join(root, 'dist/groups')
  const files = unitTests(root).map(file => relative('dist/test', file))
  const groups = groupTests(new Map(files.map(file => [file, readFileSync(join(tests, file), 'utf8')])))
  rmSync(folder, { recursive: true, force: true })
  const chosen = [...groups].filter((_, place) => place % share.of === share.from)
  for (const [name, members] of chosen) {
    const path = join(folder, `${name}.test.js`)
    mkdirSync(dirname(path), { recursive: true })
    const imports = members.map(file => `import '${relative(dirname(path), join(tests, file))}'\n`)
    writeFileSync(path, `${imports.join('')}${members.length > 1 ? headOf(root) : ''}`)
  }
}
