import { join } from 'node:path'
import { Observable, type Readable } from '../../kernel/index.ts'
import type { CheckResult } from '../../testing/suite.ts'
import { failureOf } from '../errors/failure.ts'
import { bundlePlugin } from '../plugins/bundle.ts'
import type { PluginProject } from '../plugins/plugin-project.ts'
import { runPluginTests } from '../plugins/run-tests.ts'
import type { DevCall, DevPlugin, DevWorld } from './dev-world.ts'
import type { FollowedFiles } from './watch-project.ts'

/** The state of a session, as its screen shows it. */
export interface DevState {
  readonly stage: 'failed' | 'loaded' | 'loading'
  /** The version that runs; of an earlier one while the newest cannot be loaded. */
  readonly plugin: DevPlugin | undefined
  /** The number of versions that have been loaded. */
  readonly version: number
  /** From the saved file, or the wish to reload, to the version that runs. */
  readonly durationMs: number
  /** Why the newest version does not run. */
  readonly problem: string | undefined
  readonly tests: DevTests
  /** The newest last. */
  readonly calls: readonly DevCall[]
  readonly lines: readonly string[]
}

/** The checks of the newest version. */
export interface DevTests {
  readonly stage: 'done' | 'failed' | 'none' | 'running'
  readonly level: 'full' | 'quick'
  readonly passed: number
  readonly skipped: number
  readonly failures: readonly Pick<CheckResult, 'message' | 'title'>[]
  /** Why they cannot run. */
  readonly problem?: string
}

/** An event, for a program that reads lines. */
export type DevEvent = 'failed' | 'loaded' | 'tests'

/** Options of {@link DevLoop}. */
export interface DevLoopOptions {
  readonly entry: string
  /** The folder that messages name files from. */
  readonly folder: string
  /** Undefined for a plugin without a test file. */
  readonly project: PluginProject | undefined
  readonly world: DevWorld
  readonly signal: AbortSignal
  onEvent(event: DevEvent, state: DevState): void
  /** Receives the files of which each version, and its tests, are made. */
  onFiles(files: FollowedFiles): void
}

/** Loads a plugin again after each change, one version after another, and runs its quick checks. */
export class DevLoop {
  readonly #state = new Observable<DevState>({
    ...{ stage: 'loading', plugin: undefined, version: 0, durationMs: 0, problem: undefined },
    ...{ tests: NO_TESTS, calls: [], lines: [] }
  })
  readonly #options: DevLoopOptions
  #cycle: Promise<void> = Promise.resolve()
  /** The change that waits for the end of a cycle. */
  #waiting: number | undefined
  #isRunning = false
  #testing: AbortController | undefined
  /** The files of the newest version and of the newest tests that could be bundled. */
  readonly #files = new Map<'plugin' | 'tests', readonly string[]>()

  constructor(options: DevLoopOptions) {
    this.#options = options
  }

  get state(): Readable<DevState> {
    return this.#state
  }

  /** Loads what the files hold now; while a version is being loaded, once after it. @param since - when they were saved */
  reload(since: number = Date.now()): void {
    this.#waiting = Math.max(this.#waiting ?? 0, since)
    if (this.#isRunning) return
    this.#isRunning = true
    this.#cycle = this.#run().finally(() => {
      this.#isRunning = false
    })
  }

  /** Runs the checks in place of those that run. */
  test(level: DevTests['level']): void {
    this.#testing?.abort()
    const controller = new AbortController()
    this.#testing = controller
    void this.#runTests(level, AbortSignal.any([controller.signal, this.#options.signal]))
  }

  addCall(call: DevCall): void {
    this.#state.update({ calls: [...this.#state.getSnapshot().calls, call].slice(-MAX_LINES) })
  }

  addLine(line: string): void {
    this.#state.update({ lines: [...this.#state.getSnapshot().lines, line].slice(-MAX_LINES) })
  }

  /** Waits for the version that is being loaded, and stops the checks. */
  async close(): Promise<void> {
    this.#waiting = undefined
    this.#testing?.abort()
    await this.#cycle
  }

  async #run(): Promise<void> {
    while (this.#waiting !== undefined && !this.#options.signal.aborted) {
      const since = this.#waiting
      this.#waiting = undefined
      await this.#load(since)
      if (this.#waiting === undefined) this.test('quick')
    }
  }

  async #load(since: number): Promise<void> {
    const { entry, world, onEvent } = this.#options
    this.#testing?.abort()
    this.#state.update({ stage: 'loading', tests: NO_TESTS })
    try {
      const readAt = Date.now()
      this.#follow(readAt)
      const bundle = await bundlePlugin(entry, 'cell')
      this.#follow(readAt, 'plugin', Object.keys(bundle.inputs))
      const plugin = await world.load(bundle)
      const { version } = this.#state.getSnapshot()
      const durationMs = Math.max(0, Math.round(Date.now() - since))
      this.#state.update({ stage: 'loaded', plugin, version: version + 1, durationMs, problem: undefined })
      onEvent('loaded', this.#state.getSnapshot())
    } catch (error) {
      const plugin = world.isRunning ? this.#state.getSnapshot().plugin : undefined
      this.#state.update({ stage: 'failed', plugin, problem: this.#sentenceOf(error) })
      onEvent('failed', this.#state.getSnapshot())
    }
  }

  /** Tells of the files that were read from a time on; of all in the folder while it is not known what is imported. */
  #follow(since: number, ...known: readonly [part?: 'plugin' | 'tests', files?: readonly string[]]): void {
    const [part, files] = known
    if (part !== undefined && files !== undefined) this.#files.set(part, files)
    const { entry, project, onFiles } = this.#options
    const paths = [
      entry,
      ...(project === undefined ? [] : [project.test]),
      ...[...this.#files.values()].flat()
    ]
    onFiles({ paths, isAll: files === undefined, since })
  }

  async #runTests(level: DevTests['level'], signal: AbortSignal): Promise<void> {
    const { project, onEvent } = this.#options
    if (project === undefined || signal.aborted) return
    let tests: DevTests = { ...NO_TESTS, stage: 'running', level }
    const show = (change: Partial<DevTests>): void => {
      if (signal.aborted) return
      tests = { ...tests, ...change }
      this.#state.update({ tests })
    }
    show({})
    const readAt = Date.now()
    this.#follow(readAt)
    try {
      await runPluginTests(project, {
        ...{ level, signal, isSuiteAlone: level === 'quick' },
        onBundled: files => this.#follow(readAt, 'tests', files),
        onOutput: text => {
          for (const line of text.trimEnd().split('\n')) this.addLine(line)
        },
        onResult: ({ outcome, title, message }) => {
          const { passed, skipped, failures } = tests
          if (outcome === 'failed') show({ failures: [...failures, { title, message }] })
          else show(outcome === 'passed' ? { passed: passed + 1 } : { skipped: skipped + 1 })
        }
      })
      show({ stage: tests.failures.length === 0 ? 'done' : 'failed' })
    } catch (error) {
      show({ stage: 'failed', problem: this.#sentenceOf(error) })
    }
    if (!signal.aborted) onEvent('tests', this.#state.getSnapshot())
  }

  /** What went wrong, and where: an error of the plugin has no code, and is none of ours. */
  #sentenceOf(error: unknown): string {
    const isPlain = error instanceof Error && !('code' in error)
    const { message } = isPlain ? error : failureOf(error)
    return message.replaceAll(join(this.#options.folder, '/'), '')
  }
}

const NO_TESTS: DevTests = { stage: 'none', level: 'quick', passed: 0, skipped: 0, failures: [] }
const MAX_LINES = 100
