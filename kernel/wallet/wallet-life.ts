import type { NativeAmount } from '../amount.ts'
import { makeSerialQueue } from '../crypto/serial-queue.ts'
import { WalletError } from '../errors/wallet-error.ts'
import { withDeadline } from '../io/deadline.ts'
import type { CurrencyInfo } from '../types/currency.ts'
import type { CurrencyEngine, StakingStatus } from '../types/engine.ts'
import type { EngineTransaction } from '../types/transaction.ts'
import { checkStakingStatus } from './engine/engine-data.ts'
import { EngineFeed, type EngineInputs } from './engine/engine-feed.ts'
import { EngineInbox, type EngineListener } from './engine/engine-inbox.ts'
import { EngineRunner } from './engine/engine-runner.ts'
import { addUsedAddresses, makeWalletEngine } from './engine/make-engine.ts'
import { HistoryTable } from './history/history-table.ts'
import { TransactionThrottle } from './history/throttle.ts'
import { type PauseOptions, PauseSwitch } from './pause-switch.ts'
import { resumeSpends, type SpendParts } from './spend.ts'
import { SpendJournal } from './spend-journal.ts'
import { OLD_TOKENS_PATH, TOKENS_PATH, tokenIdList } from './tokens/token-file.ts'
import { WalletTokens } from './tokens/wallet-tokens.ts'
import { WalletFacts } from './wallet-facts.ts'
import type { WalletPlace } from './wallet-place.ts'
import { readWalletSettings, WALLET_SETTINGS_PATHS, type WalletFiles } from './wallet-settings.ts'

/** What the life of a wallet begins with. */
export interface WalletLifeParts extends WalletPlace {
  readonly currency: CurrencyInfo
  /** The wallet's file-name hash. */
  hashOf(text: string): string
}

/**
 * One open wallet from the inside: what happens when its engine, its files, its currency's settings or its pause change.
 *
 * What the engine says is gathered and told once; what a user does is told at once.
 */
export class WalletLife implements EngineListener {
  readonly currency: CurrencyInfo
  readonly facts: WalletFacts
  readonly table: HistoryTable
  readonly tokens: WalletTokens
  readonly engine: EngineRunner
  readonly spends: SpendParts
  readonly pause: PauseSwitch
  readonly files: WalletFiles
  readonly #parts: WalletLifeParts
  readonly #throttle: TransactionThrottle
  readonly #feed: EngineFeed
  #inbox: EngineInbox | undefined
  #fallbackName: string | null = null
  #pausing: Promise<void> = Promise.resolve()
  #unsubscribes: (() => void)[] = []

  constructor(parts: WalletLifeParts) {
    const { services, info, repo, scheduler, config, events, currency, hashOf } = parts
    const { io, disk, hooks } = services
    const { id: walletId, type, keys } = info
    const { pluginId } = currency
    const report = (error: unknown): void => services.report(`wallet ${pluginId}`, error)
    this.#parts = parts
    this.files = { repo, disk, clock: io.clock, report }
    this.currency = currency
    this.pause = new PauseSwitch({ scheduler, key: `pause ${walletId}`, parent: parts.paused })
    this.facts = new WalletFacts({
      ...{ services, events, report, place: { walletId, pluginId, type } },
      showEngine: changes => this.engine.show(changes)
    })
    this.table = new HistoryTable({
      ...{ walletId, info: currency, config, repo, hashOf, report, clock: io.clock },
      fiatCode: () => this.facts.state.getSnapshot().fiatCurrencyCode
    })
    this.tokens = new WalletTokens({
      ...{ walletId, config, scheduler, files: this.files },
      changed: () => this.#showTokens()
    })
    this.#throttle = new TransactionThrottle(scheduler, walletId, ({ created, changed }) =>
      hooks.transactionsChanged.call(
        Object.freeze({ walletId, created: Object.freeze(created), changed: Object.freeze(changed) })
      )
    )
    this.engine = new EngineRunner({
      ...{ services, scheduler, walletId, info: currency, keys, isPaused: this.pause.getSnapshot().isPaused },
      make: () => this.#makeEngine(),
      silence: () => this.#inbox?.close(),
      synced: () => services.inBackground('unfinished spends', resumeSpends(this.spends))
    })
    this.#feed = new EngineFeed({ tell: (what, call) => this.engine.tell(what, call), report })
    this.spends = {
      ...{ services, walletId, info: currency, engine: this.engine, table: this.table, keys },
      journal: new SpendJournal(repo.local),
      balanceOf: tokenId => this.facts.balanceOf(tokenId),
      busy: new Set(),
      inOrder: makeSerialQueue(),
      told: txid => this.#throttle.add({ created: [], changed: [txid] })
    }
  }

  /** Reads the files, shows the wallet, and starts its engine in the background. @throws STORAGE_FAILED */
  async open(): Promise<void> {
    const { repo, config } = this.#parts
    await Promise.all([this.#readSettings(), this.tokens.read()])
    this.#showTokens()
    this.facts.open()
    this.#unsubscribes = [
      repo.onServerChange(paths => this.#filesChanged(paths)),
      config.subscribe(() => this.tokens.configChanged()),
      this.pause.subscribe(() => this.#pauseChanged())
    ]
    this.#pauseChanged()
    this.#inBackground(this.engine.start())
  }

  /** Stops everything; what was reported and what was changed is durable when it resolves. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe()
    this.pause.close()
    await this.engine.close()
    await this.#inbox?.settled()
    await this.table.close()
    await this.tokens.close()
  }

  /** Stops or starts the engine; one that failed is tried again at once. @throws ENGINE_FAILED, OPTION_INVALID */
  async changePaused(isPaused: boolean, options: PauseOptions): Promise<void> {
    this.pause.change(isPaused, options)
    await this.#pausing
    if (!this.pause.getSnapshot().isPaused) await this.engine.start()
  }

  /** Resolves when the engine runs or stands as the pause wants it. @throws ENGINE_FAILED */
  pauseSettled(): Promise<void> {
    return this.#pausing
  }

  /** Forgets everything that came from the chain, and has the engine look again (protocol §6.6). */
  async resync(): Promise<void> {
    this.facts.dropEngine()
    this.engine.show({ syncRatio: 0 })
    await this.#inbox?.settled()
    await this.table.clear()
    this.unactivatedChanged([])
    await this.tokens.forgetDetected()
    await this.engine.call('looking at the chain again', engine => engine.resyncBlockchain())
  }

  addressChanged(): void {
    const { services, events, info } = this.#parts
    const told = Object.freeze({ walletId: info.id })
    events.push(`address ${info.id}`, () => services.hooks.addressChanged.call(told))
  }

  balanceChanged(tokenId: string | null, balance: NativeAmount): void {
    this.facts.gatherBalance(tokenId, balance)
  }

  heightChanged(blockHeight: number): void {
    this.#inBackground(this.#tellChanged(this.table.takeHeight(blockHeight)))
    if (!this.#parts.services.config.skipBlockHeight) this.facts.gatherEngine({ blockHeight })
  }

  progressed(syncRatio: number): void {
    this.facts.gatherEngine({ syncRatio })
  }

  statusChanged(status: string): void {
    this.facts.gatherEngine({ status })
  }

  stakingChanged(stakingStatus: StakingStatus): void {
    this.facts.gather({ stakingStatus })
  }

  unactivatedChanged(tokenIds: readonly string[]): void {
    this.facts.gather({ unactivatedTokenIds: tokenIdList(tokenIds) })
  }

  tokensFound(tokenIds: readonly string[]): void {
    const { services, info } = this.#parts
    const found = this.tokens.detect(tokenIds)
    if (found.length === 0) return
    services.hooks.tokensDetected.call(Object.freeze({ walletId: info.id, tokenIds: found }))
  }

  async transactionsChanged(transactions: readonly EngineTransaction[]): Promise<void> {
    this.#throttle.add(await this.table.take(transactions))
  }

  checkpointReached(checkpoint: string): Promise<void> {
    return this.table.reachCheckpoint(checkpoint)
  }

  failed(error: unknown): void {
    const { services } = this.#parts
    const { pluginId } = this.currency
    services.report(`engine ${pluginId}`, error)
    const isKnown = error instanceof WalletError
    services.hooks.pluginFault.call(
      Object.freeze({
        ...{ pluginId, hook: 'makeEngine', errorName: error instanceof Error ? error.name : 'Error' },
        ...(isKnown ? { errorCode: error.code } : {}),
        message: isKnown ? error.message : 'The engine sent something that could not be taken in'
      })
    )
  }

  get #inputs(): EngineInputs {
    const { userSettings, customTokens } = this.#parts.config.getSnapshot()
    return { userSettings, customTokens, enabledTokenIds: this.tokens.enabledTokenIds }
  }

  async #makeEngine(): Promise<CurrencyEngine> {
    const { services, info, repo } = this.#parts
    const { currency } = this
    const inbox = new EngineInbox(currency.pluginId, services.io.clock, this)
    this.#inbox?.close()
    this.#inbox = inbox
    const inputs = this.#inputs
    this.#feed.begin(inputs)
    const engine = await makeWalletEngine({
      ...{ services, info, repo, currency, inputs },
      store: repo.local,
      callbacks: inbox.callbacks,
      seenTxCheckpoint: await this.table.checkpoint()
    })
    if (engine.getStakingStatus !== undefined) this.#inBackground(this.#askStaking(engine, inbox))
    return engine
  }

  async #askStaking(engine: CurrencyEngine, inbox: EngineInbox): Promise<void> {
    const { clock } = this.#parts.services.io
    const what = `${this.currency.displayName}: asking for what is staked`
    const status = await withDeadline({ clock, milliseconds: ASK_MS, what }, () =>
      engine.getStakingStatus?.()
    )
    if (this.#inbox === inbox) this.stakingChanged(checkStakingStatus(this.currency.pluginId, status))
  }

  async #readSettings(): Promise<void> {
    const { name, fiatCurrencyCode } = await readWalletSettings(this.files)
    this.facts.show({ name: name === undefined ? this.#fallbackName : name, fiatCurrencyCode })
    const appId = this.#parts.info.appIds.find(id => id !== '')
    if (name !== undefined || appId === undefined || this.#fallbackName !== null) return
    this.#parts.services.inBackground('app name', this.#nameAfter(appId))
  }

  /** A wallet that was never named is called like the app that made it (protocol §3.5 `WalletName.json`). */
  async #nameAfter(appId: string): Promise<void> {
    this.#fallbackName = await this.#parts.nameOfApp(appId)
    await this.#readSettings()
  }

  #filesChanged(paths: readonly string[]): void {
    const { services, repo } = this.#parts
    this.#inBackground(this.#tellChanged(this.table.filesChanged(paths)))
    const has = (known: readonly string[]): boolean => paths.some(path => known.includes(path))
    if (has(WALLET_SETTINGS_PATHS)) services.inBackground('wallet settings', this.#readSettings())
    if (has([TOKENS_PATH, OLD_TOKENS_PATH]))
      services.inBackground(
        'wallet tokens',
        this.tokens.read().then(() => this.#showTokens())
      )
    if (!paths.some(path => path.startsWith('Addresses/'))) return
    const telling = this.engine.tell('taking used addresses', engine =>
      addUsedAddresses(engine, repo, error => this.#report(error))
    )
    this.#inBackground(telling)
  }

  async #tellChanged(txids: Promise<string[]>): Promise<void> {
    this.#throttle.add({ created: [], changed: await txids })
  }

  #pauseChanged(): void {
    const { isSet, isPaused } = this.pause.getSnapshot()
    this.facts.show({ isPaused: isSet })
    if (isPaused === this.engine.getSnapshot().isPaused) return
    this.#pausing = isPaused ? this.engine.pause() : this.engine.resume()
    this.#inBackground(this.#pausing)
  }

  #showTokens(): void {
    const { enabledTokenIds, detectedTokenIds } = this.tokens
    this.facts.show({ enabledTokenIds, detectedTokenIds })
    this.#feed.change(this.#inputs)
  }

  #inBackground(work: Promise<unknown>): void {
    this.#parts.services.inBackground(`engine ${this.currency.pluginId}`, work)
  }

  #report(error: unknown): void {
    this.#parts.services.report(`wallet ${this.currency.pluginId}`, error)
  }
}

/** How long an engine may take to say what is staked. */
const ASK_MS = 60_000
