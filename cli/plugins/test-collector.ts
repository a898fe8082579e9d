import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { mock } from 'node:test'

/** A test that a file has declared with `node:test`. */
export interface DeclaredTest {
  /** With the titles of its groups before it. */
  readonly title: string
  readonly options: TestOptions
  readonly group: Group
  readonly run: Run | undefined
}

/** The end of a test, or of one inside it, whose title begins with that of the outer test. */
export interface EndedTest {
  readonly title: string
  readonly outcome: 'failed' | 'passed' | 'skipped'
  /** Why it was skipped. */
  readonly reason?: string | undefined
  /** Of one that failed. */
  readonly error?: unknown
  readonly durationMs: number
}

interface TestOptions {
  readonly skip?: boolean | string
  readonly todo?: boolean | string
  readonly only?: boolean
  readonly timeout?: number
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the file of an author gives; each is called with its context.
type Run = (context: any, done?: any) => unknown
type Declaration = readonly [title?: string | Run, options?: TestOptions | Run, run?: Run]
type HookName = 'after' | 'afterEach' | 'before' | 'beforeEach'

interface Group extends Readonly<Record<HookName, Run[]>> {
  readonly titles: readonly string[]
  readonly parent: Group | undefined
  readonly options: TestOptions
  /** Once `before` has run, its end. */
  started: Promise<void> | undefined
  /** Tests that have not run yet, those of inner groups included. */
  left: number
}

/**
 * What stands for `node:test` in a bundle of tests: it collects what a file declares, so that the tests run as part of the
 * suite and are reported with it. It has tests with inner ones, groups, hooks and the usual parts of a test's context. `skip`,
 * `todo`, `only` and `timeout` mean what they mean there with `--test-only`.
 */
export class TestCollector {
  readonly tests: DeclaredTest[] = []
  readonly #waiting: Promise<unknown>[] = []
  readonly #outermost = groupIn(undefined)

  /** The exports of `node:test`. */
  get api(): Readonly<Record<string, unknown>> {
    const test = withFlags((title, options, run) => this.#test(title, options, run))
    const describe = withFlags((title, options, run) => this.#describe(title, options, run))
    const hook = (name: HookName) => (run: Run) => {
      const here = this.#here
      return here instanceof RunningTest ? here.context[name](run) : void here[name].push(run)
    }
    const hooks = {
      before: hook('before'),
      after: hook('after'),
      beforeEach: hook('beforeEach'),
      afterEach: hook('afterEach')
    }
    Object.assign(test, hooks, { test, it: test, describe, suite: describe, mock })
    return { test, it: test, describe, suite: describe, ...hooks, mock }
  }

  /** Waits for groups that were declared asynchronously. */
  async settled(): Promise<void> {
    await Promise.all(this.#waiting)
  }

  /** Runs some of the tests, one after another; `onStart` is called again when an inner test has ended. */
  async run(
    tests: readonly DeclaredTest[],
    { onStart, onEnd }: { onStart(title: string): void; onEnd(ended: EndedTest): void }
  ): Promise<void> {
    const hasOnly = this.tests.some(isOnly)
    const planned = tests.map(test => ({ ...test, skipped: reasonToSkip(test, hasOnly) }))
    for (const { skipped, group } of planned)
      if (skipped === undefined) for (const each of pathOf(group)) each.left += 1
    for (const { title, options, group, run, skipped } of planned) {
      onStart(title)
      if (run === undefined || skipped !== undefined) {
        onEnd({ title, outcome: 'skipped', reason: skipped, durationMs: 0 })
        continue
      }
      const onInner = (ended: EndedTest): void => {
        onEnd(ended)
        onStart(title)
      }
      const running = new RunningTest(title, { ...options, ...todoOf(group) }, onInner)
      const ended = await running.run(() => runInGroups(pathOf(group), running, run))
      onEnd(await leaveGroups(pathOf(group), running, ended))
    }
  }

  get #here(): Group | RunningTest {
    return PLACE.getStore() ?? this.#outermost
  }

  #describe(title: string, options: TestOptions, run: Run | undefined): void {
    const here = this.#here
    const group = groupIn(here instanceof RunningTest ? this.#outermost : here, title, options)
    const ended = PLACE.run(group, () => run?.({ name: title }))
    if (ended instanceof Promise) this.#waiting.push(ended)
  }

  #test(title: string, options: TestOptions, run: Run | undefined): Promise<void> {
    const group = this.#here
    if (group instanceof RunningTest) return group.context.test(title, options, run)
    this.tests.push({ title: [...group.titles, title].join(SEPARATOR), options, group, run })
    return Promise.resolve()
  }
}

const SEPARATOR = ' › '
/** Where the code that runs now declares: in a group, or in a test that runs. */
const PLACE = new AsyncLocalStorage<Group | RunningTest>()

/** A test while it runs, with what its code says of it. */
class RunningTest {
  readonly title: string
  readonly after: Run[] = []
  readonly beforeEach: Run[] = []
  readonly afterEach: Run[] = []
  readonly context: ReturnType<typeof contextOf>
  readonly #timeoutMs: number | undefined
  readonly #onInner: (ended: EndedTest) => void
  readonly #controller = new AbortController()
  /** The inner tests, one after another. */
  #inner: Promise<void> = Promise.resolve()
  #failures = 0
  #skipped: string | undefined
  #todo: string | undefined

  constructor(title: string, { todo, timeout }: TestOptions, onInner: (ended: EndedTest) => void) {
    this.title = title
    this.#todo = textOf(todo, TODO)
    this.#timeoutMs = timeout !== undefined && Number.isFinite(timeout) ? timeout : undefined
    this.#onInner = onInner
    this.context = contextOf(this, this.#controller.signal)
  }

  skip(reason = 'the test skips itself'): void {
    this.#skipped = reason
  }

  todo(reason = TODO): void {
    this.#todo = reason
  }

  /** Runs a test inside this one after those before it; its end is reported, and does not reject. */
  add(title: string, options: TestOptions, run: Run | undefined): Promise<void> {
    const path = `${this.title}${SEPARATOR}${title}`
    const skipped = run === undefined ? NO_CODE : textOf(options.skip, SKIPPED)
    this.#inner = this.#inner.then(async () => {
      if (run === undefined || skipped !== undefined) {
        this.#onInner({ title: path, outcome: 'skipped', reason: skipped, durationMs: 0 })
        return
      }
      const inner = new RunningTest(path, options, this.#onInner)
      const ended = await inner.run(async () => {
        await runAll(this.beforeEach, inner.context)
        try {
          await call(run, inner.context)
        } finally {
          await runAll(this.afterEach, inner.context)
        }
      })
      if (ended.outcome === 'failed') this.#failures += 1
      this.#onInner(ended)
    })
    return this.#inner
  }

  async run(body: () => Promise<void>): Promise<EndedTest> {
    const started = performance.now()
    const end = (outcome: EndedTest['outcome'], more: Pick<EndedTest, 'error' | 'reason'>): EndedTest => ({
      ...{ title: this.title, outcome, ...more },
      durationMs: Math.round(performance.now() - started)
    })
    let failure: { readonly error: unknown } | undefined
    try {
      await this.#inTime(body)
      if (this.#failures > 0) throw new Error(`${this.#failures} of its inner tests failed`)
    } catch (error) {
      failure = { error }
    }
    this.#controller.abort()
    this.context.mock.restoreAll()
    if (this.#skipped !== undefined) return end('skipped', { reason: this.#skipped })
    if (failure === undefined) return end('passed', {})
    // One that is still to be done may fail.
    return this.#todo === undefined ? end('failed', failure) : end('skipped', { reason: this.#todo })
  }

  async #innerEnded(): Promise<void> {
    // While they run, more may come.
    for (let last: unknown; last !== this.#inner; ) {
      last = this.#inner
      await last
    }
  }

  async #inTime(body: () => Promise<void>): Promise<void> {
    const whole = async (): Promise<void> => {
      try {
        await PLACE.run(this, body)
        await this.#innerEnded()
      } finally {
        await runAll(this.after, this.context)
      }
    }
    const milliseconds = this.#timeoutMs
    if (milliseconds === undefined) return whole()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`It has not ended after ${milliseconds} ms`)), milliseconds)
    })
    try {
      await Promise.race([whole(), late])
    } finally {
      clearTimeout(timer)
    }
  }
}

const TODO = 'its author has still to do it'
const SKIPPED = 'its author skips it'
const NO_CODE = 'it has no code'

const textOf = (given: boolean | string | undefined, usual: string): string | undefined => {
  if (typeof given === 'string') return given === '' ? usual : given
  return given === true ? usual : undefined
}

const groupIn = (parent: Group | undefined, title?: string, options: TestOptions = {}): Group => ({
  titles: [...(parent?.titles ?? []), ...(title === undefined ? [] : [title])],
  ...{ parent, options, before: [], after: [], beforeEach: [], afterEach: [], started: undefined, left: 0 }
})

/** The groups of a test, the outermost first. */
const pathOf = (group: Group): readonly Group[] =>
  group.parent === undefined ? [group] : [...pathOf(group.parent), group]

const isOnly = ({ options, group }: DeclaredTest): boolean =>
  options.only === true || pathOf(group).some(each => each.options.only === true)

const todoOf = (group: Group): Pick<TestOptions, 'todo'> => {
  const found = pathOf(group).find(({ options: { todo } }) => textOf(todo, TODO) !== undefined)
  return found?.options.todo === undefined ? {} : { todo: found.options.todo }
}

const reasonToSkip = (test: DeclaredTest, hasOnly: boolean): string | undefined => {
  const { options, group, run } = test
  if (run === undefined) return textOf(options.todo, TODO) ?? NO_CODE
  const [reason] = [...pathOf(group), test].flatMap(each => textOf(each.options.skip, SKIPPED) ?? [])
  if (reason !== undefined) return reason
  return hasOnly && !isOnly(test) ? 'only others were meant to run' : undefined
}

/** A function that declares, with its variants `skip`, `todo` and `only`. */
const withFlags = (
  declare: (title: string, options: TestOptions, run: Run | undefined) => unknown
): object => {
  const make =
    (more: TestOptions) =>
    (...given: Declaration): Promise<void> => {
      const { title, options, run } = readDeclaration(given)
      return Promise.resolve(declare(title, { ...options, ...more }, run)).then(() => {})
    }
  return Object.assign(make({}), {
    skip: make({ skip: true }),
    todo: make({ todo: true }),
    only: make({ only: true })
  })
}

const readDeclaration = (given: Declaration) => {
  const run = given.find((value): value is Run => typeof value === 'function')
  const options = given.find((value): value is TestOptions => typeof value === 'object') ?? {}
  const title = typeof given[0] === 'string' ? given[0] : (run?.name ?? '')
  return { title: title === '' ? '<anonymous>' : title, options, run }
}

const runInGroups = async (path: readonly Group[], { context }: RunningTest, run: Run): Promise<void> => {
  try {
    for (const group of path) {
      group.started ??= runAll(group.before, context)
      await group.started
    }
    for (const { beforeEach } of path) await runAll(beforeEach, context)
    await call(run, context)
  } finally {
    for (const { afterEach } of path.toReversed()) await runAll(afterEach, context)
  }
}

/** Ends the groups of which a test was the last. What their hooks throw is a failure of that test. */
const leaveGroups = async (
  path: readonly Group[],
  { context }: RunningTest,
  ended: EndedTest
): Promise<EndedTest> => {
  let last = ended
  for (const group of path.toReversed()) {
    group.left -= 1
    if (group.left > 0) continue
    try {
      await runAll(group.after, context)
    } catch (error) {
      last = { ...ended, outcome: 'failed', error }
    }
  }
  return last
}

const runAll = async (hooks: readonly Run[], context: unknown): Promise<void> => {
  for (const hook of hooks) await call(hook, context)
}

/** Calls a test or a hook; one with a second parameter has ended once it calls that. */
const call = (run: Run, context: unknown): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const done = (error?: unknown): void => (error ? reject(error) : resolve(undefined))
    const answer = run.length < 2 ? run(context) : run(context, done)
    if (run.length < 2) resolve(answer)
  })

const contextOf = (test: RunningTest, signal: AbortSignal) => ({
  ...{ name: test.title.split(SEPARATOR).at(-1) ?? '', fullName: test.title, assert, signal },
  mock: new (mock.constructor as new () => typeof mock)(),
  skip: (reason?: string) => test.skip(reason),
  todo: (reason?: string) => test.todo(reason),
  diagnostic: (text: string) => console.error(text),
  after: (run: Run) => void test.after.push(run),
  // Nothing that it would come before has begun.
  before: (run: Run) => call(run, test.context),
  beforeEach: (run: Run) => void test.beforeEach.push(run),
  afterEach: (run: Run) => void test.afterEach.push(run),
  test(...given: Declaration): Promise<void> {
    const { title, options, run } = readDeclaration(given)
    return test.add(title, options, run)
  }
})
