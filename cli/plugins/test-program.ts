import { pathToFileURL } from 'node:url'
import type {
  CheckInfo,
  CheckLevel,
  CheckResult,
  PlannedCheck,
  runSuite,
  Suite
} from '../../testing/suite.ts'
import { type EndedTest, TestCollector } from './test-collector.ts'

/** What the process of the tests is to do: the only message that it gets. */
export interface TestRequest {
  /** Of the file that {@link bundleTests} has made. */
  readonly bundle: string
  readonly level: CheckLevel
  /** Only what has one of these texts in its title; all if there is none. */
  readonly only?: readonly string[] | undefined
  /** True to tell of the checks, and run none. */
  readonly isList?: boolean | undefined
  /** True to leave out what the file declares with `node:test`. */
  readonly isSuiteAlone?: boolean | undefined
}

/** A check or a test, as it is listed. */
export type ListedCheck = CheckInfo & Pick<PlannedCheck, 'title'>

/** What the process says, in this order; `problem` is its last word. */
export type TestMessage =
  | { readonly type: 'suite'; readonly suite: Omit<Suite, 'checks'>; readonly checks: readonly ListedCheck[] }
  | { readonly type: 'start'; readonly title: string }
  | { readonly type: 'result'; readonly result: CheckResult }
  | { readonly type: 'end' }
  | { readonly type: 'problem'; readonly problem: string; readonly hint?: string }

/** What a bundle of tests exports. */
interface TestBundle {
  readonly tests: Readonly<Record<string, unknown>>
  readonly runSuite: typeof runSuite
}

const OWN = {
  id: 'test',
  level: 'quick',
  reason: 'A test of the author of the plugin.',
  clause: '',
  hint: ''
} as const

const say = (message: TestMessage): void => void process.send?.(message)

const run = async (request: TestRequest): Promise<void> => {
  const { level, isList, isSuiteAlone } = request
  const collector = new TestCollector()
  Object.assign(globalThis, { [Symbol.for('holdfast.test-api')]: collector.api })
  const bundle = (await import(pathToFileURL(request.bundle).href)) as TestBundle
  await collector.settled()
  const { suite: make } = bundle.tests
  if (typeof make !== 'function') {
    say({
      type: 'problem',
      problem:
        make === undefined
          ? 'it does not export suite'
          : `its export suite is of the type ${typeof make}, and no function`,
      hint: 'Write: export const suite = (options?: SuiteOptions) => rateSuite(plugin, { valid: […], ...options })'
    })
    return
  }
  const suite = checkedSuite(await make({ level }))
  const isOfSuite = new Set(
    [suite, checkedSuite(await make())].flatMap(({ pluginId, checks }) =>
      checks.map(({ title }) => `${pluginId}: ${title}`)
    )
  )
  const { only = [] } = request
  const isMeant = ({ title }: { readonly title: string }): boolean =>
    only.length === 0 || only.some(text => title.includes(text))
  const tests =
    isSuiteAlone === true ? [] : collector.tests.filter(each => !isOfSuite.has(each.title) && isMeant(each))
  const checks = suite.checks.filter(isMeant)
  const { pluginId, kind } = suite
  say({
    type: 'suite',
    suite: { pluginId, kind, level: suite.level },
    checks: [...checks.map(listed), ...tests.map(({ title }) => ({ ...OWN, title }))]
  })
  if (isList === true) return
  const announced = checks.map(check => ({
    ...check,
    run: () => {
      say({ type: 'start', title: check.title })
      return check.run()
    }
  }))
  await bundle.runSuite(
    { ...suite, checks: announced },
    { onResult: result => say({ type: 'result', result }) }
  )
  await collector.run(tests, {
    onStart: title => say({ type: 'start', title }),
    onEnd: ended => say({ type: 'result', result: resultOf(ended) })
  })
}

const checkedSuite = (given: unknown): Suite => {
  const { pluginId, checks } = (given ?? {}) as Partial<Suite>
  if (typeof pluginId === 'string' && Array.isArray(checks)) return given as Suite
  throw new TypeError(
    'The function suite returns no suite: return what rateSuite, or that of another kind, does'
  )
}

const listed = ({ id, title, level, reason, clause, hint }: PlannedCheck): ListedCheck => ({
  ...{ id, title, level, reason, clause, hint }
})

const resultOf = ({ title, outcome, reason = '', error, durationMs }: EndedTest): CheckResult => ({
  ...{ ...OWN, title, outcome, durationMs },
  message: outcome === 'failed' ? textOf(error) : reason
})

const MAX_TEXT = 4000

/** An error with the lines of its stack that are no lines of Node. */
const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return `It throws a ${typeof error}`
  const lines = (error.stack ?? error.message).split('\n')
  return lines
    .filter(line => !/^\s+at .*(?:node:|test-program|\bat async Promise\.all)/.test(line))
    .join('\n')
    .slice(0, MAX_TEXT)
}

// What the tests leave open ends with the command that has started this process.
process.on('disconnect', () => process.exit(1))
// It is ended by the one that has all messages.
process.once('message', given =>
  run(given as TestRequest).then(
    () => say({ type: 'end' }),
    error => say({ type: 'problem', problem: `it fails when it is loaded: ${textOf(error)}` })
  )
)
