import type { Clock } from '../io/io.ts'

/** The options of a poller. */
export interface PollerOptions {
  readonly clock: Clock
  /** A rejection goes to `onError` and the polling goes on. */
  readonly task: () => Promise<void>
  /** Milliseconds from the end of one run, or from the start, to the next run. */
  readonly gapMs: number
  readonly onError: (error: unknown) => void
}

/** Repeats a task with a gap that may change; runs never overlap (specification §4 "Poller"). */
export class Poller {
  readonly #options: PollerOptions
  #gapMs: number
  #waitsSince = 0
  #cancelWait: (() => void) | undefined
  #run: Promise<void> | undefined
  #isStarted = false

  constructor(options: PollerOptions) {
    this.#options = options
    this.#gapMs = options.gapMs
  }

  get isStarted(): boolean {
    return this.#isStarted
  }

  /** The gap; a new one counts from the beginning of the present wait. */
  get gapMs(): number {
    return this.#gapMs
  }

  set gapMs(gapMs: number) {
    this.#gapMs = gapMs
    if (this.#cancelWait !== undefined) this.#wait(this.#waitsSince)
  }

  /** Begins to wait for the first run; nothing if it is started already. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    if (this.#run === undefined) this.#wait()
  }

  /** Ends the polling; resolves when a run that is under way has ended. */
  async stop(): Promise<void> {
    this.#isStarted = false
    this.#cancelWait?.()
    this.#cancelWait = undefined
    await this.#run
  }

  /** Runs now, or joins the run that is under way; the next gap begins at its end. */
  runNow(): Promise<void> {
    if (this.#run !== undefined) return this.#run
    this.#cancelWait?.()
    this.#cancelWait = undefined
    this.#run = this.#runTask()
    return this.#run
  }

  #wait(since: number = this.#options.clock.monotonic()): void {
    const { clock } = this.#options
    this.#cancelWait?.()
    this.#waitsSince = since
    const restMs = Math.max(0, since + this.#gapMs - clock.monotonic())
    this.#cancelWait = clock.after(restMs, () => void this.runNow())
  }

  async #runTask(): Promise<void> {
    try {
      // Inside an async function, so that a throw of the task is a rejection too.
      await (async () => this.#options.task())()
    } catch (error) {
      this.#options.onError(error)
    }
    this.#run = undefined
    if (this.#isStarted) this.#wait()
  }
}
