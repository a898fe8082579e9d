import { fileURLToPath } from 'node:url'
import { isWalletError } from '../kernel/plugin-api.ts'

/** How much is checked: `quick` in a second, `full` with faults and random input, `live` with the real network. */
export type CheckLevel = 'quick' | 'full' | 'live'

/** The facts of one check, for lists and reports. */
export interface CheckInfo {
  /** Stable, such as `rates.figures`. */
  readonly id: string
  /** The level from which it runs. */
  readonly level: CheckLevel
  /** Why the check exists, in a sentence. */
  readonly reason: string
  /** The sentence of the specification that it checks, by its id in `docs/requirements.json`, or a heading of the docs. */
  readonly clause: string
  /** What to change in a plugin that fails it. */
  readonly hint: string
}

/** A check of a suite. It fails by a throw. */
export interface Check<Subject> extends CheckInfo {
  run(subject: Subject): Promise<void>
}

/** A check as one suite runs it: its facts, with what it is run on. */
export interface PlannedCheck extends CheckInfo {
  /** The id, and the case if the check runs once for each case of the author. */
  readonly title: string
  run(): Promise<void>
}

/** The result of one check. */
export interface CheckResult extends CheckInfo {
  readonly title: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** What was found, or why the check was skipped; empty if it passed. */
  readonly message: string
  /** How long it took, in milliseconds. */
  readonly durationMs: number
}

/** The checks of one plugin. */
export interface Suite {
  readonly pluginId: string
  readonly kind: string
  readonly level: CheckLevel
  readonly checks: readonly PlannedCheck[]
}

/** Options that every suite has. */
export interface SuiteOptions {
  /** `full` if left out. */
  readonly level?: CheckLevel
  /** Starts the random input of a run; a failure names its seed. */
  readonly seed?: number
}

/** Selects the checks that run, and receives each result. */
export interface RunOptions {
  /** Only checks whose title contains one of these texts. */
  readonly only?: readonly string[]
  readonly onResult?: (result: CheckResult) => void
}

/** Ends a check as failed. */
class CheckFailure extends Error {
  override readonly name: string = 'CheckFailure'
}

/** Ends a check as skipped, with the reason. */
class CheckSkip extends Error {
  override readonly name: string = 'CheckSkip'
}

/** Fails the check with a sentence unless the condition holds. */
export function must(holds: boolean, sentence: () => string): asserts holds {
  if (!holds) throw new CheckFailure(sentence())
}

/** Skips the check, with the reason. */
export const skip = (reason: string): never => {
  throw new CheckSkip(reason)
}

const RANK: Readonly<Record<CheckLevel, number>> = { quick: 0, full: 1, live: 2 }

/** Makes the suite of a plugin: the checks that its level includes. */
export const planSuite = <Subject>(
  about: Pick<Suite, 'pluginId' | 'kind'> & Pick<SuiteOptions, 'level'>,
  checks: readonly Check<Subject>[],
  subject: Subject,
  cases: readonly PlannedCheck[] = []
): Suite => {
  const { pluginId, kind, level = 'full' } = about
  const planned = checks.map(check => ({ ...infoOf(check), title: check.id, run: () => check.run(subject) }))
  const isIncluded = (check: CheckInfo): boolean => RANK[check.level] <= RANK[level]
  return { pluginId, kind, level, checks: [...cases, ...planned].filter(isIncluded) }
}

/** The facts of a check without what runs it. */
const infoOf = ({ id, level, reason, clause, hint }: CheckInfo): CheckInfo => ({
  id,
  level,
  reason,
  clause,
  hint
})

/**
 * Runs the checks of a suite one after another, and returns their results. It throws for none of them.
 *
 * @example
 * ```ts
 * import { formatResults, rateSuite, runSuite } from 'holdfast/testing'
 * import type { RatePlugin } from 'holdfast/plugin'
 *
 * declare const shop: RatePlugin
 * const suite = rateSuite(shop, { valid: [{ wanted: ['BTC iso:USD'], offers: { 'BTC iso:USD': 64_000 } }] })
 * console.log(formatResults(suite, await runSuite(suite), 'tap'))
 * ```
 */
export const runSuite = async (
  suite: Suite,
  { only, onResult }: RunOptions = {}
): Promise<readonly CheckResult[]> => {
  const results: CheckResult[] = []
  for (const check of suite.checks) {
    if (only !== undefined && !only.some(text => check.title.includes(text))) continue
    const result = await runCheck(check)
    results.push(result)
    onResult?.(result)
  }
  return results
}

/** Runs one check. A check that does not end within a minute of real time fails. */
export const runCheck = async (check: PlannedCheck): Promise<CheckResult> => {
  const started = performance.now()
  const end = (outcome: CheckResult['outcome'], message: string): CheckResult => ({
    ...infoOf(check),
    title: check.title,
    outcome,
    message,
    durationMs: Math.round(performance.now() - started)
  })
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>((_resolve, reject) => {
    const failure = new CheckFailure('It did not end within a minute')
    timer = setTimeout(() => reject(failure), CHECK_MS)
  })
  try {
    await Promise.race([check.run(), tooLong])
    return end('passed', '')
  } catch (thrown) {
    if (thrown instanceof CheckSkip) return end('skipped', thrown.message)
    return end('failed', thrown instanceof CheckFailure ? thrown.message : describeError(thrown))
  } finally {
    clearTimeout(timer)
  }
}

const CHECK_MS = 60_000

/** An error in a line: its code or name, its message, and the line of an author's file that threw it, if that is known. */
export const describeError = (error: unknown): string => {
  if (error === undefined) return 'nothing'
  if (!(error instanceof Error)) return `a thrown ${typeof error}`
  return `${isWalletError(error) ? error.code : error.name}: ${error.message}${placeOf(error)}`
}

/** Where the first cause of an error was thrown: in a file below the working folder that is no package and none of the kit's. */
const placeOf = (error: Error): string => {
  let first = error
  for (let depth = 0; first.cause instanceof Error && depth < 10; depth += 1) first = first.cause
  const folder = `${process.cwd()}/`
  // A project may stand in a folder of a copy of this one.
  const isWithinKit = folder !== KIT && folder.startsWith(KIT)
  for (const line of (first.stack ?? '').split('\n')) {
    const [, name = '', at = ''] = /^\s+at (?:.*? \()?((?:file:\/\/)?\/.+?)(:\d+:\d+)\)?$/.exec(line) ?? []
    const file = pathOf(name)
    const isKit = !isWithinKit && file.startsWith(KIT)
    if (file.startsWith(folder) && !file.includes('/node_modules/', folder.length) && !isKit)
      return ` (at ${file.slice(folder.length)}${at})`
  }
  return ''
}

/** The path of an address, in which blanks and letters of other alphabets are written otherwise. */
const pathOf = (name: string): string => {
  try {
    return name.startsWith('file:') ? fileURLToPath(name) : name
  } catch {
    return ''
  }
}

/** The folder that the kit is part of. */
const KIT = pathOf(import.meta.url).replace(/\/dist\/.*/, '/')

/** Refuses cases of one name: the second was meant to be another one. @throws TypeError */
export const checkDistinct = (names: readonly string[]): void => {
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw new TypeError(`Two cases are called "${twice}"; give one of them another name`)
}
