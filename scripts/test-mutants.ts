import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { makeSeededRandom } from '../test/helpers/drawn-runs.ts'
import { findStale, type JudgedMutant, keyOf, readJudged } from './judged-mutants.ts'
import {
  lookAtTest,
  proofTests,
  readFacts,
  type TestFacts,
  testsOf,
  unitTests,
  writeFacts
} from './mutant-tests.ts'
import { type MutantTree, makeMutantTree } from './mutant-tree.ts'
import { findMutants, type Mutant } from './mutants.ts'
import { readTree } from './project-files.ts'

/**
 * Breaks the code in one place at a time and looks whether a test sees it.
 *
 * Each mutant lives in a copy of the emitted code and runs only the test files of `npm test` that execute the broken
 * place, until the first failure. One that none of them sees is shown to the proofs that execute the place, as they are
 * drawn with one fixed seed, and if a proof fails it is listed apart: it may get a quick test, and needs none. A mutant
 * that nothing sees is a survivor: it is printed, and fails the run unless `test/mutants-judged.json` says why it does not
 * matter. The seed is printed; with it the same mutants are drawn again from the same code.
 *
 * A survivor matters if it changes
 * - money: amounts, payees, fees, what is signed, sent, reserved, or taken for confirmed;
 * - keys or secrets: how they are made, kept, compared, shown or destroyed;
 * - whether an owner can log in, or somebody else;
 * - what is durable, merged, quarantined or deleted;
 * - an answer or an error that a user, a plugin or a server sees.
 *
 * It does not matter if it only changes
 * - how much work is done, when, or in pieces of which size, while the result is the same;
 * - the words of a log line or of an error;
 * - a second line of defence whose first line has a test.
 *
 * One that matters gets a test in `npm test`, best one that covers what the function promises and not this line alone.
 *
 * @example npm run test:mutants -- --count 20 --seed 7 --only kernel/crypto
 */

interface Options {
  readonly count: number
  readonly seed: number
  readonly only: string
  readonly proofs: boolean
  readonly minutes?: number
  readonly json?: true
}

interface Verdict {
  readonly mutant: Mutant
  /** `late`: a test ran out of time, as it does when a loop no longer ends. */
  readonly end: 'failed' | 'late' | 'passed'
  /** The test that saw it, and whether that is a proof and no test of `npm test`. */
  readonly by?: string
  readonly isProof?: boolean
  /** How many test files ran, of how many that execute the place. */
  readonly ran: number
  readonly reach: number
}

/** The code where a wrong line costs keys or money, or loses data. */
const ROOMS = [
  'kernel/crypto/',
  'kernel/keys/',
  'kernel/login/',
  'kernel/repo/',
  'kernel/store/',
  'kernel/sync/',
  'kernel/wallet/spend/draft',
  'kernel/wallet/spend/open-payments',
  'kernel/wallet/spend/reviewed-transaction',
  'kernel/wallet/spend/sign',
  'kernel/wallet/spend/spender',
  'kernel/swap/ranking',
  'kernel/swap/payees',
  'kernel/rates/search',
  'kernel/rates/graph',
  'plugins/currency/utxo/spend/select-coins',
  'plugins/currency/utxo/spend/choose-coins',
  'plugins/currency/utxo/wallet/ledger'
]

const root = process.cwd()
const home = join(root, '.build/mutants')
const isTarget = (file: string): boolean => ROOMS.some(room => file.startsWith(`dist/${room}`))

const wholeNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

const parseOptions = (): Options =>
  new Command('npm run test:mutants --')
    .description('Breaks the code in one place at a time and looks whether a test sees it.')
    .option('--count <mutants>', 'how many are drawn', wholeNumber, 200)
    .option('--seed <number>', 'draws the same ones again', wholeNumber, Math.floor(Math.random() * 2 ** 30))
    .option('--only <path>', 'only files whose path begins so, such as kernel/crypto', '')
    .option('--no-proofs', 'shows survivors to no proof')
    .option('--minutes <minutes>', 'begins no more after so many minutes', wholeNumber)
    .option('--json', 'prints what was found as JSON; progress goes to the error stream')
    .parse()
    .opts<Options>()

/** Works through a list with every tree at once. */
const forEach = async <T>(
  trees: readonly MutantTree[],
  items: readonly T[],
  work: (tree: MutantTree, item: T) => Promise<void>
): Promise<void> => {
  const left = [...items]
  await Promise.all(
    trees.map(async tree => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(tree, item)
    })
  )
}

/** One line that says how far a task is, and how long it will take. */
const makeProgress = (total: number): ((done: number, words: string) => void) => {
  const start = Date.now()
  let reported = 0
  return (done, words) => {
    const isTerminal = process.stderr.isTTY
    if (!isTerminal && Date.now() - reported < 30_000 && done < total) return
    reported = Date.now()
    const minutes = Math.ceil(((reported - start) / done) * ((total - done) / 60_000))
    const line = `${done} of ${total}${words}${done < total ? `, about ${minutes} min left` : ''}`
    process.stderr.write(isTerminal ? `\r\u001b[K${line}${done < total ? '' : '\n'}` : `${line}\n`)
  }
}

/** A group of tests, and how it is run. */
interface Suite {
  readonly name: string
  readonly files: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** How long one file may run in unbroken code. */
  readonly fileLimitMs: number
  /** No mutant runs more tests of the suite than take this long together. */
  readonly mutantLimitMs: number
}

const unitSuite: Suite = {
  name: 'tests',
  files: unitTests(root),
  env: {},
  fileLimitMs: 300_000,
  // All of them: a survivor is one that no test sees, and there are few.
  mutantLimitMs: Number.POSITIVE_INFINITY
}

// The same runs are drawn when it is noted what they execute and when a mutant is shown to them.
const proofSuite: Suite = {
  name: 'proofs',
  files: proofTests(root),
  env: { HOLDFAST_SEED: '1' },
  fileLimitMs: 600_000,
  mutantLimitMs: 120_000
}

interface KnownSuite extends Suite {
  readonly facts: readonly TestFacts[]
}

/** What each test file of a suite executes; only those that have changed since are looked at again. */
const knowSuite = async (trees: readonly MutantTree[], suite: Suite): Promise<KnownSuite> => {
  const { name, files, env, fileLimitMs: limitMs } = suite
  const path = join(home, `${name}.json`)
  const facts = readFacts(root, path)
  const fresh = files.filter(file => !facts.has(file))
  if (fresh.length > 0)
    console.error(`Finding the code that each of ${fresh.length} files of ${name} executes…`)
  const progress = makeProgress(fresh.length)
  let done = 0
  await forEach(trees, fresh, async (tree, file) => {
    facts.set(file, await lookAtTest(tree, file, { root, isTarget, limitMs, env }))
    done += 1
    progress(done, ` files of ${name}`)
    if (done % 20 === 0 || done === fresh.length) writeFacts(path, facts.values())
  })
  const known = files.flatMap(file => facts.get(file) ?? [])
  const failing = known.filter(test => !test.passes).map(({ file }) => file)
  if (failing.length > 0) console.error(`left out, because they fail without a mutant: ${failing.join(', ')}`)
  return { ...suite, facts: known }
}

const withinLimit = (tests: readonly TestFacts[], limitMs: number): TestFacts[] => {
  let sum = 0
  return tests.filter(({ ms }) => {
    sum += ms
    return sum <= limitMs
  })
}

/** Runs the tests of a suite that execute the broken place, in a tree where it is broken. */
const show = async (tree: MutantTree, mutant: Mutant, suite: KnownSuite): Promise<Verdict> => {
  const { facts, env, mutantLimitMs } = suite
  const reaching = testsOf(root, facts, mutant)
  const tests = withinLimit(reaching, mutantLimitMs)
  const times = new Map(tests.map(({ file, ms }) => [file, ms]))
  // Other work on the machine must not look like a loop without an end.
  const limitMs = (file: string): number => 20_000 + 8 * (times.get(file) ?? 0)
  const counts = { mutant, ran: tests.length, reach: reaching.length }
  let left = tests.map(({ file }) => file)
  while (left.length > 0) {
    const run = await tree.run(left, { limitMs, env })
    if (run.end === 'passed') break
    const at = left.indexOf(run.file)
    // What other files left in the process may have failed it, so it is asked again alone.
    const alone = at === 0 ? run : await tree.run([run.file], { limitMs, env })
    if (alone.end !== 'passed') return { ...counts, end: alone.end, by: `${run.file} ${run.title}`.trim() }
    left = left.slice(at + 1)
  }
  return { ...counts, end: 'passed' }
}

const judge = async (tree: MutantTree, mutant: Mutant, [tests, proofs]: Suites): Promise<Verdict> => {
  const whole = tree.write(mutant.file, mutant.text)
  try {
    const verdict = await show(tree, mutant, tests)
    if (verdict.end !== 'passed' || proofs === undefined) return verdict
    const proof = await show(tree, mutant, proofs)
    return proof.end === 'passed' ? verdict : { ...proof, isProof: true }
  } finally {
    tree.write(mutant.file, whole)
  }
}

type Suites = readonly [tests: KnownSuite, proofs?: KnownSuite]

/** Every mutant of the rooms, in an order that only the code decides. Throws if a room has another name. */
const findPool = (only: string): Mutant[] => {
  const files = [...readTree(root, ['dist/kernel', 'dist/plugins'], /\.js$/)]
  const empty = ROOMS.filter(room => !files.some(([file]) => file.startsWith(`dist/${room}`)))
  if (empty.length > 0) throw new Error(`No built code was found in ${empty.join(', ')}.`)
  return files
    .filter(([file]) => isTarget(file) && file.startsWith(`dist/${only}`))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([file, text]) => findMutants(file, text))
}

/** Draws from every mutant of the rooms; those that are judged are not run. */
const draw = (
  { count, seed, only }: Options,
  known: readonly JudgedMutant[]
): { drawn: Mutant[]; judged: number } => {
  const reasons = new Set(known.map(keyOf))
  const pool = findPool(only)
  const seededRandom = makeSeededRandom(seed)
  const drawn: Mutant[] = []
  while (drawn.length < count && pool.length > 0)
    drawn.push(...pool.splice(seededRandom.below(pool.length), 1))
  const open = drawn.filter(mutant => !reasons.has(keyOf(mutant)))
  return { drawn: open, judged: drawn.length - open.length }
}

const isSurvivor = ({ end }: Verdict): boolean => end === 'passed'

const describe = (verdict: Verdict): string => {
  const { mutant, end, by, isProof, ran, reach } = verdict
  const { file, row, change, line } = mutant
  const tests = reach === 0 ? 'no test executes it' : `${ran} of ${reach} test files ran`
  const fate = isSurvivor(verdict) ? `survived: ${tests}` : `${isProof ? 'a proof only, ' : ''}${end}: ${by}`
  return `${file}:${row}: ${change}\n    ${line}\n    ${fate}`
}

interface Found {
  readonly judged: number
  readonly stale: readonly JudgedMutant[]
  readonly verdicts: readonly Verdict[]
}

const report = ({ seed, json }: Options, { judged, stale, verdicts }: Found): void => {
  const survivors = verdicts.filter(isSurvivor)
  const byProofs = verdicts.filter(({ isProof }) => isProof)
  const late = verdicts.filter(({ end, isProof }) => end === 'late' && !isProof)
  const seen = verdicts.length - survivors.length - byProofs.length
  if (json === true) {
    const rowOf = ({ mutant: { text: _text, ...place }, ran, reach, by }: Verdict): object => ({
      ...place,
      ran,
      reach,
      by
    })
    const rows = { byProofs: byProofs.map(rowOf), survivors: survivors.map(rowOf) }
    console.log(JSON.stringify({ seed, seen, late: late.length, judged, ...rows, stale }, null, 2))
  } else {
    for (const verdict of [...late, ...byProofs, ...survivors]) console.log(describe(verdict))
    for (const { file, line, change } of stale) {
      console.log(`${file}: ${change}\n    ${line}\n    judged, but this place no longer exists`)
    }
    console.log(
      `\n${seen} killed by a test (${late.length} by a time limit), ${byProofs.length} by a proof only, ` +
        `${judged} judged before, ${survivors.length} survived; seed ${seed}`
    )
  }
  if (survivors.length > 0 || stale.length > 0) process.exitCode ??= 1
}

const main = async (): Promise<void> => {
  const options = parseOptions()
  console.error(`seed ${options.seed}`)
  const known = readJudged(root)
  const stale = findStale(root, known)
  const { drawn, judged } = draw(options, known)
  const folder = join(home, 'trees')
  // Those of a run that was killed.
  rmSync(folder, { recursive: true, force: true })
  const width = Math.min(2, availableParallelism())
  const trees = Array.from({ length: width }, (_, at) => makeMutantTree(root, join(folder, String(at))))
  const verdicts: Verdict[] = []
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))
  process.once('exit', () => {
    for (const tree of trees) tree.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    report(options, { judged, stale, verdicts })
  })
  const tests = await knowSuite(trees, unitSuite)
  const suites: Suites = options.proofs ? [tests, await knowSuite(trees, proofSuite)] : [tests]
  const progress = makeProgress(drawn.length)
  const endAt = Date.now() + (options.minutes ?? Number.POSITIVE_INFINITY) * 60_000
  await forEach(trees, drawn, async (tree, mutant) => {
    if (Date.now() > endAt) return
    const verdict = await judge(tree, mutant, suites)
    verdicts.push(verdict)
    if (isSurvivor(verdict) || verdict.isProof) console.error(describe(verdict))
    progress(verdicts.length, ` mutants, ${verdicts.filter(isSurvivor).length} survived`)
  })
}

await main()
