import type { Clock, Json, JsonObject } from '../../../../kernel/plugin-api.ts'
import {
  type ChainConnection,
  type ConnectionHandlers,
  type ElectrumCall,
  ElectrumRefusal
} from '../electrum/connection.ts'

/** Options of a {@link PolledConnection}. */
export interface PolledOptions {
  readonly url: string
  readonly clock: Clock
  /** The pause between two looks. */
  readonly lookMs: number
}

/** A server over HTTP, asked in the words of the Electrum protocol. It pushes nothing, so that it is looked at in turns. */
export abstract class PolledConnection implements ChainConnection {
  readonly url: string
  protected readonly handlers: ConnectionHandlers
  readonly #clock: Clock
  readonly #lookMs: number
  #cancelLook: (() => void) | undefined
  #isClosed = false

  constructor({ url, clock, lookMs }: PolledOptions, handlers: ConnectionHandlers) {
    this.url = url
    this.handlers = handlers
    this.#clock = clock
    this.#lookMs = lookMs
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  callMany(calls: readonly ElectrumCall[]): Promise<Json>[] {
    return calls.map(async call => {
      try {
        if (this.#isClosed) throw new Error('The connection is closed')
        return await this.answer(call)
      } catch (error) {
        if (!this.isRefusal(error)) this.close(errorOf(error))
        throw error
      }
    })
  }

  close(error: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelLook?.()
    this.end()
    this.handlers.onClose(error)
  }

  protected abstract answer(call: ElectrumCall): Promise<Json>

  /** Notifies of what is new. */
  protected abstract look(): Promise<void>

  /** Rejects what is in flight. */
  protected abstract end(): void

  /** True of the failure of one question that leaves the connection open. */
  protected isRefusal(error: unknown): boolean {
    return error instanceof ElectrumRefusal
  }

  /** Connects, and looks from then on. */
  protected async begin(greet: () => Promise<unknown>): Promise<this> {
    const { signal } = this.handlers
    const onAbort = (): void => this.end()
    signal?.addEventListener('abort', onAbort)
    try {
      await greet()
    } catch (error) {
      this.#isClosed = true
      this.end()
      throw error
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
    this.#lookLater()
    return this
  }

  protected notify(method: string, params: readonly Json[]): void {
    if (!this.#isClosed) this.handlers.onNotification(method, params)
  }

  #lookLater(): void {
    if (this.#isClosed) return
    this.#cancelLook = this.#clock.after(this.#lookMs, () => {
      this.look().then(
        () => this.#lookLater(),
        error => {
          if (error instanceof ElectrumRefusal) this.#lookLater()
          else this.close(errorOf(error))
        }
      )
    })
  }
}

const errorOf = (error: unknown): Error =>
  error instanceof Error ? error : new Error('The connection failed')

/** Answers a question with a refusal. */
export const refuse = (code: number, words: string): never => {
  throw new ElectrumRefusal(code, words)
}

/** An object, or an empty one in the place of anything else. */
export const asObject = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
