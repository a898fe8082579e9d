import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError } from 'commander'
import { findMutants, type Mutant } from './mutants.ts'

/**
 * Breaks the code in one place at a time and looks whether a test sees it.
 *
 * Each mutant runs only the test files that execute the broken place, nearest first, and stops at the first failure. A
 * mutant that no test sees is a survivor: it is printed, and fails the run unless `test/mutants-judged.json` says why it
 * does not matter. The seed is printed; with it the same mutants are drawn again from the same code.
 *
 * @example npm run test:mutants -- --count 20 --seed 7 --only kernel/crypto
 */

interface Options {
  readonly count: number
  readonly seed: number
  readonly only?: string
  readonly minutes?: number
}

/** A survivor that somebody has looked at. The place is found again by its text, whatever line it moves to. */
interface Judged {
  readonly file: string
  readonly line: string
  readonly change: string
  readonly reason: string
}

/** The rooms where a wrong line costs keys or money, or loses data. */
const ROOMS = [
  'kernel/crypto',
  'kernel/keys',
  'kernel/login',
  'kernel/repo',
  'kernel/wallet',
  'kernel/swap/rank-quotes',
  'kernel/swap/check-payees',
  'kernel/rates/route',
  'kernel/rates/rate-graph',
  'plugins/currency/utxo/select',
  'plugins/currency/utxo/build',
  'plugins/currency/utxo/ledger'
]

const root = process.cwd()
const dist = join(root, 'dist')
const home = join(root, '.build/mutants')
const out = join(home, 'dist')
const JUDGED = 'test/mutants-judged.json'

const wholeNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

const parseOptions = (): Options =>
  new Command('npm run test:mutants --')
    .description('Breaks the code in one place at a time and looks whether a test sees it.')
    .option('--count <mutants>', 'how many are drawn', wholeNumber, 200)
    .option('--seed <number>', 'draws the same ones again', wholeNumber, Math.floor(Math.random() * 2 ** 30))
    .option('--only <path>', 'only files whose path begins so')
    .option('--minutes <minutes>', 'draws no more after so many minutes', wholeNumber)
    .parse()
    .opts<Options>()

/** Uniform numbers in 0 to 1 that follow from a seed (mulberry32). */
const randomOf = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Which bytes of a file a test file executed: of nested blocks the innermost decides. */
type Executed = readonly {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}[]

/** By file of `dist`, by test file. */
type Coverage = Record<string, Record<string, Executed>>

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(root, join(entry.parentPath, entry.name)))

const targets = (only: string | undefined): string[] =>
  ROOMS.flatMap(room => {
    const folder = room.slice(0, room.lastIndexOf('/'))
    const isFolder = existsSync(join(dist, room))
    return filesBelow(join(dist, isFolder ? room : folder)).filter(path =>
      path.startsWith(join('dist', room))
    )
  })
    .filter(path => path.endsWith('.js'))
    .filter(path => only === undefined || path.startsWith(join('dist', only)))
    .sort()

const runAva = (
  files: readonly string[],
  { folder, env, limitMs }: { folder: string; env?: NodeJS.ProcessEnv; limitMs: number }
): Promise<'passed' | 'failed' | 'late'> =>
  new Promise((resolve, reject) => {
    const ava = join(root, 'node_modules/ava/entrypoints/cli.mjs')
    const child = spawn(process.execPath, [ava, '--fail-fast', ...files], {
      env: { ...process.env, HOLDFAST_TEST_OUT: folder, HOLDFAST_SUITE: 'unit', ...env },
      stdio: 'ignore',
      detached: true
    })
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, limitMs)
    child.on('error', reject)
    child.on('close', code => {
      clearTimeout(timer)
      resolve(isLate ? 'late' : code === 0 ? 'passed' : 'failed')
    })
  })

/** What each test file executes, from one run of `npm test`; kept until the code changes. */
const coverageOf = async (): Promise<Coverage> => {
  const stamp = readFileSync(join(dist, '.build-stamp'), 'utf8')
  const path = join(home, 'coverage.json')
  if (existsSync(path)) {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as { stamp: string; coverage: Coverage }
    if (kept.stamp === stamp) return kept.coverage
  }
  console.log('Running every test once, to see which code each of them executes (some minutes)…')
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-coverage-'))
  try {
    const all = await runAva([], { folder: 'dist', env: { NODE_V8_COVERAGE: folder }, limitMs: 1_800_000 })
    if (all !== 'passed') throw new Error('The tests fail as they are; run npm test first.')
    const coverage: Coverage = {}
    for (const name of readdirSync(folder)) collect(coverage, join(folder, name))
    mkdirSync(home, { recursive: true })
    writeFileSync(path, JSON.stringify({ stamp, coverage }))
    return coverage
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface V8Report {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: Executed }[]
  }[]
}

/** Adds what one process executed, if it was that of a test file. */
const collect = (coverage: Coverage, path: string): void => {
  const { result } = JSON.parse(readFileSync(path, 'utf8')) as V8Report
  const ours = result.flatMap(({ url, functions }) => {
    if (!url.startsWith('file:')) return []
    const file = relative(root, fileURLToPath(url))
    return [{ file, functions }]
  })
  const test = ours.find(({ file }) => file.startsWith('dist/test/') && file.endsWith('.test.js'))?.file
  if (test === undefined) return
  for (const { file, functions } of ours) {
    if (!ROOMS.some(room => file.startsWith(join('dist', room)))) continue
    const byTest = coverage[file] ?? {}
    byTest[test] = functions.flatMap(({ ranges }) => ranges)
    coverage[file] = byTest
  }
}

/** The tests that execute a place, those of the least code first: they know it best and fail soonest. */
const testsOf = (coverage: Coverage, { file, start }: Mutant): string[] =>
  Object.entries(coverage[file] ?? {})
    .filter(([, ranges]) => isExecuted(ranges, start))
    .map(([test]) => test)
    .sort((a, b) => nearness(b, file) - nearness(a, file) || a.localeCompare(b))

const isExecuted = (ranges: Executed, at: number): boolean => {
  let best: Executed[number] | undefined
  for (const range of ranges) {
    if (range.startOffset > at || range.endOffset <= at) continue
    const isInner =
      best === undefined || range.endOffset - range.startOffset <= best.endOffset - best.startOffset
    if (isInner) best = range
  }
  return (best?.count ?? 0) > 0
}

/** How many folders of a path a test shares with the file: tests mirror the sources. */
const nearness = (test: string, file: string): number => {
  const theirs = test.replace('dist/test/', '').split('/')
  const ours = file.replace('dist/', '').split('/')
  let shared = 0
  while (shared < theirs.length && theirs[shared] === ours[shared]) shared += 1
  return shared
}

const FIRST = 6
const LIMIT_MS = 600_000

/** Runs the tests of one mutant: the nearest alone first, since most mutants die there. */
const isSeen = async ({ file, text }: Mutant, tests: readonly string[]): Promise<boolean> => {
  const path = join(out, relative('dist', file))
  const before = readFileSync(join(root, file))
  const within = tests.map(test => join('.build/mutants', test))
  rmSync(path)
  writeFileSync(path, text)
  try {
    for (const part of [within.slice(0, 1), within.slice(1, FIRST), within.slice(FIRST)]) {
      if (part.length === 0) continue
      if ((await runAva(part, { folder: '.build/mutants/dist', limitMs: LIMIT_MS })) !== 'passed') return true
    }
    return false
  } finally {
    writeFileSync(path, before)
  }
}

const main = async (): Promise<void> => {
  const { count, seed, only, minutes } = parseOptions()
  console.log(`seed ${seed}`)
  const coverage = await coverageOf()
  rmSync(out, { recursive: true, force: true })
  cpSync(dist, out, { recursive: true })
  const judged = JSON.parse(readFileSync(join(root, JUDGED), 'utf8')) as readonly Judged[]
  const random = randomOf(seed)
  const pool = targets(only).flatMap(file => findMutants(file, readFileSync(join(root, file), 'utf8')))
  const endAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
  let seen = 0
  let known = 0
  const survivors: Mutant[] = []
  for (let drawn = 0; drawn < count && pool.length > 0 && Date.now() < endAt; drawn += 1) {
    const [mutant] = pool.splice(Math.floor(random() * pool.length), 1)
    if (mutant === undefined) break
    const tests = testsOf(coverage, mutant)
    if (tests.length > 0 && (await isSeen(mutant, tests))) {
      seen += 1
      continue
    }
    const judgement = judged.find(
      ({ file, line, change }) => file === mutant.file && line === mutant.line && change === mutant.change
    )
    if (judgement === undefined) survivors.push(mutant)
    else known += 1
    const verdict =
      judgement === undefined ? `survived ${tests.length} test files` : `judged: ${judgement.reason}`
    console.log(`${mutant.file}:${mutant.row}: ${mutant.change}\n    ${mutant.line}\n    ${verdict}`)
  }
  console.log(`\n${seen} seen by a test, ${known} judged before, ${survivors.length} survived; seed ${seed}`)
  console.log(`\n${seen + known} passed, ${survivors.length} failed`)
  process.exitCode = survivors.length > 0 ? 1 : 0
}

await main()
