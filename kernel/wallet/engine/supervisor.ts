import { describeError, isWalletError, WalletError } from '../../base/errors.ts'
import { Mutex } from '../../base/mutex.ts'
import type { Readable } from '../../base/observable.ts'
import type { Scheduler } from '../../base/scheduler.ts'
import type { Secret } from '../../base/secret.ts'
import type { Clock } from '../../io/io.ts'
import { type AccountRules, type KeyPass, type KeyRequest, requestKeys } from '../../keys/key-gate.ts'
import { isWatchOnly, openKeys } from '../../keys/wallet-info.ts'
import type { ConnectionLoss, CurrencyEngine, KeysArgument } from '../../types/engine.ts'
import type { WalletKeys } from '../../types/keys.ts'
import type { EngineSnapshot } from '../../types/snapshots.ts'
import type { EngineTransaction } from '../../types/transaction.ts'
import { EngineCallbackHandler, type EngineListener } from './callbacks.ts'
import { type EngineConfig, EngineConfigSender } from './config.ts'
import { type EngineChanges, EngineState, type EngineStateOptions } from './engine-state.ts'
import { type EngineWallet, makeWalletEngine } from './make-engine.ts'
import { checkStakingStatus } from './validate.ts'

/** The options of {@link EngineSupervisor}. */
export interface EngineSupervisorOptions extends EngineStateOptions, EngineWallet {
  readonly scheduler: Scheduler
  readonly clock: Clock
  readonly keys: Secret<WalletKeys>
  readonly rules: AccountRules
}

/** The wallet that engines are made for: it gives them what they need, and receives their checked reports. */
export interface EngineHost extends EngineListener {
  /** Settings and tokens as they are now. */
  readonly config: EngineConfig
  /** The signed payments whose coins an engine must keep from every other draft. */
  readonly reservedPayments: readonly EngineTransaction[]
  /** Returns the checkpoint up to which an earlier engine has reported its transactions. */
  checkpoint(): Promise<string | undefined>
  /** The addresses that were given out for good. */
  usedAddresses(): Promise<readonly string[]>
  /** The coins that no draft may take. */
  frozenCoins(engine: CurrencyEngine): Promise<readonly string[]>
  /** Emits the reports that are batched, now. */
  emitReports(): void
  /** The engine has looked at the network. */
  synced(): void
}

/**
 * Makes, starts, syncs, configures and stops the engines of one wallet, one at a time: an engine is made when it is
 * first needed, started while not paused, and synced at the pace it asks for. A failure is shown, and tried again at
 * the next start. Only the present engine reports to the wallet.
 *
 * @see specification §4 "Engine lifecycle"
 */
export class EngineSupervisor implements Readable<EngineSnapshot> {
  readonly #state: EngineState
  readonly #options: EngineSupervisorOptions
  readonly #host: EngineHost
  readonly #configSender: EngineConfigSender
  /** Receives the reports of the present engine. */
  #callbacks: EngineCallbackHandler | undefined
  #engine: Promise<CurrencyEngine> | undefined
  /** The engine, once it was started; one that survives a pause stays here. */
  #started: CurrencyEngine | undefined
  /** Pauses and resumes of an engine come one after another. */
  #pauseMutex: Mutex | undefined
  /** One object for each start, so that the work of an earlier one is recognised. */
  #run: object | undefined
  #syncPass: { readonly run: object; readonly pass: KeyPass } | undefined
  #isClosed = false
  #hasReportedDelay = false
  /** The engine is looking at the network. */
  #isSyncing = false

  constructor(options: EngineSupervisorOptions, host: EngineHost) {
    this.#options = options
    this.#host = host
    this.#state = new EngineState(options, () => host.emitReports())
    this.#configSender = new EngineConfigSender(this, options.report)
  }

  subscribe(listener: () => void): () => void {
    return this.#state.subscribe(listener)
  }

  getSnapshot(): EngineSnapshot {
    return this.#state.getSnapshot()
  }

  /** True after `close`. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Starts the engine and its sync, unless paused, running or closed; a failure is tried again. @throws ENGINE_FAILED */
  async start(): Promise<void> {
    if (this.#run !== undefined || this.#isClosed || this.getSnapshot().isPaused) return
    const run = {}
    this.#run = run
    this.#isSyncing = false
    this.#state.clearFailure({ state: 'created' })
    try {
      if (!(await this.#wake(run))) {
        const engine = await this.#get()
        if (this.#run !== run) return
        this.#options.services.inBackground('engine sync', this.#sync(run, { isFirst: true }))
        await this.#bounded('starting the engine', () => engine.startEngine())
        if (this.#run === run) this.#started = engine
      }
      if (this.#run === run) this.#state.set({ state: 'started' })
    } catch (error) {
      // It was stopped meanwhile: the failure is of no interest.
      if (this.#run !== run) return
      await this.#stop()
      if (this.#run !== undefined || this.#isClosed || this.getSnapshot().isPaused) return
      this.#options.scheduler.schedule(this.#syncKey, RETRY_MS, () =>
        this.#options.services.inBackground(`engine ${this.#options.info.pluginId}`, this.start())
      )
      throw this.#fail(error)
    }
  }

  /** Stops the engine's work until `resume`; it can still be asked for addresses and spends. */
  async pause(): Promise<void> {
    this.#state.set({ isPaused: true })
    await (this.#started?.changePaused === undefined ? this.#stop() : this.#rest(this.#started))
    if (this.#run === undefined) this.#state.setStopped()
  }

  /** Undoes `pause`. */
  async resume(): Promise<void> {
    this.#state.set({ isPaused: false })
    await this.start()
  }

  /**
   * Calls the engine under a deadline; makes it if need be. `call` answers with what it has checked and copied.
   *
   * @throws ENGINE_FAILED, DEADLINE, or the engine's error
   */
  async call<T>(
    what: string,
    call: (engine: CurrencyEngine) => Promise<T>,
    milliseconds: number = CALL_MS
  ): Promise<T> {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
    const engine = await this.#get().catch(error => {
      throw this.#fail(error)
    })
    return this.#bounded(what, () => call(engine), milliseconds)
  }

  /** Calls the engine if there is one, or is about to be; otherwise nothing happens. @throws as {@link call} */
  async callIfMade(what: string, call: (engine: CurrencyEngine) => Promise<void>): Promise<void> {
    if (this.#engine !== undefined && !this.#isClosed) await this.call(what, call)
  }

  /** Looks at the network once, now. */
  async syncNow(): Promise<void> {
    const keys = await this.#syncKeys()
    await this.call('syncing', engine => engine.syncNetwork(keys))
    if (!this.#isClosed) this.#host.synced()
  }

  /** Checks that the wallet has keys that can sign. @throws WATCH_ONLY */
  requireKeys(): void {
    if (isWatchOnly(this.#options)) throw new WalletError('WATCH_ONLY', {})
  }

  /** Private keys for a signature or another call, once every policy has agreed. @throws LOGGED_OUT, WATCH_ONLY, what a policy objects */
  async privateKeys(question: KeyRequest): Promise<WalletKeys> {
    this.requireKeys()
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
    return this.#openKeys(await this.#pass(question))
  }

  /**
   * Private keys for a call, only where the currency declares that it needs them there (specification §6).
   *
   * @throws LOGGED_OUT, what a policy objects
   */
  async keysFor(question: KeyRequest & { readonly use: 'draft' | 'broadcast' }): Promise<KeysArgument> {
    const { needsKeysToSpend, needsKeysToBroadcast } = this.#options.info
    const isNeeded = question.use === 'draft' ? needsKeysToSpend : needsKeysToBroadcast
    return isNeeded === true ? { privateKeys: await this.privateKeys(question) } : {}
  }

  /** Asked once for each start: an engine that needs keys to sync gets them every few seconds. */
  async #syncKeys(): Promise<KeysArgument> {
    if (this.#options.info.needsKeysToSync !== true) return {}
    const run = this.#run
    const known = this.#syncPass
    const pass = run !== undefined && known?.run === run ? known.pass : await this.#pass({ use: 'sync' })
    if (run !== undefined) this.#syncPass = { run, pass }
    return { privateKeys: this.#openKeys(pass) }
  }

  #pass(question: KeyRequest): Promise<KeyPass> {
    const { services, rules, walletId, info } = this.#options
    const { pluginId, currencyCode } = info
    return requestKeys(services, rules, { walletId, pluginId, currencyCode, ...question })
  }

  #openKeys(pass: KeyPass): WalletKeys {
    if (this.#isClosed) throw new WalletError('LOGGED_OUT', {})
    return openKeys(this.#options.keys, pass)
  }

  /** Shows at once that the engine has lost its server; looks again now, and once it has a server again. */
  connectionChanged(lost: ConnectionLoss | undefined): void {
    const run = this.#run
    if (this.#isClosed || run === undefined) return
    if (lost !== undefined) this.#state.setFailure(lossError(lost))
    // A look that is on its way meets the same, and shows what became of it.
    if (this.getSnapshot().failure === undefined || this.#isSyncing) return
    this.#options.scheduler.schedule(this.#syncKey, 0, () => this.#syncAgain(run))
  }

  /** Batches progress, height and status of the engine. */
  batch(facts: Omit<EngineChanges, 'state' | 'isPaused'>): void {
    if (!this.#isClosed) this.#state.batch(facts)
  }

  /** Resets the progress: nothing of the chain is known. */
  resetProgress(): void {
    this.#state.dropBatch()
    this.#state.set({ syncRatio: 0 })
  }

  /** Sends the engine what has changed of its settings and tokens. */
  configChanged(): void {
    this.#configSender.update(this.#host.config)
  }

  /** Resolves when everything that was reported so far has been applied. */
  async reportsIdle(): Promise<void> {
    await this.#callbacks?.idle()
  }

  /** Keeps no checkpoint of the present engine until {@link resumeCheckpoints}: its earlier reports are forgotten. */
  suspendCheckpoints(): void {
    this.#callbacks?.suspendCheckpoints()
  }

  /** Keeps checkpoints again: the present engine has begun again. */
  resumeCheckpoints(): void {
    this.#callbacks?.resumeCheckpoints()
  }

  /** Stops the engine for good. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#stop()
    this.#state.setStopped()
  }

  #get(): Promise<CurrencyEngine> {
    this.#engine ??= this.#make()
    return this.#engine
  }

  #make(): Promise<CurrencyEngine> {
    const making = this.#makeNow()
    const made = this.#bounded('making the engine', () => making)
    made.catch(() => {
      if (this.#engine === made) this.#engine = undefined
      // One that comes after its deadline has no owner.
      making.then(late => late.killEngine()).catch(() => undefined)
    })
    return made
  }

  /** Asks the plugin for an engine. @throws as `makeWalletEngine` */
  async #makeNow(): Promise<CurrencyEngine> {
    const { info, clock, services } = this.#options
    const callbacks = new EngineCallbackHandler(info, clock, this.#host)
    this.#callbacks?.close()
    this.#callbacks = callbacks
    const { config } = this.#host
    this.#configSender.start(config)
    const engine = await makeWalletEngine(this.#options, {
      callbacks: callbacks.callbacks,
      config,
      seenTxCheckpoint: await this.#host.checkpoint(),
      reservedPayments: this.#host.reservedPayments,
      usedAddresses: () => this.#host.usedAddresses(),
      frozenCoins: engine => this.#host.frozenCoins(engine)
    })
    if (engine.getStakingStatus !== undefined) {
      services.inBackground(`engine ${info.pluginId}`, this.#fetchStakingStatus(engine, callbacks))
    }
    return engine
  }

  async #fetchStakingStatus(engine: CurrencyEngine, callbacks: EngineCallbackHandler): Promise<void> {
    const { info, services, walletId } = this.#options
    const place = { pluginId: info.pluginId, kind: 'asking for what is staked', owner: walletId }
    const what = `${info.displayName}: ${place.kind}`
    const status = await services.calls.call({ ...place, what, milliseconds: QUERY_MS }, async () =>
      checkStakingStatus(info.pluginId, await engine.getStakingStatus?.())
    )
    if (this.#callbacks === callbacks) this.#host.stakingChanged(status)
  }

  /** Pauses an engine that survives it; one that does not in time is killed. */
  async #rest(engine: CurrencyEngine): Promise<void> {
    this.#halt()
    const { services, info, walletId: owner } = this.#options
    const place = { pluginId: info.pluginId, kind: 'pausing', owner }
    const limits = { what: `${info.displayName}: pausing`, milliseconds: STOP_MS }
    this.#pauseMutex ??= new Mutex()
    const isPaused = await this.#pauseMutex.run(async () => {
      if (this.#started !== engine) return true
      return services.calls
        .call({ ...place, ...limits }, async () => {
          await engine.changePaused?.(true)
          return true
        })
        .catch((error: unknown) => {
          services.report(`engine ${info.pluginId}`, error)
          return false
        })
    })
    if (!isPaused && this.#started === engine) await this.#kill()
  }

  /** Resumes an engine that survived a pause, and looks at the network; false if there is none. */
  async #wake(run: object): Promise<boolean> {
    if (this.#started === undefined) return false
    this.#pauseMutex ??= new Mutex()
    return this.#pauseMutex.run(async () => {
      const engine = this.#started
      if (engine === undefined || this.#run !== run) return engine !== undefined
      await this.#bounded('resuming', async () => engine.changePaused?.(false))
      if (this.#run === run)
        this.#options.services.inBackground('engine sync', this.#sync(run, { isFirst: true }))
      return true
    })
  }

  /** Takes the engine away at once, so that the next call makes another, and kills it, also one still being made. */
  async #stop(): Promise<void> {
    this.#halt()
    await this.#kill()
  }

  /** Ends the work of the present start. */
  #halt(): void {
    this.#run = undefined
    this.#options.scheduler.cancel(this.#syncKey)
  }

  async #kill(): Promise<void> {
    const { services, info, walletId } = this.#options
    const engine = this.#engine
    this.#engine = undefined
    this.#started = undefined
    this.#callbacks?.close()
    if (engine === undefined) return
    const place = { pluginId: info.pluginId, kind: 'stopping', owner: walletId }
    const limits = { what: `${info.displayName}: stopping`, milliseconds: STOP_MS }
    const stop = async (): Promise<void> => {
      const made = await engine.catch(() => undefined)
      await made?.killEngine()
    }
    await services.calls
      .call({ ...place, ...limits }, stop)
      .catch((error: unknown) => services.report(`engine ${info.pluginId}`, error))
  }

  async #sync(run: object, { isFirst }: { readonly isFirst: boolean }): Promise<void> {
    let delayMs = DEFAULT_PERIOD_MS
    this.#isSyncing = true
    try {
      const keys = await this.#syncKeys()
      // A policy may have thought for so long that the wallet is paused.
      if (this.#run !== run) return
      const wanted = await this.call('syncing', engine => engine.syncNetwork(keys))
      if (this.#run !== run) return
      if (Number.isFinite(wanted)) delayMs = Math.min(MAX_PERIOD_MS, Math.max(MIN_PERIOD_MS, wanted))
      else this.#reportDelay(wanted)
      if (this.getSnapshot().failure !== undefined) this.#state.clearFailure()
      this.#host.synced()
    } catch (error) {
      if (this.#run !== run) return
      this.#options.services
        .logOf(this.#options.info.pluginId)
        .warn(`The sync failed: ${describeError(error)}`)
      this.#state.setFailure(error)
      // The next server is being asked already.
      if (isWalletError(error, 'CONNECTION_LOST') || isWalletError(error, 'CHAIN_REFUSED')) delayMs = LOST_MS
    } finally {
      if (this.#run === run) this.#isSyncing = false
    }
    const again = (): void => this.#syncAgain(run)
    if (delayMs < LOOSE_FROM_MS) return this.#options.scheduler.schedule(this.#syncKey, delayMs, again)
    // Engines that were started together would otherwise ask together, for ever.
    const waitMs = isFirst ? delayMs * (1 - this.#random() / 2) : delayMs
    this.#options.scheduler.scheduleLoosely(this.#syncKey, waitMs, again)
  }

  /** An engine that names no delay never does; it is reported once. */
  #reportDelay(wanted: unknown): void {
    if (this.#hasReportedDelay) return
    this.#hasReportedDelay = true
    const { info, services } = this.#options
    services
      .logOf(info.pluginId)
      .error(
        `syncNetwork answered with a ${typeof wanted}, and not with milliseconds; it is called every 10 s`
      )
  }

  #syncAgain(run: object): void {
    this.#options.services.inBackground('engine sync', this.#sync(run, { isFirst: false }))
  }

  /** Uniform in 0 to 1. */
  #random(): number {
    const [byte = 0] = this.#options.services.io.random(1)
    return byte / 255
  }

  get #syncKey(): string {
    return `engine ${this.#options.walletId}`
  }

  #bounded<T>(what: string, call: () => Promise<T>, milliseconds: number = CALL_MS): Promise<T> {
    const { services, info, walletId: owner } = this.#options
    const place = { pluginId: info.pluginId, kind: what, owner }
    return services.calls.call({ ...place, what: `${info.displayName}: ${what}`, milliseconds }, call)
  }

  #fail(error: unknown): WalletError {
    const { info, walletId } = this.#options
    this.#state.setFailure(error, { state: 'failed' })
    return new WalletError(
      'ENGINE_FAILED',
      { pluginId: info.pluginId, walletId, reason: describeError(error) },
      error
    )
  }
}

const lossError = ({ refused, ...lost }: ConnectionLoss): WalletError =>
  refused === undefined
    ? new WalletError('CONNECTION_LOST', lost)
    : new WalletError('CHAIN_REFUSED', { ...lost, refused })

/** The deadline for an engine's staking status. */
const QUERY_MS = 60_000
const DEFAULT_PERIOD_MS = 10_000
const RETRY_MS = 30_000
const MIN_PERIOD_MS = 100
/** An engine that never wants to look again is asked once a day. */
const MAX_PERIOD_MS = 86_400_000
/** A lost server has others, which are asked within a second. */
const LOST_MS = 1000
/** Shorter waits are kept to the letter. */
const LOOSE_FROM_MS = 1000
const CALL_MS = 60_000
/** A plugin cannot hold up a logout for longer. */
const STOP_MS = 5_000
