import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { assertionsOf, lostAssertions } from './freeze/assertions.ts'
import { compareRecords, declarationFileOf } from './freeze/compare-records.ts'
import { declarationsOf, reachableDeclarations } from './freeze/declarations.ts'
import { commandGrammar, commandOutputs, errorCodes, folderContents } from './freeze/freeze-commands.ts'
import { recordingShapes, recordSession, shownOfRecording } from './freeze/freeze-recording.ts'
import { tourTraffic } from './freeze/freeze-wire.ts'
import { hookTablePage } from './hook-pages.ts'
import { readTree } from './project-files.ts'

/**
 * Compares what this tree shows to its users with what another commit shows: the declarations of every export path, the
 * grammar of the commands, what each says with `--json`, error codes, hooks, what the tour puts on the wire, and what this
 * tree reads in a profile and a recording that the other commit left. For a change that moves and renames, and is to change
 * nothing.
 *
 * Names that are meant to change stand in `scripts/freeze/renames.json`, new ones by old ones; the old record and the old
 * tests are read as if they had the new names. Members that changed otherwise stand with a reason in
 * `scripts/freeze/accepted.json`. New exports are listed and are no difference. `--assertions` also fails if an assertion of
 * the other commit's tests is gone.
 *
 * @example npm run freeze -- v1.0 --assertions
 */
const main = async (): Promise<void> => {
  const root = process.cwd()
  const program = new Command('freeze')
    .argument('[commit]', 'the commit to compare with; without one, only record')
    .option('--assertions', 'also compare the assertions of the tests')
    .option('-o, --output <folder>', 'write the record to this folder', '.build/freeze/now')
    .parse()
  const { output, assertions } = program.opts<{ output: string; assertions?: true }>()
  const now = join(root, output)
  console.error('Recording this tree …')
  await record(root, now)
  const [commit] = program.args
  if (commit === undefined) {
    console.log(`Recorded in ${output}`)
    return
  }
  const other = checkOut(root, commit)
  const base = join(other, '.build/freeze/now')
  if (!existsSync(join(base, DONE))) {
    console.error(`Building ${commit} and recording it …`)
    execFileSync('npm', ['run', 'freeze'], { cwd: other, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const renames = renamesOf(root)
  // What the other commit left on the disk has to be read here as it was there.
  writeFileSync(join(now, 'profile.txt'), await awake(() => folderContents(join(base, PROFILE))))
  if (existsSync(join(base, RECORDING)))
    writeFileSync(join(now, SHOWN), shownOfRecording(linesOf(join(base, RECORDING))))
  const { differences, added } = compareRecords({
    ...{ base, now, renames, accepted: readJson(root, 'scripts/freeze/accepted.json') },
    declarations: () => [...exportPaths(root).values()].flatMap(reachableDeclarations),
    folder: join(root, '.build/freeze/types')
  })
  const lost = assertions
    ? lostAssertions(
        assertionsOf(readTree(other, ['test'], TESTS), renames),
        assertionsOf(readTree(root, ['test'], TESTS), new Map())
      )
    : []
  for (const line of differences) console.log(line)
  for (const call of lost) console.log(`assertion gone: ${call}`)
  if (added.length > 0) console.log(`New exports: ${added.join(', ')}`)
  console.log(`\n${differences.length} differences, ${lost.length} assertions gone`)
  process.exitCode = differences.length + lost.length > 0 ? 1 : 0
}

const DONE = 'done'
/** A profile with an account, wallets and payments, as the command line left it. */
const PROFILE = 'profile'
/** What the devtools recorded of a short session, and what the panel shows of it. */
const RECORDING = 'recording.jsonl'
const SHOWN = 'recording-shown.txt'
const TESTS = /\.tsx?$/

const record = async (root: string, folder: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  for (const [name, file] of exportPaths(root)) write(declarationFileOf(name), declarationsOf(file))
  write('grammar.txt', commandGrammar())
  write('errors.txt', errorCodes())
  write('hooks.txt', hookTablePage())
  await awake(async () => {
    write('wire.txt', await tourTraffic())
    write('commands.txt', await commandOutputs(join(folder, PROFILE)))
    write('profile.txt', await folderContents(join(folder, PROFILE)))
    const recording = await recordSession()
    write(RECORDING, recording.join('\n'))
    write('recording.txt', recordingShapes(recording))
    write(SHOWN, shownOfRecording(recording))
  })
  write(DONE, '')
}

const linesOf = (file: string): readonly string[] => readFileSync(file, 'utf8').split('\n')

/** Keeps the process alive during a task; the kernel's timers do not. */
const awake = async <T>(task: () => Promise<T>): Promise<T> => {
  const alive = setInterval(() => {}, 60_000)
  return task().finally(() => clearInterval(alive))
}

/** The declaration file of each export path; a path with a star stands for what the docs and examples import of it. */
const exportPaths = (root: string): ReadonlyMap<string, string> => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>
  }
  const texts = [...readTree(root, ['docs', 'examples'], /\.(md|tsx?)$/).values()].join('\n')
  const used = new Set([...texts.matchAll(/'holdfast(\/[\w/-]+)'/g)].map(([, path]) => `.${path}`))
  const found = new Map<string, string>()
  for (const [path, target] of Object.entries(exports)) {
    if (typeof target === 'string') continue
    const [before, after] = path.split('*')
    const paths = after === undefined ? [path] : [...used].filter(name => name.startsWith(before ?? ''))
    for (const name of paths) {
      const file = join(root, target.types.replace('*', name.slice((before ?? '').length)))
      if (existsSync(file)) found.set(`holdfast${name.slice(1)}`, file)
    }
  }
  return found
}

/** A clone at a commit, kept for the next comparison with it. */
const checkOut = (root: string, commit: string): string => {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const id = git('rev-parse', '--short', `${commit}^{commit}`)
  const folder = join(root, '.build/freeze', id)
  if (!existsSync(folder)) {
    git('clone', '--quiet', '--shared', '--no-checkout', root, folder)
    git('-C', folder, 'checkout', '--quiet', '--detach', id)
    cpSync(join(root, 'node_modules'), join(folder, 'node_modules'), { recursive: true })
  }
  return folder
}

const renamesOf = (root: string): ReadonlyMap<string, string> =>
  new Map(Object.entries(readJson<Record<string, string>>(root, 'scripts/freeze/renames.json')))

const readJson = <T>(root: string, path: string): T => JSON.parse(readFileSync(join(root, path), 'utf8'))

await main()
