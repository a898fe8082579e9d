import { isWalletError, WalletError } from '../errors/wallet-error.ts'
import type { EngineSnapshot } from '../hooks/snapshots.ts'
import { withDeadline } from '../io/deadline.ts'
import type { Scheduler } from '../io/scheduler.ts'
import { describeError } from '../log.ts'
import type { Services } from '../services.ts'
import { Observable, type Readable } from '../state/observable.ts'
import type { Secret } from '../state/secret.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { CurrencyEngine, KeysArgument } from '../types/engine.ts'
import type { WalletKeys } from '../types/keys.ts'

const DEFAULT_PERIOD_MS = 10_000
const MIN_PERIOD_MS = 100
const CALL_MS = 60_000

/** What an engine runner is made of. */
export interface EngineParts {
  readonly services: Services
  readonly scheduler: Scheduler
  readonly walletId: string
  readonly info: CurrencyInfo
  readonly keys: Secret<WalletKeys>
  /** Asks the plugin for the engine. */
  make(): Promise<CurrencyEngine>
  /** The engine has looked at the network. */
  synced(): void
}

/**
 * The life of one engine: made when first needed, started while not paused, synced at the pace it asks for,
 * stopped at the end; a failure is shown and tried again on the next start.
 *
 * @see specification §4 "Engine lifecycle"
 */
export class EngineRunner implements Readable<EngineSnapshot> {
  readonly subscribe: Readable<EngineSnapshot>['subscribe']
  readonly getSnapshot: Readable<EngineSnapshot>['getSnapshot']
  readonly #state: Observable<EngineSnapshot>
  readonly #parts: EngineParts
  #engine: Promise<CurrencyEngine> | undefined
  #isRunning = false
  #isClosed = false

  constructor(parts: EngineParts, isPaused: boolean) {
    const { services, walletId, info } = parts
    this.#state = new Observable<EngineSnapshot>(
      { walletId, pluginId: info.pluginId, state: 'created', isPaused, syncRatio: 0, blockHeight: 0 },
      snapshot => services.hooks.engineChanged.call(snapshot),
      error => services.report(`wallet ${info.pluginId}`, error)
    )
    this.#parts = parts
    this.subscribe = this.#state.subscribe
    this.getSnapshot = this.#state.getSnapshot
  }

  /** Starts the engine and its sync, unless paused, running or closed. @throws ENGINE_FAILED */
  async start(): Promise<void> {
    if (this.#isRunning || this.#isClosed || this.getSnapshot().isPaused) return
    this.#isRunning = true
    try {
      const engine = await this.#get()
      if (this.#isClosed) return
      this.#parts.services.inBackground('engine sync', this.#sync())
      await this.#bounded('starting the engine', () => engine.startEngine())
      if (!this.#isClosed) this.#show({ state: 'started' })
    } catch (error) {
      this.#isRunning = false
      throw this.#failed(error)
    }
  }

  /** Stops the engine's work until `resume`; it can still be asked for addresses and spends. */
  async pause(): Promise<void> {
    this.#show({ isPaused: true })
    await this.#stop()
  }

  /** Undoes `pause`. */
  async resume(): Promise<void> {
    this.#show({ isPaused: false })
    await this.start()
  }

  /** Calls the engine under a deadline; makes it if need be. @throws ENGINE_FAILED, DEADLINE, or the engine's error */
  async call<T>(what: string, call: (engine: CurrencyEngine) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
    const engine = await this.#get().catch(error => {
      throw this.#failed(error)
    })
    return this.#bounded(what, () => call(engine))
  }

  /** Looks at the network once, now. */
  async syncNow(): Promise<void> {
    await this.call('syncing', engine => engine.syncNetwork(this.keysFor('sync')))
  }

  /** Private keys for a call, only where the currency declares that it needs them there (specification §6). */
  keysFor(call: 'sync' | 'spend' | 'broadcast'): KeysArgument {
    const { info, keys } = this.#parts
    const needed = {
      sync: info.needsKeysToSync,
      spend: info.needsKeysToSpend,
      broadcast: info.needsKeysToBroadcast
    }
    return needed[call] === true ? keys.use(privateKeys => ({ privateKeys })) : {}
  }

  /** Progress, height and status as the engine reports them. */
  show(changes: Partial<Pick<EngineSnapshot, 'syncRatio' | 'blockHeight' | 'status'>>): void {
    if (!this.#isClosed) this.#show(changes)
  }

  /** Stops the engine for good. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    await this.#stop()
    this.#isClosed = true
    this.#show({ state: 'stopped' })
  }

  #get(): Promise<CurrencyEngine> {
    this.#engine ??= this.#bounded('making the engine', () => this.#parts.make()).catch(error => {
      this.#engine = undefined
      throw error
    })
    return this.#engine
  }

  async #stop(): Promise<void> {
    this.#parts.scheduler.cancel(this.#syncKey)
    if (!this.#isRunning) return
    this.#isRunning = false
    // A killed engine is of no more use: the next call makes another.
    const engine = await this.#engine?.catch(() => undefined)
    this.#engine = undefined
    if (engine === undefined) return
    await this.#bounded('stopping the engine', () => engine.killEngine()).catch(error =>
      this.#parts.services.report(`engine ${this.#parts.info.pluginId}`, error)
    )
    this.#show({ state: 'stopped' })
  }

  async #sync(): Promise<void> {
    let delayMs = DEFAULT_PERIOD_MS
    try {
      const wanted = await this.call('syncing', engine => engine.syncNetwork(this.keysFor('sync')))
      if (Number.isFinite(wanted)) delayMs = Math.max(MIN_PERIOD_MS, wanted)
      this.#parts.synced()
    } catch (error) {
      this.#parts.services.logOf(this.#parts.info.pluginId).warn(`sync failed: ${describeError(error)}`)
      this.show({ status: 'The last look at the network failed; trying again.' })
    }
    if (!this.#isRunning) return
    this.#parts.scheduler.schedule(this.#syncKey, delayMs, () =>
      this.#parts.services.inBackground('engine sync', this.#sync())
    )
  }

  get #syncKey(): string {
    return `engine ${this.#parts.walletId}`
  }

  #bounded<T>(what: string, call: () => Promise<T>): Promise<T> {
    const { clock } = this.#parts.services.io
    return withDeadline(
      { clock, milliseconds: CALL_MS, what: `${this.#parts.info.displayName}: ${what}` },
      call
    )
  }

  #show(changes: Partial<EngineSnapshot>): void {
    this.#state.update(changes)
  }

  #failed(error: unknown): WalletError {
    const { info, walletId } = this.#parts
    const reason = describeError(error)
    this.#show({
      state: 'failed',
      status: reason,
      ...(isWalletError(error) ? { errorCode: error.code } : {})
    })
    return new WalletError('ENGINE_FAILED', { pluginId: info.pluginId, walletId, reason }, error)
  }
}
