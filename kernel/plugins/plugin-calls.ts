import { errorOf, WalletError } from '../base/errors.ts'
import type { Clock } from '../io/io.ts'
import type { PluginId } from '../types/ids.ts'

/** One call of a plugin's code that answers later. */
export interface PluginCall {
  readonly pluginId: PluginId
  /** The kind of the call: the name of a hook, or of the request to an engine. */
  readonly kind: string
  /** Whose call it is, where calls of one kind stand apart: a wallet. */
  readonly owner?: string
  /** Begins the sentence of the error when it takes too long. */
  readonly what: string
  readonly milliseconds: number
  /** Takes an answer that comes after its deadline and has no owner any more. */
  readonly discard?: ((answer: unknown) => void) | undefined
}

/** The parts that calls of plugins need. */
export interface PluginCallsPort {
  readonly clock: Clock
  onFault(fault: { pluginId: PluginId; hook: string; error: unknown }): void
}

/**
 * Every call of a plugin that is waited for goes through here: it has a deadline, and what it throws becomes an error
 * that is safe to look at.
 *
 * A call that is past its deadline cannot be stopped. Those that ignore it are counted; while five of one kind and one
 * owner have not ended, no more are opened, and the plugin's fault is reported once.
 */
export class PluginCalls {
  readonly #port: PluginCallsPort
  readonly #late = new Map<string, number>()

  constructor(port: PluginCallsPort) {
    this.#port = port
  }

  /**
   * Calls a plugin.
   *
   * @throws DEADLINE; PLUGIN_FAILED while too many earlier calls have not ended; or what the plugin throws, as an error
   */
  call<T>(place: PluginCall, run: () => T | Promise<T>): Promise<T> {
    const { pluginId, kind, owner = '', what, milliseconds, discard } = place
    const key = `${pluginId}\n${kind}\n${owner}`
    if ((this.#late.get(key) ?? 0) >= MAX_LATE) return Promise.reject(tooMany(pluginId, kind))
    return new Promise<T>((resolve, reject) => {
      let isLate = false
      const cancel = this.#port.clock.after(milliseconds, () => {
        isLate = true
        this.#count(place, key)
        reject(new WalletError('DEADLINE', { what, milliseconds }))
      })
      const end = (): void => {
        cancel()
        if (isLate) this.#uncount(key)
      }
      const answered = (value: T): void => {
        end()
        if (isLate) discard?.(value)
        resolve(value)
      }
      const failed = (thrown: unknown): void => {
        end()
        reject(errorOf(thrown))
      }
      try {
        const answer = run()
        // Through the platform's own `then`, which calls one of them once, whatever a plugin has made of its promise's.
        const promise = answer instanceof Promise ? answer : Promise.resolve(answer)
        Promise.prototype.then.call(promise, answered as (value: unknown) => void, failed)
      } catch (thrown) {
        failed(thrown)
      }
    })
  }

  #count({ pluginId, kind }: PluginCall, key: string): void {
    const count = (this.#late.get(key) ?? 0) + 1
    this.#late.set(key, count)
    if (count === MAX_LATE) this.#port.onFault({ pluginId, hook: kind, error: tooMany(pluginId, kind) })
  }

  #uncount(key: string): void {
    const count = (this.#late.get(key) ?? 0) - 1
    if (count > 0) this.#late.set(key, count)
    else this.#late.delete(key)
  }
}

const MAX_LATE = 5

const tooMany = (pluginId: PluginId, hook: string): WalletError =>
  new WalletError('PLUGIN_FAILED', { pluginId, hook, reason: `${MAX_LATE} earlier calls have not ended yet` })
