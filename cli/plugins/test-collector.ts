import assert from 'node:assert/strict'
import { mock } from 'node:test'

/** A test that a file has declared with `node:test`. */
export interface DeclaredTest {
  /** With the titles of its groups before it. */
  readonly title: string
  /** Why it does not run; undefined if it does. */
  readonly skipped: string | undefined
  /** @throws what the test throws, and {@link TestSkip} */
  run(): Promise<void>
}

/** Ends a test that said so itself. */
export class TestSkip extends Error {
  override readonly name: string = 'TestSkip'
}

interface TestOptions {
  readonly skip?: boolean | string
  readonly todo?: boolean | string
  readonly only?: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the file of an author gives; each is called with its context.
type Run = (context: any) => unknown
type Declaration = readonly [title?: string | Run, options?: TestOptions | Run, run?: Run]

interface Group {
  readonly titles: readonly string[]
  readonly parent: Group | undefined
  readonly skipped: string | undefined
  readonly before: Run[]
  readonly after: Run[]
  readonly beforeEach: Run[]
  readonly afterEach: Run[]
  /** Once `before` has run, its end. */
  started: Promise<void> | undefined
  /** Tests that have not run yet, those of inner groups included. */
  left: number
}

/**
 * What stands for `node:test` in a bundle of tests: it collects what a file declares, so that the tests run as part of the
 * suite and are reported with it. It has tests, groups, hooks and the usual parts of a test's context.
 */
export class TestCollector {
  readonly tests: DeclaredTest[] = []
  readonly #waiting: Promise<unknown>[] = []
  #group: Group = groupIn(undefined)

  /** The exports of `node:test`. */
  get api(): Readonly<Record<string, unknown>> {
    const test = this.#declare((...given) => this.#test(...given))
    const describe = this.#declare((...given) => this.#describe(...given))
    const hook = (name: 'after' | 'afterEach' | 'before' | 'beforeEach') => (run: Run) =>
      void this.#group[name].push(run)
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

  #declare(declare: (title: string, options: TestOptions, run: Run | undefined) => void): object {
    const make =
      (more: TestOptions) =>
      (...given: Declaration): Promise<void> => {
        const run = given.find((value): value is Run => typeof value === 'function')
        const options = given.find((value): value is TestOptions => typeof value === 'object')
        const title = typeof given[0] === 'string' ? given[0] : (run?.name ?? '')
        declare(title === '' ? '<anonymous>' : title, { ...options, ...more }, run)
        return Promise.resolve()
      }
    return Object.assign(make({}), {
      skip: make({ skip: true }),
      todo: make({ todo: true }),
      only: make({ only: true })
    })
  }

  #describe(title: string, options: TestOptions, run: Run | undefined): void {
    const outer = this.#group
    const group = groupIn(outer, title, reasonOf(options))
    this.#group = group
    try {
      const ended = run?.({ name: title })
      if (ended instanceof Promise) this.#waiting.push(ended)
    } finally {
      this.#group = outer
    }
  }

  #test(title: string, options: TestOptions, run: Run | undefined): void {
    const group = this.#group
    const skipped = run === undefined ? 'it has no code' : (reasonOf(options) ?? group.skipped)
    const path = pathOf(group)
    if (skipped === undefined) for (const each of path) each.left += 1
    this.tests.push({
      title: [...group.titles, title].join(' › '),
      skipped,
      run: async () => {
        if (run !== undefined) await runInGroups(path, title, run)
      }
    })
  }
}

const groupIn = (parent: Group | undefined, title?: string, skipped?: string): Group => ({
  titles: [...(parent?.titles ?? []), ...(title === undefined ? [] : [title])],
  ...{ parent, skipped: parent?.skipped ?? skipped },
  ...{ before: [], after: [], beforeEach: [], afterEach: [], started: undefined, left: 0 }
})

/** The groups of a test, the outermost first. */
const pathOf = (group: Group): readonly Group[] =>
  group.parent === undefined ? [group] : [...pathOf(group.parent), group]

const reasonOf = ({ skip, todo }: TestOptions): string | undefined => {
  const [given] = [skip, todo].filter(value => value !== undefined && value !== false)
  if (typeof given === 'string') return given
  return given === undefined ? undefined : 'its author skips it'
}

const runInGroups = async (path: readonly Group[], title: string, run: Run): Promise<void> => {
  const context = contextOf(title)
  try {
    for (const group of path) {
      group.started ??= runAll(group.before, context)
      await group.started
    }
    for (const { beforeEach } of path) await runAll(beforeEach, context)
    await runTest(title, run, context)
  } finally {
    for (const { afterEach } of path.toReversed()) await runAll(afterEach, context)
    for (const group of path.toReversed()) {
      group.left -= 1
      if (group.left === 0) await runAll(group.after, context)
    }
  }
}

type TestContext = ReturnType<typeof contextOf>

const runTest = async (_title: string, run: Run, context: TestContext): Promise<void> => {
  try {
    await run(context)
  } finally {
    await runAll(context.ended, context)
    context.mock.restoreAll()
  }
}

const runAll = async (hooks: readonly Run[], context: unknown): Promise<void> => {
  for (const hook of hooks) await hook(context)
}

const contextOf = (name: string) => {
  const ended: Run[] = []
  const controller = new AbortController()
  const skip = (reason = 'the test skips itself'): never => {
    throw new TestSkip(reason)
  }
  return {
    ...{ name, ended, assert, signal: controller.signal },
    ...{ mock: new (mock.constructor as new () => typeof mock)(), skip, todo: skip },
    diagnostic: (text: string) => console.error(text),
    after: (run: Run) => void ended.push(run),
    async test(...given: Declaration): Promise<void> {
      const run = given.find((value): value is Run => typeof value === 'function')
      const title = typeof given[0] === 'string' ? given[0] : name
      if (run !== undefined) await runTest(title, run, contextOf(title))
    }
  }
}
