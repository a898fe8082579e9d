import type { Fn, Message, RealmValues } from './realm-values.ts'

/** The functions of the thread that the realm may call, with primitives only. */
export interface RealmPort {
  send(text: string): void
  /** Calls `Realm.fire` with the id after some milliseconds of real time. */
  sleep(milliseconds: number, id: number): void
  /** Digests, encodings and time of the thread: texts in and out. */
  native(name: string, ...args: string[]): string
}

/** The line from a realm to the kernel, with the requests that wait and the tasks of timers. Evaluated in the realm. */
export class RealmLink {
  readonly timers: Map<number, Fn> = new Map()
  /** Milliseconds since 1970 and monotonic ones, of the kernel. */
  readonly time: { epoch: number; monotonic: number; syncedAt: number } = {
    epoch: 0,
    monotonic: 0,
    syncedAt: 0
  }
  nextId = 1
  readonly #port: RealmPort
  readonly #values: RealmValues
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>()

  constructor(port: RealmPort, values: RealmValues) {
    this.#port = port
    this.#values = values
  }

  /** Takes the answer to a request. */
  settle({ id, value, error }: Message): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) waiting?.resolve(this.#values.decode(value))
    else waiting?.reject(this.#values.errorOf(error))
  }

  /** Runs the task of a timer. */
  fire(id: number): void {
    const task = this.timers.get(id)
    this.timers.delete(id)
    this.guard(() => task?.())
  }

  /** Reports what was thrown outside of any call. */
  thrown(error: unknown): void {
    this.post({ type: 'thrown', error: this.#values.describe(error) })
  }

  request(context: number, name: string, args: readonly unknown[]): Promise<unknown> {
    const id = this.nextId++
    return new Promise((resolve, reject) => {
      const values = this.#values.trimmed(args).map(arg => this.#values.encode(arg, arg, 0) ?? null)
      this.#waiting.set(id, { resolve, reject })
      this.post({ type: 'request', id, context, name, args: values })
    })
  }

  post(message: object): void {
    const text = JSON.stringify(message)
    try {
      this.#port.send(text)
    } catch {
      // The error of the thread is of another realm.
      throw new Error('The cell cannot send that')
    }
  }

  native(name: string, ...args: string[]): string {
    let answer: unknown
    try {
      answer = this.#port.native(name, ...args)
    } catch {
      answer = undefined
    }
    if (typeof answer === 'string') return answer
    throw new TypeError(`${name} does not take that`)
  }

  sleep(milliseconds: number, task: Fn): number {
    const id = this.nextId++
    this.timers.set(id, task)
    try {
      this.#port.sleep(Math.min(Math.max(Number(milliseconds) || 0, 0), 2 ** 31 - 1), id)
    } catch {
      throw new Error('The cell cannot wait')
    }
    return id
  }

  guard(task: Fn): void {
    try {
      Promise.resolve(task()).catch(error => this.thrown(error))
    } catch (error) {
      this.thrown(error)
    }
  }

  sync({ now, monotonic }: Message): void {
    this.time.epoch = now
    this.time.monotonic = monotonic
    this.time.syncedAt = Number(this.native('monotonic'))
  }
}
