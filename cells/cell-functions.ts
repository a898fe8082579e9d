import type { Clock, EngineLog } from '../kernel/plugin-api.ts'
import type { ContextFunctions } from './cell-call.ts'
import { encoded, errorJson, type FromCell, type ToCell } from './protocol.ts'

/** A call of a cell, and where its answer goes. */
interface WaitingCall {
  readonly message: Extract<FromCell, { context: number }>
  readonly answer: (message: ToCell) => void
}

/** Options of {@link CellFunctions}. */
export interface CellFunctionsOptions {
  readonly log: EngineLog
  clock(): Pick<Clock, 'monotonic'>
  /** True while a call of that number has no answer: its context does not give way. */
  isInFlight(id: number): boolean
}

/** The functions that a cell may call: those of its host, and those of the contexts of its calls. */
export class CellFunctions {
  readonly #options: CellFunctionsOptions
  readonly #contexts = new Map<number, ContextFunctions>()
  /** Contexts that give way, the oldest first. */
  readonly #passing: number[] = []
  #ofHost: Required<ContextFunctions> | undefined
  #waiting: WaitingCall[] = []
  /** Of the cell, that have no answer yet. */
  #requests = 0
  readonly #warn: (text: string) => void

  constructor(options: CellFunctionsOptions) {
    this.#options = options
    this.#warn = limitLines(options.clock, options.log)('warn')
  }

  /** Takes the functions of the host; what the cell called before waits for them. */
  attach(functions: Required<ContextFunctions>): void {
    this.#ofHost = functions
    for (const { message, answer } of this.#waiting.splice(0)) this.serve(message, answer)
  }

  /** Keeps the functions of a call: until they are forgotten, or until they give way to those of newer calls. */
  keep(id: number, functions: ContextFunctions, isKept: boolean): void {
    this.#contexts.set(id, functions)
    if (isKept) return
    this.#passing.push(id)
    if (this.#passing.length <= MAX_CONTEXTS) return
    // Late ones are dropped, never that of a call which waits: a verdict or an offer would be lost.
    const at = this.#passing.findIndex(one => !this.#options.isInFlight(one))
    for (const late of at < 0 ? [] : this.#passing.splice(at, 1)) this.#contexts.delete(late)
  }

  forget(id: number): void {
    this.#contexts.delete(id)
  }

  /** Forgets what belonged to a life that has ended, but for calls that are repeated in the next one. */
  endLife(): void {
    this.#waiting = []
    for (const id of this.#contexts.keys()) if (!this.#options.isInFlight(id)) this.#contexts.delete(id)
  }

  /** Writes a line of the log about the cell, which could make any number of them. */
  warn(text: string): void {
    this.#warn(text)
  }

  /** Runs a function for the cell. @param answer - sends the answer to a request */
  serve(message: WaitingCall['message'], answer: (message: ToCell) => void): void {
    const isOfHost = message.context === 0
    if (isOfHost && this.#ofHost === undefined) {
      if (this.#waiting.length < MAX_REQUESTS) this.#waiting.push({ message, answer })
      return
    }
    const functions = isOfHost ? this.#ofHost : this.#contexts.get(message.context)
    const { name, args } = message
    if (message.type === 'request') {
      const run = own(functions?.requests, name)
      this.#reply(message.id, async () => {
        if (run === undefined) throw new Error(`${name} is not there any more`)
        return run(...args)
      }).then(answer)
      return
    }
    try {
      own(functions?.notes, name)?.(...args)
    } catch (error) {
      this.#warn(`${name}: ${error instanceof Error ? error.message : 'failed'}`)
    }
  }

  async #reply(id: number, run: () => Promise<unknown>): Promise<ToCell> {
    this.#requests += 1
    try {
      if (this.#requests > MAX_REQUESTS) throw new Error(`${MAX_REQUESTS} requests are already waiting`)
      return { type: 'answer', id, value: encoded(await run()) }
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error('It failed')
      return { type: 'answer', id, error: errorJson(error) }
    } finally {
      this.#requests -= 1
    }
  }
}

/**
 * Lines of a log for a cell: at most a hundred in ten seconds, of all levels together.
 *
 * @param clock - gives the clock to count with
 */
export const limitLines = (
  clock: () => Pick<Clock, 'monotonic'>,
  log: EngineLog
): ((level: keyof EngineLog) => (text: string) => void) => {
  let lines = 0
  let from = Number.NEGATIVE_INFINITY
  return level => text => {
    const now = clock().monotonic()
    if (now - from > LOG_MS) {
      if (lines > MAX_LINES) log.warn(`${lines - MAX_LINES} lines of the cell were left out`)
      from = now
      lines = 0
    }
    lines += 1
    if (lines <= MAX_LINES) log[level](text)
  }
}

const own = <F>(functions: Readonly<Record<string, F>> | undefined, name: string): F | undefined =>
  functions !== undefined && Object.hasOwn(functions, name) ? functions[name] : undefined

const MAX_CONTEXTS = 200
const MAX_REQUESTS = 256
const LOG_MS = 10_000
const MAX_LINES = 100
