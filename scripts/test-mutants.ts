import { readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { makeChance } from '../test/helpers/drawn-runs.ts'
import { lookAtTest, readFacts, type TestFacts, testsOf, unitTests, writeFacts } from './mutant-tests.ts'
import { type MutantTree, makeMutantTree } from './mutant-tree.ts'
import { findMutants, type Mutant } from './mutants.ts'
import { readTree } from './project-files.ts'

/**
 * Breaks the code in one place at a time and looks whether a test sees it.
 *
 * Each mutant lives in a copy of the emitted code and runs only the test files that execute the broken place, until the
 * first failure. A mutant that no test sees is a survivor: it is printed, and fails the run unless
 * `test/mutants-judged.json` says why it does not matter. The seed is printed; with it the same mutants are drawn again
 * from the same code.
 *
 * @example npm run test:mutants -- --count 20 --seed 7 --only kernel/crypto
 */

interface Options {
  readonly count: number
  readonly seed: number
  readonly only: string
  readonly minutes?: number
  readonly json?: true
}

/** A survivor that somebody has looked at. The place is found again by its text, whatever line it moves to. */
interface Judged {
  readonly file: string
  readonly line: string
  readonly change: string
  readonly reason: string
}

interface Verdict {
  readonly mutant: Mutant
  /** `late`: a test ran out of time, as it does when a loop no longer ends. */
  readonly end: 'failed' | 'late' | 'passed'
  /** The test that saw it. */
  readonly by?: string
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
  let told = 0
  return (done, words) => {
    const isTerminal = process.stderr.isTTY
    if (!isTerminal && Date.now() - told < 30_000 && done < total) return
    told = Date.now()
    const minutes = Math.ceil(((told - start) / done) * ((total - done) / 60_000))
    const line = `${done} of ${total}${words}${done < total ? `, about ${minutes} min left` : ''}`
    process.stderr.write(isTerminal ? `\r\u001b[K${line}${done < total ? '' : '\n'}` : `${line}\n`)
  }
}

/** What each test file executes; only those that have changed since are looked at again. */
const factsOf = async (trees: readonly MutantTree[]): Promise<TestFacts[]> => {
  const path = join(home, 'tests.json')
  const facts = readFacts(root, path)
  const all = unitTests(root)
  const fresh = all.filter(file => !facts.has(file))
  if (fresh.length > 0) console.error(`Looking which code each of ${fresh.length} test files executes…`)
  const progress = makeProgress(fresh.length)
  let done = 0
  await forEach(trees, fresh, async (tree, file) => {
    facts.set(file, await lookAtTest(tree, file, { root, isTarget }))
    done += 1
    progress(done, ' test files')
    if (done % 20 === 0 || done === fresh.length) writeFacts(path, facts.values())
  })
  const known = all.flatMap(file => facts.get(file) ?? [])
  const failing = known.filter(test => !test.passes).map(({ file }) => file)
  if (failing.length > 0) console.error(`left out, because they fail in unbroken code: ${failing.join(', ')}`)
  return known
}

/** No mutant runs more tests than take this long together. */
const LIMIT_MS = 240_000

const withinLimit = (tests: readonly TestFacts[]): TestFacts[] => {
  let sum = 0
  return tests.filter(({ ms }) => {
    sum += ms
    return sum <= LIMIT_MS
  })
}

const judge = async (tree: MutantTree, mutant: Mutant, facts: readonly TestFacts[]): Promise<Verdict> => {
  const reaching = testsOf(root, facts, mutant)
  const tests = withinLimit(reaching)
  const times = new Map(tests.map(({ file, ms }) => [file, ms]))
  // Other work on the machine must not look like a loop without an end.
  const limitMs = (file: string): number => 20_000 + 8 * (times.get(file) ?? 0)
  const counts = { mutant, ran: tests.length, reach: reaching.length }
  const whole = tree.write(mutant.file, mutant.text)
  try {
    let left = tests.map(({ file }) => file)
    while (left.length > 0) {
      const run = await tree.run(left, { limitMs })
      if (run.end === 'passed') break
      const at = left.indexOf(run.file)
      // What other files left in the process may have failed it, so it is asked again alone.
      const alone = at === 0 ? run : await tree.run([run.file], { limitMs })
      if (alone.end !== 'passed') return { ...counts, end: alone.end, by: `${run.file} ${run.title}`.trim() }
      left = left.slice(at + 1)
    }
    return { ...counts, end: 'passed' }
  } finally {
    tree.write(mutant.file, whole)
  }
}

const readJudged = (): readonly Judged[] =>
  JSON.parse(readFileSync(join(root, 'test/mutants-judged.json'), 'utf8'))

const keyOf = ({ file, line, change }: Judged | Mutant): string => [file, line, change].join('\n')

/** Draws from every mutant of the rooms; those that are judged are not run. */
const draw = ({ count, seed, only }: Options): { drawn: Mutant[]; judged: number } => {
  const reasons = new Set(readJudged().map(keyOf))
  const files = [...readTree(root, ['dist/kernel', 'dist/plugins'], /\.js$/)]
  const pool = files
    .filter(([file]) => isTarget(file) && file.startsWith(`dist/${only}`))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([file, text]) => findMutants(file, text))
  const chance = makeChance(seed)
  const drawn: Mutant[] = []
  while (drawn.length < count && pool.length > 0) drawn.push(...pool.splice(chance.below(pool.length), 1))
  const open = drawn.filter(mutant => !reasons.has(keyOf(mutant)))
  return { drawn: open, judged: drawn.length - open.length }
}

const describe = ({ mutant, end, by, ran, reach }: Verdict): string => {
  const { file, row, change, line } = mutant
  const tests = reach === 0 ? 'no test executes it' : `${ran} of ${reach} test files ran`
  const fate = end === 'passed' ? `survived: ${tests}` : `${end}: ${by}`
  return `${file}:${row}: ${change}\n    ${line}\n    ${fate}`
}

const report = (options: Options, judged: number, verdicts: readonly Verdict[]): void => {
  const survivors = verdicts.filter(({ end }) => end === 'passed')
  const late = verdicts.filter(({ end }) => end === 'late')
  const seen = verdicts.length - survivors.length
  if (options.json === true) {
    const rows = survivors.map(({ mutant: { text: _text, ...place }, ran, reach }) => ({
      ...place,
      ran,
      reach
    }))
    console.log(
      JSON.stringify({ seed: options.seed, seen, late: late.length, judged, survivors: rows }, null, 2)
    )
  } else {
    for (const verdict of [...late, ...survivors]) console.log(describe(verdict))
    console.log(
      `\n${seen} seen by a test (${late.length} by a time limit), ${judged} judged before, ` +
        `${survivors.length} survived; seed ${options.seed}`
    )
  }
  if (survivors.length > 0) process.exitCode ??= 1
}

const main = async (): Promise<void> => {
  const options = parseOptions()
  console.error(`seed ${options.seed}`)
  const { drawn, judged } = draw(options)
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
    report(options, judged, verdicts)
  })
  const facts = await factsOf(trees)
  const progress = makeProgress(drawn.length)
  const endAt = Date.now() + (options.minutes ?? Number.POSITIVE_INFINITY) * 60_000
  await forEach(trees, drawn, async (tree, mutant) => {
    if (Date.now() > endAt) return
    const verdict = await judge(tree, mutant, facts)
    verdicts.push(verdict)
    if (verdict.end === 'passed') console.error(describe(verdict))
    progress(verdicts.length, ` mutants, ${verdicts.filter(({ end }) => end === 'passed').length} survived`)
  })
}

await main()
